"""The data of a report, as plain values that convert to JSON.

Times are integers: microseconds since 1970 UTC if `time_kind` is `timestamp`, otherwise ticks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Scalar: TypeAlias = str | int | float | bool | None
TimeKind: TypeAlias = Literal["timestamp", "ticks"]
Operation: TypeAlias = Literal["+", "-"]
EventId: TypeAlias = str | int

ROUNDING_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class InputCount:
    """The number of rows of a stream, and of rejected rows among them."""

    stream: str
    rows: int
    rejected: int = 0


@dataclass(frozen=True, slots=True)
class EventResultCount:
    """The number of results of an event, of results in the report, and of certain results.

    `certain` is None for a certain program. `withdrawn` results are counted separately, and may be shown too.
    """

    event: str
    results: int
    shown: int
    certain: int | None = None
    withdrawn: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.shown <= self.emitted:
            raise ValueError(f"event {self.event!r} shows {self.shown} of {self.emitted} results")
        if not 0 <= (self.certain or 0) <= self.results:
            raise ValueError(f"event {self.event!r} is certain of {self.certain} of {self.results} results")

    @property
    def emitted(self) -> int:
        return self.results + self.withdrawn


@dataclass(frozen=True, slots=True)
class MemberRow:
    """One input event that a match depends on.

    An imprecise event is one moment between `start` and `end`; `weights` are the probabilities of equal parts of that
    range, empty if uniform.
    """

    id: EventId
    stream: str
    start: int
    end: int
    values: Mapping[str, Scalar] = field(default_factory=dict)
    imprecise: bool = False
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError(f"member {self.id!r} ends at {self.end}, before its start {self.start}")
        if self.weights and not self.imprecise:
            raise ValueError(f"member {self.id!r} has weights, but its time is exact")


@dataclass(frozen=True, slots=True)
class TimeShare:
    """The share of a result's probability that falls between two times, both included."""

    low: int
    high: int
    share: float


@dataclass(frozen=True, slots=True)
class InfluenceRow:
    """The influence of an uncertain event on a result: the probability without the event, and the share lost by that.

    With a negative share, the event makes the result less probable. A lost event has no id.
    """

    stream: str
    id: EventId | None
    low: int
    high: int
    without: float
    share: float


@dataclass(frozen=True, slots=True)
class EndRow:
    """The start or end of a segment: a recorded time, or a time range if the event was lost.

    `passed` has the probability that a lost event was before each of several times that divide the range evenly. It
    does not begin with 0, or end with 1, if the event may also lie outside of the range.
    """

    low: int
    high: int
    lost: bool = False
    passed: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.high < self.low or (self.low < self.high and not self.lost):
            raise ValueError(f"an end lies between {self.low} and {self.high}, expected one moment unless it was lost")


@dataclass(frozen=True, slots=True)
class SegmentsRow:
    """The segments of one key in a relation, in order, with their label if the relation has `ON SAME`."""

    key: str
    segments: tuple[tuple[EndRow, EndRow], ...]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchRow:
    """One result: its interval, probability, returned values and lineage."""

    event: str
    key: str
    start: int
    end: int
    detected_at: int | None = None
    probability: float = 1.0
    method: str = "exact"
    error: float = 0.0
    op: Operation = "+"
    values: Mapping[str, Scalar] = field(default_factory=dict)
    lineage: tuple[EventId | None, ...] = ()
    members: tuple[MemberRow, ...] = ()
    starts: tuple[TimeShare, ...] = ()
    ends: tuple[TimeShare, ...] = ()
    influences: tuple[InfluenceRow, ...] = ()
    related: tuple[SegmentsRow, ...] = ()  # the keys of a relation between segments

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError(f"match of {self.event!r} ends at {self.end}, before its start {self.start}")
        if not -ROUNDING_SLACK <= self.probability <= 1 + ROUNDING_SLACK:
            raise ValueError(f"match of {self.event!r} has probability {self.probability}")
        if not self.error >= 0:
            raise ValueError(f"match of {self.event!r} has error {self.error}")
        if self.op not in ("+", "-"):
            raise ValueError(f"match of {self.event!r} has op {self.op!r}, expected '+' or '-'")


@dataclass(frozen=True, slots=True)
class CurveRow:
    """The probability of an event over time for one of `n_keys` keys.

    `happened` are times of the ground truth, `decided` those of a deterministic baseline; `has_truth` and
    `has_decisions` say whether these are known.
    """

    event: str
    key: str
    points: tuple[tuple[int, float], ...]
    happened: tuple[int, ...] = ()
    decided: tuple[int, ...] = ()
    n_keys: int = 1
    has_truth: bool = False
    has_decisions: bool = False


@dataclass(frozen=True, slots=True)
class RejectRow:
    """The rows of one stream rejected for one reason, with a sample."""

    stream: str
    reason: str
    count: int
    sample: str = ""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table that a program or an example adds to its report."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"table {self.title!r} has rows that do not fit its {len(self.columns)} columns")


@dataclass(frozen=True, slots=True)
class ReportData:
    """The content of a page.

    Examples
    --------
    >>> data = ReportData(title="six.ink", program_text="-- nothing yet", time_kind="ticks")
    >>> data.matches
    ()
    """

    title: str
    program_text: str
    plan_sections: tuple[tuple[str, str], ...] = ()
    runner: str = "local"
    seconds: float | None = None
    inputs: tuple[InputCount, ...] = ()
    counts: tuple[EventResultCount, ...] = ()
    time_kind: TimeKind = "timestamp"
    tick_us: float | None = None  # the declared length of a tick
    matches: tuple[MatchRow, ...] = ()
    rejects: tuple[RejectRow, ...] = ()
    notes: tuple[str, ...] = ()
    worlds: str | None = None  # how probabilities were computed, if streams are uncertain
    tables: tuple[ReportTable, ...] = ()
    curves: tuple[CurveRow, ...] = ()

    def __post_init__(self) -> None:
        if self.time_kind not in ("timestamp", "ticks"):
            raise ValueError(f"time_kind is {self.time_kind!r}, expected 'timestamp' or 'ticks'")
        if self.tick_us is not None and self.time_kind != "ticks":
            raise ValueError("tick_us is the length of a tick, but times are timestamps")

    @property
    def has_uncertainty(self) -> bool:
        """Whether some result is less than certain."""
        return self.worlds is not None or any(match.probability < 1 or match.error > 0 for match in self.matches)

    @property
    def has_withdrawn(self) -> bool:
        """Whether results were emitted and withdrawn later."""
        return any(count.withdrawn for count in self.counts)

    @property
    def has_relations(self) -> bool:
        """Whether some result is a relation between the segments of two keys."""
        return any(match.related for match in self.matches)

    @property
    def event_names(self) -> tuple[str, ...]:
        """Counted events first, in their order, then any other event that has a match."""
        names = dict.fromkeys(count.event for count in self.counts)
        names.update(dict.fromkeys(match.event for match in self.matches))
        return tuple(names)
