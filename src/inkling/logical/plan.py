"""The logical plan: bound patterns, one slot per leaf, every condition at the leaf that it tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from inkling.logical.expr import Expr
from inkling.logical.knowledge import RulePlan
from inkling.model.schema import Column, EventSchema, StreamSchema, TableSchema
from inkling.model.time import Span
from inkling.model.types import Type
from inkling.source import Span as TextSpan


class Policy(Enum):
    ANY = "ANY"
    NEXT = "NEXT"
    STRICT = "STRICT"


class Per(Enum):
    """What one result is."""

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


Window = Span | Points | EventCount


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

    Repeated in a sequence NEXT, it may have `checks`: a hop goes to the next event whether or not it passes them, but
    continues from there only if it does.
    """

    slot: int
    sources: tuple[str, ...]
    conditions: tuple[Expr, ...] = ()
    atoms: tuple[TableAtom, ...] = ()
    checks: tuple[Expr, ...] = ()

    @property
    def demands(self) -> tuple[Expr, ...]:
        """All that is asked of its event, before and after it is chosen."""
        return (*self.conditions, *self.checks)


@dataclass(frozen=True, slots=True)
class Absent:
    """`NOT p` between two parts of a sequence, or at its start or end."""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Deadline:
    """`AFTER d` as the last part: a time point d after the end of the part before it."""

    after: Span


@dataclass(frozen=True, slots=True)
class StreamStart:
    """`AT START` as the first part: a time point before everything, or only `back` before the end of the sequence."""

    back: Span | None = None


@dataclass(frozen=True, slots=True)
class TimePoint:
    """`AT q`: a moment of the clock, so long after its zero; there in every partition, and no part of the lineage."""

    since_zero: Span


@dataclass(frozen=True, slots=True)
class Sequence:
    policy: Policy
    parts: tuple[Part, ...]
    within: Window | None = None  # the limit that a leading or trailing absence refers to


@dataclass(frozen=True, slots=True)
class Conjunction:
    """`AND`: all of them, in any order."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Parallel:
    """`PAR`: all of them, each overlapping the hull of those before it."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """Two patterns whose intervals stand in one of the named Allen relations."""

    left: Pattern
    relations: tuple[str, ...]
    right: Pattern


@dataclass(frozen=True, slots=True)
class Except:
    """`p EXCEPT q`: occurrences of `pattern` that no occurrence of `other` equals in start and end."""

    pattern: Pattern
    other: Pattern


@dataclass(frozen=True, slots=True)
class Pairing:
    """Events that open and close segments: `role` says which does what, else odd numbers open, else every second one.

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


@dataclass(frozen=True, slots=True)
class Quantified:
    """Two keys whose segments stand in one of the relations, as often as the quantities say.

    A left segment qualifies if `right.least` right ones are related to it; only those with the same value of
    `same` are looked at. Keys of one stream are compared with other keys only.
    """

    left: Operand
    relations: tuple[str, ...]
    right: Operand
    same: Column | None = None

    @property
    def is_within_one_stream(self) -> bool:
        return self.left.leaf.sources == self.right.leaf.sources


@dataclass(frozen=True, slots=True)
class Sliding:
    """`WINDOW`: one occurrence per event of the leaf, whose slot holds the newest such events up to and with it.

    These are the last `EventCount` many, or those that end at most a `Span` earlier. With `since`, there is one per
    event of that leaf and each later one, and members start after it.
    """

    leaf: Leaf
    last: Span | EventCount
    since: Leaf | None = None
    called: Column | None = None  # orders simultaneous events where ids do not: in worlds, ids are not the user's


