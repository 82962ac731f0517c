"""The logical plan: bound patterns with one slot per leaf; every condition belongs to the leaf where it is tested.

`SEQ NEXT(A a, B b[x > a.x]+)` is

    Sequence(Policy.NEXT, (Leaf(0, ("A",)), Repetition(Leaf(1, ("B",), (x > #0.x,)), 1, None)))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import TypeVar

from inkling.logical.by_identity import by_identity
from inkling.logical.expr import Expr, slots_of
from inkling.logical.knowledge import RulePlan
from inkling.model.schema import Column, EventSchema, StreamSchema, TableSchema
from inkling.model.time import Duration
from inkling.model.types import Type
from inkling.source import Span


class Policy(Enum):
    """Selection policy of a sequence: skip-till-any-match, skip-till-next-match, or strict contiguity."""

    ANY = "ANY"
    NEXT = "NEXT"
    STRICT = "STRICT"


class Per(Enum):
    """What distinguishes results: one per match, per interval, per end, or per values of the head."""

    MATCH = "MATCH"
    INTERVAL = "INTERVAL"
    END = "END"
    VALUES = "VALUES"


@dataclass(frozen=True, slots=True)
class Points:
    """`WITHIN n POINTS`: end - start <= n - 1."""

    count: int


@dataclass(frozen=True, slots=True)
class EventCount:
    """`WITHIN n EVENTS`: at most n events of the scope from first to last, both counted."""

    count: int


Window = Duration | Points | EventCount


@dataclass(frozen=True, slots=True)
class TableAtom:
    """A positive look-up `table(args)` that binds: one partial match per row that agrees.

    `args[i]` is the expression that column i must equal, or None where the row supplies the value
    (read elsewhere as `FactColumn(number, column)`).
    """

    number: int
    table: str
    columns: tuple[Column, ...]
    args: tuple[Expr | None, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One event of one of the `sources` that passes all `conditions`; no sources means any event of the scope.

    Repeated in a sequence with the policy NEXT, it may have `checks`: the next event is chosen without them, and the
    match continues only if the event passes them.
    """

    slot: int
    sources: tuple[str, ...]
    conditions: tuple[Expr, ...] = ()
    atoms: tuple[TableAtom, ...] = ()
    checks: tuple[Expr, ...] = ()

    @property
    def demands(self) -> tuple[Expr, ...]:
        """All conditions on its event, before and after the event is chosen."""
        return (*self.conditions, *self.checks)


@dataclass(frozen=True, slots=True)
class Absent:
    """`NOT p` between two parts of a sequence, or at its start or end."""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Deadline:
    """`AFTER d` as the last part: a time point d after the end of the part before it."""

    after: Duration


@dataclass(frozen=True, slots=True)
class StreamStart:
    """`AT START` as the first part: a time point before everything, or only `back` before the end of the sequence."""

    back: Duration | None = None


@dataclass(frozen=True, slots=True)
class TimePoint:
    """`AT q`: a point in time, as its distance from zero; it exists in every partition and has no lineage."""

    since_zero: Duration


@dataclass(frozen=True, slots=True)
class Sequence:
    policy: Policy
    parts: tuple[Part, ...]
    within: Window | None = None  # the limit that a leading or trailing absence refers to


