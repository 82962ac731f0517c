"""Syntax nodes of statements: streams, tables, rules, events and forecasts."""

from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from inkling.language.syntax.expressions import Call, Expr
from inkling.language.syntax.nodes import Duration, EventCount, Ident, Node, Rate
from inkling.language.syntax.patterns import Body
from inkling.source import NOWHERE, Span

Per: TypeAlias = OneOf["MATCH", "INTERVAL", "END", "VALUES"]
Demand: TypeAlias = OneOf["EXACT", "SAMPLED"]
ConsumePolicy: TypeAlias = OneOf["RESTART", "RECENT", "CHRONOLOGICAL"]
Preference: TypeAlias = OneOf["LONGER", "SHORTER"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementNode(Node):
    """A node that carries the line comments written before and inside it, without `--`."""

    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ColumnDecl(Node):
    """`speed DOUBLE`; the text of the type is upper case."""

    name: Ident
    type: Ident

    def __post_init__(self) -> None:
        if self.type.text != self.type.text.upper():
            raise ValueError(f"a type is upper case, got {self.type.text}")


@dataclass(frozen=True, slots=True)
class TimePoint(Node):
    """`TIME t`"""

    column: Ident


@dataclass(frozen=True, slots=True)
class TimeSpan(Node):
    """`TIME FROM started TO ended`"""

    start: Ident
    end: Ident


@dataclass(frozen=True, slots=True)
class TimeBetween(Node):
    """`TIME BETWEEN lo AND hi WEIGHTS w`: a point somewhere in the interval."""

    lo: Ident
    hi: Ident
    weights: Ident | None = None


@dataclass(frozen=True, slots=True)
class ClockError(Node):
    """`2 SECONDS FOR 'gateway'`"""

    at_most: Duration
    clock: str


@dataclass(frozen=True, slots=True)
class ClockErrors(Node):
    """`CLOCK node ERROR 50 MILLISECONDS, 2 SECONDS FOR 'gateway'`: how wrong the clock may be that a column names."""

    column: Ident
    usual: Duration
    others: tuple[ClockError, ...] = ()


@dataclass(frozen=True, slots=True)
class TimeAbout(Node):
    """`TIME t ± 5 SECONDS`, `TIME t ± d`, `TIME t CLOCK c ERROR 5 SECONDS`: a point somewhere around a reading."""

    column: Ident
    error: Duration | Ident | ClockErrors


TimeDecl: TypeAlias = TimePoint | TimeSpan | TimeBetween | TimeAbout


@dataclass(frozen=True, slots=True)
class SegmentsDecl(Node):
    """`SEGMENTS ROLE r COUNT n BOUNDS lo TO hi RATE 2 PER HOUR TIMEOUT 5 MINUTES`; bounds come in pairs."""

    role: Ident | None = None
    count: Ident | None = None
    lo: Ident | None = None
    hi: Ident | None = None
    rate: Rate | Ident | None = None
    timeout: Duration | None = None

    def __post_init__(self) -> None:
        if (self.lo is None) != (self.hi is None):
            raise ValueError("bounds of segments come in pairs")


@dataclass(frozen=True, slots=True)
class DeriveItem(Node):
    """`distance = haversine(PREV(lat), PREV(lon), lat, lon)`"""

    name: Ident
    value: Expr


@dataclass(frozen=True, slots=True)
class StreamDecl(StatementNode):
    name: Ident
    columns: tuple[ColumnDecl, ...]
    id: Ident | None = None
    key: tuple[Ident, ...] = ()
    time: TimeDecl | None = None
    order_by: Ident | None = None
    tick: Duration | None = None
    probability: Ident | None = None
    given: tuple[Ident, ...] = ()
    numbered_by: Ident | None = None
    erlang: int | None = None  # GAPS ERLANG 3
    intensity: Ident | None = None
    known: Ident | None = None  # KNOWN FROM t
    segments: SegmentsDecl | None = None
    derive: tuple[DeriveItem, ...] = ()
    reset_when: Expr | None = None
    late: Duration | None = None
    op: Ident | None = None
    at_most: Duration | None = None
    op_for: Duration | None = None  # OP op FOR 1 HOUR
    speculative: bool = False
    ahead: Duration | None = None
    epoch: Ident | None = None  # EPOCH SECONDS

    def __post_init__(self) -> None:
        if not self.columns:
            raise ValueError("a stream has at least one column")
        if self.given and self.probability is None:
            raise ValueError("GIVEN belongs to PROBABILITY")
        if self.op_for is not None and self.op is None:
            raise ValueError("FOR belongs to OP")
        if self.speculative and self.late is None:
            raise ValueError("SPECULATIVE belongs to LATENESS")
        about_numbers = (self.erlang, self.intensity, self.known)
        if self.numbered_by is None and any(part is not None for part in about_numbers):
            raise ValueError("GAPS, INTENSITY and KNOWN belong to NUMBERED BY")
        if self.erlang is not None and self.erlang < 1:
            raise ValueError(f"gaps have a shape of at least 1, got {self.erlang}")


@dataclass(frozen=True, slots=True)
class TableDecl(StatementNode):
    """`TABLE threshold(road STRING, top DOUBLE) FROM 'thresholds.csv'`"""

    name: Ident
    columns: tuple[ColumnDecl, ...]
    path: str
    path_span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.columns:
            raise ValueError("a table has at least one column")


@dataclass(frozen=True, slots=True)
class RuleDecl(StatementNode):
    """`RULE slow(road, speed) IF threshold(road, top) AND speed < top`; a fact has no body."""

    head: Call
    body: Expr | None = None


@dataclass(frozen=True, slots=True)
class Item(Node):
    """`x.sector`, `AVG(w.v) AS m`: a value of a result, perhaps named."""

    value: Expr
    alias: Ident | None = None


@dataclass(frozen=True, slots=True)
class Consume(Node):
    """`CONSUME RECENT KEEPING PREFER LONGER`: which events a match uses up."""

    policy: ConsumePolicy
    keeping: bool = False
    prefer: Preference | Expr | None = None

    def __post_init__(self) -> None:
        if self.policy == "RESTART" and (self.keeping or self.prefer is not None):
            raise ValueError("KEEPING and PREFER belong to RECENT and CHRONOLOGICAL")


@dataclass(frozen=True, slots=True)
class Confidence(Node):
    """`CONFIDENCE >= 0.2`, `CONFIDENCE > 0.5 EARLY`"""

    op: OneOf[">=", ">"]
    threshold: float
    early: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"a probability lies in [0, 1], got {self.threshold}")