@dataclass(frozen=True, slots=True)
class Repetition:
    """Union over n in [low, high] of n ordinary parts; alone, the policy ANY selects its events.

    Inside an `eager` one, in a sequence with the policy NEXT, the successor is the earliest candidate of the repetition
    or of the part after it.
    """

    pattern: Pattern
    low: int
    high: int | None
    eager: bool = False


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A nested body: an occurrence of `pattern` that lasts at most `within` and passes `having`; `slot` names it."""

    pattern: Pattern
    within: Window | None
    having: tuple[Expr, ...]
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class OtherRun:
    """`COMPLEMENT p`: a maybe empty run of consecutive events of the scope that is not a word of p; no lineage."""

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
)
Part = Pattern | Absent | Deadline | StreamStart


@dataclass(frozen=True, slots=True)
class Slot:
    """A place of the pattern that events fill; `repeated` slots hold a list."""

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
    """Which of several stored occurrences comes first: the one that arrived last, or first."""

    RECENT = "RECENT"
    CHRONOLOGICAL = "CHRONOLOGICAL"


class Preference(Enum):
    """Which of competing intervals is stored."""

    LONGER = "LONGER"
    SHORTER = "SHORTER"


@dataclass(frozen=True, slots=True)
class Consumption:
    """`CONSUME RECENT` or `CHRONOLOGICAL`: each part of a match is used once; `logical.consumption` says which.

    `keeping` stores every occurrence that waits for a partner, not only one. `prefer` decides which of competing
    intervals is stored; of an expression, the larger value.
    """

    selection: Selection
    keeping: bool = False
    prefer: Preference | Expr | None = None


class Demand(Enum):
    """How the probabilities of an event must be known."""

    EXACT = "EXACT"
    SAMPLED = "SAMPLED"


@dataclass(frozen=True, slots=True)
class Confidence:
    """`CONFIDENCE >= x` or `> x`: results that are less probable are left out.

    An `early` one emits a relation between segments as soon as it is certain to be probable enough.
    """

    threshold: float
    strict: bool
    early: bool = False


class ForecastKind(Enum):
    """What a forecast says: whether the event comes by some point, or when it comes."""

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
    model distinguishes events by besides those of the pattern. `learns` turns it around: results are counts to learn
    from, not forecasts. `watches` has a result for each event, with or without a forecast, that also shows whether it
    completes the pattern.
    """

    of: str
    kind: ForecastKind
    model: str  # the table that holds it
    by: Column | None = None  # a column of the scope: a model for each of its values
    count: int | None = None
    within: Span | None = None  # WITHIN a duration
    order: int | None = None  # None: as deep as the model is
    horizon: int = 200
    spread: int | None = None
    features: tuple[Leaf, ...] = ()
    remaining: tuple[float, float] | None = None
    including_final: bool = False
    distribution: bool = False
    learns: bool = False
    until: int | None = None  # the last time that is learnt from, on the clock of the streams
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
    scope: tuple[str, ...]  # streams and events whose events STRICT counts
    per: Per
    restart: bool  # CONSUME RESTART
    slots: tuple[Slot, ...]
    schema: EventSchema
    keep: Span | None = None  # KEEP FOR: a match is known at most this long after its start
    timeouts_of: str | None = None  # ON TIMEOUT: the event whose partial matches it reports
    confidence: Confidence | None = None
    top: int | None = None
    demand: Demand | None = None
    consumption: Consumption | None = None
    on_change: bool = False  # ON CHANGE: matches of a window whose values are those of the match before are left out
    forecast: Forecast | None = None  # results say when the pattern will be detected next
    retracted_as: str | None = None  # ON RETRACT: the output of its results that were withdrawn

    @property
    def preferred(self) -> tuple[Expr, ...]:
        """The value that PREFER compares, if it compares one."""
        prefer = None if self.consumption is None else self.consumption.prefer
        return () if prefer is None or isinstance(prefer, Preference) else (prefer,)

    @property
    def sources(self) -> tuple[str, ...]:
        """Every stream and event that the pattern or its scope reads, in name order."""
        named = {source for leaf in leaves(self.pattern) for source in leaf.sources}
        return tuple(sorted(named | set(self.scope)))


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
    """A place where a plain number stands for a length of time, which only ticks can be."""

    streams: tuple[str, ...]  # whose times must be integers
    words: str
    place: TextSpan


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """A bound program; events stand after the events they use."""

    streams: tuple[StreamPlan, ...]
    tables: tuple[TableSchema, ...]
    events: tuple[EventPlan, ...]
    ticks_only: tuple[TicksOnly, ...] = ()
    rules: tuple[RulePlan, ...] = ()  # after those they use

    @property
    def revises(self) -> bool:
        """Whether emitted results can be withdrawn."""
        return any(stream.schema.revises for stream in self.streams)

    def stream(self, name: str) -> StreamPlan | None:
        return next((stream for stream in self.streams if stream.schema.name == name), None)

    def event(self, name: str) -> EventPlan | None:
        return next((event for event in self.events if event.name == name), None)


def retracted_outputs(program: ProgramPlan) -> dict[str, str]:
    """By event, the output of its results that were withdrawn; a run over complete data withdraws none."""
    return {event.name: event.retracted_as for event in program.events if event.retracted_as is not None}


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
        case Related(left=left, right=right) | Except(pattern=left, other=right):
            return (left, right)
        case Quantified(left=x, right=y):
            return (x.leaf, y.leaf)
        case Sliding(leaf=leaf, since=since):
            return (leaf,) if since is None else (since, leaf)
        case Repetition(pattern=inner) | Narrowed(pattern=inner) | OtherRun(pattern=inner) | Absent(pattern=inner):
            return (inner,)


def leaves(pattern: Pattern) -> Iterator[Leaf]:
    """The leaves in pattern order, absent ones included."""
    if isinstance(pattern, Leaf):
        yield pattern
    for inner in sub_patterns(pattern):
        yield from leaves(inner)


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
        case Leaf() | TimePoint() | Sliding() | Parallel() | Related() | Except() | Quantified():
            return False
        case Absent() | Deadline() | StreamStart():
            return False