@dataclass(frozen=True, slots=True)
class Conjunction:
    """`AND`: all items, in any order."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    """`OR`: any of the items."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Parallel:
    """`PAR`: all items, each overlapping the hull of the items before it."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """Two patterns whose intervals stand in one of the named Allen relations."""

    left: Pattern
    relations: tuple[str, ...]
    right: Pattern


@dataclass(frozen=True, slots=True)
class Except:
    """`p EXCEPT q`: occurrences of `pattern` that no occurrence of `other` equals in start and end.

    `in_order`: the places of simultaneous events count as well, as in a COMPLEMENT at the border of a sequence.
    """

    pattern: Pattern
    other: Pattern
    in_order: bool = False


class JoinKind(Enum):
    """Which results a left join has: `p OPTIONAL q`, or p under the condition that some q counts, or that none does."""

    OUTER = "OUTER"
    FACT = "FACT"
    NO_FACT = "NO FACT"


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """`p OPTIONAL q`: p with each q that counts, or alone where none does.

    A q counts if it ends by the end of p, stands in one of the `relations` to p if there are any, and lasts together
    with p at most as long as each of the `limits`, which are those of all bodies around. Where q is a fact,
    `p WHERE q(…)`, there is one occurrence for each q that counts, on the interval of p.
    """

    left: Pattern
    relations: tuple[str, ...]
    right: Pattern
    limits: tuple[Window, ...] = ()
    kind: JoinKind = JoinKind.OUTER


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which events open and close segments: by `role`, else odd numbers open, else every second event opens.

    `number` also orders simultaneous events.
    """

    role: Column | None = None
    number: Column | None = None


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a quantified relation: any key of a stream, with its segments.

    Segments are the events that the leaf finds; or, with `pairing`, what its events open and close, and the leaf
    tests the opening ones. `least` of them must qualify, or all of them when that is None. With `most`, each number
    from `least` to `most` is asked about on its own; results show which one by `expr.Quantity`.
    """

    leaf: Leaf
    key: tuple[Column, ...]
    least: int | None
    pairing: Pairing | None = None
    most: int | None = None

    @property
    def selections(self) -> tuple[Expr, ...]:
        """The conditions on a segment alone."""
        return tuple(one for one in self.leaf.conditions if slots_of(one) <= {self.leaf.slot})

    @property
    def comparisons(self) -> tuple[Expr, ...]:
        """The conditions that also read a segment of the other side."""
        return tuple(one for one in self.leaf.conditions if not slots_of(one) <= {self.leaf.slot})


@dataclass(frozen=True, slots=True)
class Quantified:
    """Two keys whose segments stand in one of the relations, as often as the quantities say.

    A left segment qualifies if `right.least` right ones are related to it; only those with the same value of
    `same`, and for which `comparisons` hold, are looked at. Two segments are related only if they last at most `within`
    together. Keys of one stream are compared with other keys only.
    """

    left: Operand
    relations: tuple[str, ...]
    right: Operand
    same: Column | None = None
    within: Duration | Points | None = None

    @property
    def is_within_one_stream(self) -> bool:
        return self.left.leaf.sources == self.right.leaf.sources

    @property
    def comparisons(self) -> tuple[Expr, ...]:
        """The conditions that read segments of both sides."""
        return (*self.left.comparisons, *self.right.comparisons)


@dataclass(frozen=True, slots=True)
class Sliding:
    """`WINDOW`: one occurrence per event of the leaf, whose slot holds the newest such events up to and with it.

    These are the last `EventCount` many, or those that end at most a `Duration` earlier. With `since`, there is one per
    event of that leaf and each later one, and members start after it. Look-ups of members are conditions, so that a
    table makes no event a member twice.
    """

    leaf: Leaf
    last: Duration | EventCount
    since: Leaf | None = None
    called: Column | None = None  # orders simultaneous events by original id: in worlds, events have other ids


@dataclass(frozen=True, slots=True)
class Repetition:
    """Between `low` and `high` rounds of a pattern; outside of a sequence the policy is ANY.

    With `eager`, in a sequence with the policy NEXT, the successor is the earliest candidate of one more round or of
    the next part. With `maximal`, a match of the event is dropped if another one has the same other events and more
    of these.
    """

    pattern: Pattern
    low: int
    high: int | None
    eager: bool = False
    maximal: bool = False


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A nested body: an occurrence of `pattern` that lasts at most `within` and passes `having`; `slot` names it."""

    pattern: Pattern
    within: Window | None
    having: tuple[Expr, ...]
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class OtherRun:
    """`COMPLEMENT p`: a possibly empty run of consecutive events of the scope that does not match p; no lineage."""

    pattern: Pattern


Pattern = (
    Leaf
    | Sequence
    | Conjunction
    | Disjunction
    | Parallel
    | Related
    | Quantified
    | Repetition
    | Narrowed
    | OtherRun
    | Sliding
    | TimePoint
    | Except
    | LeftJoin
)
Part = Pattern | Absent | Deadline | StreamStart


@dataclass(frozen=True, slots=True)
class Slot:
    """A variable of the pattern that events fill; a `repeated` slot holds a list."""

    number: int
    name: str | None
    sources: tuple[str, ...]
    repeated: bool
    negated: bool  # inside NOT: visible only there
    span_only: bool = False  # names a nested pattern; only its START and END can be asked for


@dataclass(frozen=True, slots=True)
class Output:
    """One column of a result."""

    name: str
    expr: Expr

    @property
    def type(self) -> Type:
        return self.expr.type


class Selection(Enum):
    """Which of several stored occurrences is used first: the one that arrived last, or first."""

    RECENT = "RECENT"
    CHRONOLOGICAL = "CHRONOLOGICAL"


class Preference(Enum):
    """Which of competing intervals is stored."""

    LONGER = "LONGER"
    SHORTER = "SHORTER"


@dataclass(frozen=True, slots=True)
class Consumption:
    """`CONSUME RECENT` or `CHRONOLOGICAL`: each part of a match is used once; `meaning/consumption.py` defines it.

    `keeping` stores every occurrence that waits for a partner, not only one. `prefer` decides which of competing
    intervals is stored; of an expression, the larger value.
    """

    selection: Selection
    keeping: bool = False
    prefer: Preference | Expr | None = None


