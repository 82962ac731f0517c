"""Which events over imprecise times need no worlds: sequences of single events (chains), and partial orders of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain as chained

from inkling.analysis.partial_order import Moving, NoOrderError, PartialOrders, orders_of, reads_time
from inkling.analysis.verdict import Verdict
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.rewrites.inlined import NotInlinedError, inlined
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock, Duration
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A component of a chain: between `low` and `high` candidates of a leaf, one after the other."""

    slot: int
    low: int = 1
    high: int | None = 1
    eager: bool = False

    @property
    def is_single(self) -> bool:
        return self.low == self.high == 1


@dataclass(frozen=True, slots=True)
class ChainAbsence:
    """A negated component: no candidate of a leaf before link number `before`, or after the last link."""

    slot: int
    before: int


@dataclass(frozen=True, slots=True)
class ChainPattern:
    """A pattern whose matches are events in the order of its links."""

    policy: p.Policy
    links: tuple[ChainLink, ...]
    absences: tuple[ChainAbsence, ...] = ()
    within: Duration | p.Points | None = None
    ends_scope: bool = False  # whether an event of the scope after the last link prevents a match
    divided: bool = False  # whether the same events may be divided among the links in several ways

    @property
    def is_fixed(self) -> bool:
        """Whether every match has as many events as there are links."""
        return all(link.is_single for link in self.links)

    @property
    def looks_before(self) -> bool:
        """Whether events before the first one of a match can prevent it."""
        return any(all(link.low == 0 for link in self.links[: one.before]) for one in self.absences)

    @property
    def depends_on_others(self) -> bool:
        """Whether events that are not part of a match can prevent it."""
        return self.policy is not p.Policy.ANY or bool(self.absences)


def chain_of(
    event: p.EventPlan, program: p.ProgramPlan, clock: Clock | None = None
) -> Verdict[ChainPattern | PartialOrders | None]:
    """The chain or partial order of an event over imprecise times; None, and why, where it needs possible worlds.

    Without a `clock` the data is not known yet: the types of times are those that the streams declare.
    """
    derived = [name for name in event.sources if program.stream(name) is None]
    try:
        event = inlined(event, program)
    except NotInlinedError as problem:
        return Verdict(None, str(problem))
    why = next(_obstacles(event, program, clock), None)
    if why is not None:
        return Verdict(None, why)
    moving = moving_columns(program)
    chain = _chain(event)
    why = None if chain is None else next(chained(_in_chain(event, chain), _in_expressions(event, moving)), None)
    if chain is not None and why is None:
        phrase = {p.Policy.ANY: "any later", p.Policy.NEXT: "the next", p.Policy.STRICT: "the adjacent"}[chain.policy]
        return Verdict(
            chain, f"a sequence of single events, each followed by {phrase} one; probabilities are sums over ticks"
        )
    try:
        orders = orders_of(event, moving)
    except NoOrderError as problem:
        return Verdict(None, why or f"the pattern is not a sequence of single events, and {problem}")
    within = f", those of {' and '.join(derived)} included" if derived else ""
    return Verdict(orders, f"single events in a partial order{within}; probabilities are sums over their ticks")


def moving_columns(program: p.ProgramPlan) -> Moving:
    """By stream with imprecise times, the columns that hold the time of an event."""
    return {
        one.schema.name: frozenset((one.schema.uncertainty.lo, one.schema.uncertainty.hi))
        for one in program.streams
        if isinstance(one.schema.uncertainty, ImpreciseTime)
    }


def _obstacles(event: p.EventPlan, program: p.ProgramPlan, clock: Clock | None) -> Iterator[str]:
    streams = [program.stream(name) for name in event.sources]
    if not any(isinstance(one.schema.uncertainty, ImpreciseTime) for one in streams if one is not None):
        yield "no stream of the event has imprecise times"
    if event.demand is p.Demand.SAMPLED:
        yield "the event demands SAMPLED"
    for name, stream in zip(event.sources, streams, strict=True):
        assert stream is not None, f"the pattern of {name} is part of the event"
        yield from _in_stream(stream, clock)
    ticks = {stream.schema.tick for stream in streams if stream is not None}
    if clock is Clock.TIMESTAMP and len(ticks) > 1:
        yield "its streams have different TICKs"
    if event.per is not p.Per.MATCH:
        yield f"PER {event.per.value} needs the probability of any match, and matches are not independent"
    if event.restart or event.consumption is not None:
        yield "CONSUME makes matches depend on each other"
    if event.keep is not None or event.timeouts_of is not None:
        yield "KEEP FOR depends on when matches are detected"
    if isinstance(event.within, p.EventCount):
        yield "the number of EVENTS between two events depends on the world"
    if event.forecast is not None or event.on_change:
        yield "the event is a forecast or has ON CHANGE"
    moving = moving_columns(program)
    if any(reads_time(event, moving, output.expr) for output in (*event.head, *event.returns)):
        yield "a column of the result reads a time, which depends on the world"