@dataclass(frozen=True, slots=True)
class EventDecl(StatementNode):
    """A derived event; `head` is None without parentheses after the name."""

    name: Ident
    head: tuple[Item, ...] | None
    body: Body
    partition_by: tuple[Ident, ...] = ()
    over: tuple[Ident, ...] = ()
    consume: Consume | None = None
    returns: tuple[Item, ...] = ()
    per: Per | None = None
    confidence: Confidence | None = None
    top: int | None = None
    keep_for: Duration | None = None
    on_timeout: Ident | None = None  # the event of the partial matches that timed out
    demand: Demand | None = None
    on_change: bool = False  # only results that differ from the previous one
    on_retract: Ident | None = None  # the output of withdrawn results
    hidden: bool = False  # other events read it, and runs do not show its results

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise ValueError(f"TOP keeps at least one result, got {self.top}")


@dataclass(frozen=True, slots=True)
class ForecastWithin(Node):
    """`WITHIN 10 EVENTS`, `WITHIN 20 MINUTES`"""

    horizon: EventCount | Duration


@dataclass(frozen=True, slots=True)
class ForecastAround(Node):
    """`AROUND 10 EVENTS`"""

    horizon: EventCount


@dataclass(frozen=True, slots=True)
class ForecastPoint(Node):
    """`POINT`"""


@dataclass(frozen=True, slots=True)
class ForecastInterval(Node):
    """`INTERVAL SHORTEST`, `INTERVAL ARGMAX`, `INTERVAL FIXED 5`"""

    mode: OneOf["SHORTEST", "ARGMAX", "FIXED"]
    width: int | None = None

    def __post_init__(self) -> None:
        if (self.width is not None) != (self.mode == "FIXED"):
            raise ValueError(f"a width belongs to FIXED, got {self.mode} {self.width}")


ForecastKind: TypeAlias = ForecastWithin | ForecastAround | ForecastPoint | ForecastInterval


@dataclass(frozen=True, slots=True)
class Remaining(Node):
    """`REMAINING 0.1 TO 0.5`: the part of a match that may still be missing."""

    lo: float
    hi: float

    def __post_init__(self) -> None:
        if not 0 <= self.lo <= self.hi <= 1:
            raise ValueError(f"shares lie in order in [0, 1], got {self.lo} and {self.hi}")


@dataclass(frozen=True, slots=True)
class ForecastDecl(StatementNode):
    """`FORECAST event …`, or `FORECAST name OF event …`"""

    event: Ident
    kind: ForecastKind
    confidence: Confidence | None = None
    order: int | None = None
    horizon: int | None = None
    spread: int | None = None
    model: Ident | None = None
    by: Ident | None = None  # MODEL m BY column: a model for each of its values
    features: tuple[Expr, ...] = ()
    remaining: Remaining | None = None
    including_final: bool = False
    distribution: bool = False  # RETURN DISTRIBUTION: the distribution of the waiting time
    name: Ident | None = None  # of the forecast; None names it after its event

    def __post_init__(self) -> None:
        if self.by is not None and self.model is None:
            raise ValueError("BY belongs to MODEL")

    @property
    def result(self) -> Ident:
        """The name of its results."""
        return self.name or Ident(f"{self.event.text}_forecast", quoted=self.event.quoted, span=self.event.span)


Statement: TypeAlias = StreamDecl | TableDecl | RuleDecl | EventDecl | ForecastDecl


@dataclass(frozen=True, slots=True)
class Program(Node):
    """Statements in the order written; `comments` are those after the last one."""

    statements: tuple[Statement, ...]
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def extended(self) -> dict[str, str]:
        """The streams that an event of the same name extends, each with the name of the derived events alone."""
        events = {one.name.text for one in self.statements if isinstance(one, EventDecl)}
        streams = [one.name.text for one in self.statements if isinstance(one, StreamDecl)]
        return {name: f"{name}_derived" for name in streams if name in events}

    def event_name(self, name: str) -> Ident:
        """Where the event or output of that name is declared; raises `KeyError` when it is not."""
        name = next((stream for stream, derived in self.extended.items() if derived == name), name)
        for statement in self.statements:
            if isinstance(statement, ForecastDecl) and statement.result.text == name:
                return statement.result
            if isinstance(statement, EventDecl):
                for declared in (statement.name, statement.on_timeout, statement.on_retract):
                    if declared is not None and declared.text == name:
                        return declared
        raise KeyError(name)