class Demand(Enum):
    """How the probabilities of an event must be computed."""

    EXACT = "EXACT"
    SAMPLED = "SAMPLED"


@dataclass(frozen=True, slots=True)
class Confidence:
    """`CONFIDENCE >= x` or `> x`: less probable results are omitted.

    An `early` one emits a relation between segments as soon as it is certain to be probable enough.
    """

    threshold: float
    strict: bool
    early: bool = False


class ForecastKind(Enum):
    """What a forecast predicts: whether the event occurs within a horizon, or when it occurs."""

    WITHIN = "WITHIN"
    AROUND = "AROUND"
    POINT = "POINT"
    SHORTEST = "SHORTEST"
    ARGMAX = "ARGMAX"
    FIXED = "FIXED"


@dataclass(frozen=True, slots=True)
class Forecast:
    """Predictions after each event of the scope of when an event is detected next.

    `count` is the number of events of WITHIN and AROUND and the width of FIXED. `features` are conditions that the
    model distinguishes events by besides those of the pattern. With `learns`, results are counts to learn a model from.
    With `watches`, there is a result for each event, with its forecast if there is one, and with whether the event
    completes the pattern.
    """

    of: str
    kind: ForecastKind
    model: str  # the table that holds the model
    by: Column | None = None  # a column of the scope: a model for each of its values
    count: int | None = None
    within: Duration | None = None  # WITHIN a duration
    order: int | None = None  # None: as deep as the model is
    horizon: int = 200
    spread: int | None = None
    features: tuple[Leaf, ...] = ()
    remaining: tuple[float, float] | None = None
    including_final: bool = False
    distribution: bool = False
    learns: bool = False
    until: int | None = None  # the last time of the training data, on the clock of the streams
    watches: bool = False


@dataclass(frozen=True, slots=True)
class EventPlan:
    """One `EVENT`: what to look for and what a result is."""

    name: str
    head: tuple[Output, ...]
    returns: tuple[Output, ...]
    pattern: Pattern
    within: Window | None
    having: tuple[Expr, ...]
    partition: tuple[Column, ...]
    scope: tuple[str, ...]  # the sources whose events STRICT counts
    per: Per
    restart: bool  # CONSUME RESTART
    slots: tuple[Slot, ...]
    schema: EventSchema
    keep: Duration | None = None  # KEEP FOR: a match is known at most this long after its start
    timeouts_of: str | None = None  # ON TIMEOUT: the event whose timed-out partial matches are the results
    confidence: Confidence | None = None
    top: int | None = None
    demand: Demand | None = None
    consumption: Consumption | None = None
    on_change: bool = False  # ON CHANGE: omit results of a window that equal the previous one
    forecast: Forecast | None = None  # results are forecasts
    retracted_as: str | None = None  # ON RETRACT: the output of withdrawn results
    hidden: bool = False  # HIDDEN: other events read it, and runs do not show its results

    @property
    def preferred(self) -> tuple[Expr, ...]:
        """The value that PREFER compares, if it compares one."""
        prefer = None if self.consumption is None else self.consumption.prefer
        return () if prefer is None or isinstance(prefer, Preference) else (prefer,)

    @property
    def sources(self) -> tuple[str, ...]:
        """Every stream and event that the pattern or its scope reads, in name order."""
        return tuple(sorted(_sources_of(self.pattern) | set(self.scope)))