def _in_stream(stream: p.StreamPlan, clock: Clock | None) -> Iterator[str]:
    schema = stream.schema
    imprecise = isinstance(schema.uncertainty, ImpreciseTime)
    if schema.uncertainty is not None and not imprecise:
        yield f"{schema.name} has another kind of uncertainty than imprecise times"
    if schema.is_ordered:
        yield f"ORDER BY of {schema.name} distinguishes simultaneous events"
    if schema.is_interval and not imprecise:
        yield f"events of {schema.name} are intervals"
    stamped = clock is Clock.TIMESTAMP or (clock is None and schema.time_type is Type.TIME and _declared(schema))
    if stamped and schema.tick is None:
        yield f"times of {schema.name} are timestamps without a TICK"
    if stream.reset_when is not None:
        yield f"{schema.name} has RESET WHEN"
    for column in stream.derived:
        if imprecise and any(isinstance(part, e.PreviousColumn | e.SinceChange) for part in e.walk(column.expr)):
            yield f"`{column.name}` of {schema.name} reads the previous event, which depends on the world"
        if imprecise and any(
            isinstance(part, e.ColumnOf) and part.column in _times(schema.uncertainty) for part in e.walk(column.expr)
        ):
            yield f"`{column.name}` of {schema.name} is computed from a time, which depends on the world"


def _declared(schema: StreamSchema) -> bool:
    return schema.tick is None and schema.column(schema.start) is not None


def _times(uncertainty: object) -> frozenset[str]:
    assert isinstance(uncertainty, ImpreciseTime)
    return frozenset((uncertainty.lo, uncertainty.hi))


def _chain(event: p.EventPlan) -> ChainPattern | None:
    found = None if isinstance(event.within, p.EventCount) else links_of(event.pattern, event.within)
    return None if found is None else replace(found, divided=_is_divided(event, found))


def _is_divided(event: p.EventPlan, chain: ChainPattern) -> bool:
    """Whether two repetitions of different lengths, or one of them and a single event, can be over the same stream."""
    if sum(link.low != link.high for link in chain.links) < 2:
        return False
    leaves = {leaf.slot: leaf for leaf in p.leaves(event.pattern)}
    read = [set(leaves[link.slot].sources or event.scope) for link in chain.links]
    return sum(map(len, read)) > len(set().union(*read))


def links_of(pattern: p.Pattern, within: Duration | p.Points | None) -> ChainPattern | None:
    """A pattern as a chain; None where it is no sequence of single events."""
    parts = pattern.parts if isinstance(pattern, p.Sequence) else (pattern,)
    policy = pattern.policy if isinstance(pattern, p.Sequence) else p.Policy.ANY
    links: list[ChainLink] = []
    absences: list[ChainAbsence] = []
    for part in parts:
        match part:
            case p.Leaf(slot=slot, atoms=()):
                links.append(ChainLink(slot))
            case p.Repetition(pattern=p.Leaf(slot=slot, atoms=()), low=low, high=high, eager=eager, maximal=False):
                links.append(ChainLink(slot, low, high, eager))
            case p.Absent(pattern=p.Leaf(slot=slot, atoms=())):
                absences.append(ChainAbsence(slot, len(links)))
            case _:
                return None
    return ChainPattern(policy, tuple(links), tuple(absences), within)


def _in_chain(event: p.EventPlan, chain: ChainPattern) -> Iterator[str]:
    pattern = event.pattern
    at_border = any(one.before in (0, len(chain.links)) for one in chain.absences)
    optional = any(link.low == 0 for link in chain.links)
    if (
        isinstance(pattern, p.Sequence)
        and chain.absences
        and (at_border or optional)
        and pattern.within != event.within
    ):
        yield "NOT at the border of the sequence has its own limit"
    leaves = {leaf.slot: leaf for leaf in p.leaves(pattern)}
    if any(leaf.checks for leaf in leaves.values()):
        yield "a CHECK ends a repetition"
    if chain.divided and chain.depends_on_others:
        yield "several repetitions can divide the same events in several ways"


def _in_expressions(event: p.EventPlan, moving: Moving) -> Iterator[str]:
    if any(reads_time(event, moving, expr) for expr in _conditions(event)):
        yield "a condition reads a time, which depends on the world"
    for leaf in p.leaves(event.pattern):
        for condition in leaf.conditions:
            for part in e.walk(condition):
                if isinstance(part, e.Aggregate) and part.slot == leaf.slot:
                    yield "a condition in a repetition aggregates that repetition"
                if isinstance(part, e.ListColumn) and part.slot == leaf.slot and part.which is not e.Which.LAST:
                    yield "a condition in a repetition reads its first event"


def _conditions(event: p.EventPlan) -> Iterable[e.Expr]:
    yield from event.having
    for leaf in p.leaves(event.pattern):
        yield from leaf.demands