@dataclass(frozen=True, slots=True)
class DerivedColumn:
    """A column of a stream that is computed from the row and from earlier rows of the same key."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """A stream with its derived columns; `schema.columns` already lists them at the end."""

    schema: StreamSchema
    derived: tuple[DerivedColumn, ...] = ()
    reset_when: Expr | None = None


@dataclass(frozen=True, slots=True)
class TicksOnly:
    """A use of a plain number as a length of time, which is valid only if times count ticks.

    If it `needs_dates`, a use of a time or of a length of time as an RDF term, which is valid only if they do not.
    """

    streams: tuple[str, ...]  # whose times must be integers, or must not
    words: str
    place: Span
    needs_dates: bool = False


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """A bound program; events stand after the events they use."""

    streams: tuple[StreamPlan, ...]
    tables: tuple[TableSchema, ...]
    events: tuple[EventPlan, ...]
    ticks_only: tuple[TicksOnly, ...] = ()
    rules: tuple[RulePlan, ...] = ()  # after those they use

    @property
    def shown(self) -> tuple[EventPlan, ...]:
        """The events whose results a run shows."""
        return tuple(event for event in self.events if not event.hidden)

    @property
    def revises(self) -> bool:
        """Whether emitted results can be withdrawn."""
        return any(stream.schema.revises for stream in self.streams)

    def stream(self, name: str) -> StreamPlan | None:
        return next((stream for stream in self.streams if stream.schema.name == name), None)

    def event(self, name: str) -> EventPlan | None:
        return next((event for event in self.events if event.name == name), None)


def forecast_of(event: EventPlan) -> Forecast:
    """The forecast that an event makes, of an event that makes one."""
    assert event.forecast is not None
    return event.forecast


def retracted_outputs(program: ProgramPlan) -> dict[str, str]:
    """By event, the output of its withdrawn results; a run over complete data withdraws none."""
    return {event.name: event.retracted_as for event in program.shown if event.retracted_as is not None}


def sub_patterns(part: Part) -> tuple[Pattern, ...]:
    """The patterns directly inside a part."""
    match part:
        case Leaf() | TimePoint() | Deadline() | StreamStart():
            return ()
        case Sequence(parts=parts):
            return tuple(
                part.pattern if isinstance(part, Absent) else part
                for part in parts
                if not isinstance(part, Deadline | StreamStart)
            )
        case Conjunction(items=items) | Disjunction(items=items) | Parallel(items=items):
            return items
        case Related(left=left, right=right) | LeftJoin(left=left, right=right) | Except(pattern=left, other=right):
            return (left, right)
        case Quantified(left=x, right=y):
            return (x.leaf, y.leaf)
        case Sliding(leaf=leaf, since=since):
            return (leaf,) if since is None else (since, leaf)
        case Repetition(pattern=inner) | Narrowed(pattern=inner) | OtherRun(pattern=inner) | Absent(pattern=inner):
            return (inner,)


PartT = TypeVar("PartT", bound=Part | Operand)


def rebuilt(part: PartT, change: Callable[[Pattern], Pattern]) -> PartT:
    """The part with each pattern directly inside it changed; the same object when none changes."""

    def renewed(value: object) -> object:
        match value:
            case Absent() | Operand():
                return rebuilt(value, change)
            case tuple():
                items = tuple(map(renewed, value))
                return value if all(one is other for one, other in zip(items, value, strict=True)) else items
            case _ if isinstance(value, Pattern):
                new = change(value)
                assert isinstance(new, Leaf) or not isinstance(part, Operand), "segments are single events"
                return new
            case _:
                return value

    values = {one.name: getattr(part, one.name) for one in fields(part)}
    changes = {name: new for name, value in values.items() if (new := renewed(value)) is not value}
    return replace(part, **changes) if changes else part  # type: ignore[arg-type]


def parts_of(part: Part) -> Iterator[Part]:
    """The part and everything inside it, absences and deadlines included, in pattern order."""
    yield part
    for inner in part.parts if isinstance(part, Sequence) else sub_patterns(part):
        yield from parts_of(inner)


@by_identity
def _sources_of(pattern: Pattern) -> frozenset[str]:
    return frozenset(source for leaf in leaves(pattern) for source in leaf.sources)


def leaves(pattern: Pattern) -> Iterator[Leaf]:
    """The leaves in pattern order, absent ones included."""
    if isinstance(pattern, Leaf):
        yield pattern
    for inner in sub_patterns(pattern):
        yield from leaves(inner)


def expressions_of(pattern: Pattern) -> Iterator[Expr]:
    """The conditions on single events and on nested matches, and what tables are asked about."""
    for part in parts_of(pattern):
        match part:
            case Leaf(demands=demands, atoms=atoms):
                yield from demands
                yield from (arg for atom in atoms for arg in atom.args if arg is not None)
            case Narrowed(having=having):
                yield from having
            case _:
                pass


def may_end_absent(sequence: Sequence) -> bool:
    """Whether a NOT may be the last that is tested: only parts that can be left out follow it."""
    for part in reversed(sequence.parts):
        if isinstance(part, Absent):
            return True
        if not can_be_empty(part):
            return False
    return False


def can_be_empty(part: Part, passes: Callable[[Narrowed], bool] = lambda _: True) -> bool:
    """Whether a part may happen without any event, so that a sequence can leave it out.

    `passes` shows whether nothing at all passes the HAVING of a nested body.
    """
    match part:
        case Repetition(low=low, pattern=inner):
            return low == 0 or can_be_empty(inner, passes)
        case Sequence(parts=items) | Conjunction(items=items):
            return all(can_be_empty(item, passes) for item in items)
        case Disjunction(items=items):
            return any(can_be_empty(item, passes) for item in items)
        case Narrowed(pattern=inner):
            return can_be_empty(inner, passes) and passes(part)
        case OtherRun(pattern=inner):
            return not can_be_empty(inner, passes)
        case Leaf() | TimePoint() | Sliding() | Parallel() | Related() | LeftJoin() | Except() | Quantified():
            return False
        case Absent() | Deadline() | StreamStart():
            return False
