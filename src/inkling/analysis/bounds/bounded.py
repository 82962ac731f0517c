"""The state of an event on an unbounded stream: what is kept per key, and what would bound it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from inkling.analysis.bounds.lifetimes import counting, lifetime_of
from inkling.analysis.bounds.window import horizon_of
from inkling.analysis.query.plans import NoSafePlan
from inkling.analysis.query.strategy import Engine, Strategy, strategy_of
from inkling.analysis.relation import SegmentRelation, relation_of
from inkling.analysis.uncertainty import streams_of
from inkling.analysis.verdict import Verdict
from inkling.logical import plan as p
from inkling.logical.patterns.binary import LeafNode, OrNode, Pair, PairTree, pairs_of, walk
from inkling.logical.plan import can_be_empty
from inkling.logical.printing.text import span_text, window_text
from inkling.logical.recursion import group_of
from inkling.model.time import Duration
from inkling.model.types import Type
from inkling.model.uncertainty import LostEvents


def pairs_in(event: p.EventPlan) -> Iterator[Pair]:
    """The pairs that a policy makes of a pattern, inner ones first."""
    return (node for node in walk(pairs_of(event)) if isinstance(node, Pair))


def longest_wait(event: p.EventPlan, unit: Callable[[Duration], int]) -> int | None:
    """The longest time that a stored occurrence can wait for a partner; None without limit."""
    longest = 0
    for pair in pairs_in(event):
        limits = [_length(window, unit) for window in pair.windows]
        limits += [] if event.keep is None else [unit(event.keep)]
        if not limits:
            return None
        longest = max(longest, min(limits))
    return longest


def n_waiting(event: p.EventPlan) -> int:
    """The largest number of stored events per join key if one occurrence is stored on each side of a pair."""
    sides = [
        side for pair in pairs_in(event) for side in ((pair.left,) if pair.is_sequence else (pair.left, pair.right))
    ]
    return sum(map(_n_events, sides))


def _n_events(node: PairTree) -> int:
    match node:
        case LeafNode():
            return 1
        case OrNode(items=items):
            return max(map(_n_events, items))
        case Pair(left=left, right=right):
            return _n_events(left) + _n_events(right)


def _length(window: p.Window, unit: Callable[[Duration], int]) -> int:
    assert not isinstance(window, p.EventCount), "limits of pairs are limits in time"
    return window.count - 1 if isinstance(window, p.Points) else unit(window)


@dataclass(frozen=True, slots=True)
class StateBound:
    """The state that is kept per key."""

    windows: tuple[p.Window, ...] = ()  # events as young as all of these together
    n_waiting: int | None = None  # events that wait for a partner, which CONSUME stores for each value of a join key
    n_open: int | None = None  # events of an open match, of which an automaton has one per state
    lateness: Duration | None = None  # how long events wait for earlier ones
    derived: tuple[str, ...] = ()  # streams of which the last row stays, for DERIVE
    inner_events: tuple[str, ...] = ()  # events of the program that keep something of their own
    n_last: int | None = None  # the newest events, for a window
    phrases: bool = False  # the values of the last result, for ON CHANGE
    context: bool = False  # the state of an automaton and the last symbols, for FORECAST
    chances: str | None = None  # of what, for queries over probable streams
    until_complete: bool = False  # all events of a key, for relations between keys that exist at the same time


def state_bound(event: p.EventPlan, program: p.ProgramPlan, regular: bool) -> Verdict[StateBound | None]:
    """The state of an event per key on a stream, or None if it is unbounded.

    `regular` says whether an automaton recognizes the event.
    """
    if event.forecast is not None:
        bound = replace(_bound(event, program), context=True)
        if strategy_of(event, program).conclusion is not None:
            phrases = "automaton state with its last symbols"
            return Verdict(
                replace(bound, context=False, chances=phrases), "a forecast depends on all possible past events"
            )
        return Verdict(bound, "a forecast depends on the state of its automaton and on the last symbols")
    relation = relation_of(event, program).conclusion
    if relation is not None:
        lifetime = lifetime_of(relation, program)
        if not lifetime.conclusion:
            return Verdict(None, f"keys are compared with all later keys: {lifetime.reason}")
        return Verdict(replace(_bound(event, program), until_complete=True), lifetime.reason)
    if isinstance(event.pattern, p.Quantified):
        return Verdict(None, "whether two keys are related is known only when the stream ends")
    strategy = strategy_of(event, program).conclusion
    if event.per is p.Per.VALUES and (strategy is None or strategy.engine not in (Engine.CHAINS, Engine.AUTOMATON)):
        return Verdict(None, "PER VALUES: a result is final only when the stream ends")
    if strategy is not None:
        return _bound_of_query(event, strategy, program)
    if isinstance(event.pattern, p.Sliding) and event.pattern.since is None:
        last = event.pattern.last
        if isinstance(last, p.EventCount):
            bound = replace(_bound(event, program), n_last=last.count, phrases=event.on_change)
            return Verdict(bound, f"LAST {last.count} EVENTS")
        return Verdict(replace(_bound(event, program, (last,)), phrases=event.on_change), f"LAST {span_text(last)}")
    if event.consumption is not None and group_of(event, program).is_recursive:
        return Verdict(None, "the event is recursive, and consumption depends on all earlier events")
    if event.consumption is not None:
        return _bound_of_waiting(event, event.consumption, program)
    if regular:
        longest = longest_match(event)
        if longest is None:
            return Verdict(None, f"{_repeated(event)} repeats without limit, and a result lists all its events")
        return Verdict(_bound(event, program, n_open=longest - 1), "no part repeats without limit")
    horizon = horizon_of(event)
    if horizon.conclusion is None:
        return Verdict(None, horizon.reason)
    return Verdict(_bound(event, program, horizon.conclusion.windows), horizon.reason)


def _bound_of_query(event: p.EventPlan, strategy: Strategy, program: p.ProgramPlan) -> Verdict[StateBound | None]:
    bound = _bound(event, program)
    match strategy.engine:
        case Engine.CHAINS | Engine.AUTOMATON:
            reason = "only probabilities are stored, not single matches"
            if event.per is p.Per.VALUES:
                reason = f"PER VALUES: {reason}; they are emitted when the stream ends"
            return Verdict(replace(bound, chances="automaton state"), reason)
        case Engine.SAFE:
            phrases = "start of a match that still contributes"
            return Verdict(replace(bound, chances=phrases), "starts that contribute less than 1e-9 are dropped")
        case Engine.UNIVERSAL if not isinstance(strategy.plan, NoSafePlan):
            return Verdict(replace(bound, chances="automaton state and value"), "sampled if there are too many")
        case _:
            return Verdict(None, f"partial matches wait without a time limit: {strategy.reason}")


def _bound_of_waiting(
    event: p.EventPlan, consumption: p.Consumption, program: p.ProgramPlan
) -> Verdict[StateBound | None]:
    without_limit = [pair for pair in pairs_in(event) if not pair.windows and event.keep is None]
    if without_limit and consumption.keeping:
        return Verdict(None, "KEEPING stores every event that waits for a partner, without a time limit")
    if any(pair.absences for pair in without_limit):
        return Verdict(None, "NOT looks back to the oldest event that waits for a partner, without a time limit")
    policy = f"CONSUME {consumption.selection.value}"
    if consumption.keeping:
        windows = tuple(window for window in (event.within, event.keep) if window is not None)
        nested = tuple(window for pair in pairs_in(event) for window in pair.windows)
        return Verdict(_bound(event, program, windows or nested), f"{policy} KEEPING, limited in time")
    bound = replace(_bound(event, program), n_waiting=n_waiting(event))
    return Verdict(bound, f"{policy} stores one waiting occurrence per side")


def bound_text(bound: StateBound | None) -> str:
    """The state per key, in words."""
    if bound is None:
        return "unlimited, every event of the key"
    late = "" if bound.lateness is None else f"LATENESS {span_text(bound.lateness)}"
    phrases = ["nothing"] if bound.n_open is None else [_open_text(bound.n_open)]
    if bound.n_waiting:
        events = "1 event that waits" if bound.n_waiting == 1 else f"{bound.n_waiting} events that wait"
        phrases = [f"at most {events} for a partner, per value of the columns that parts share"]
    if bound.n_last is not None:
        phrases = ["the newest event" if bound.n_last == 1 else f"the newest {bound.n_last} events"]
    if bound.windows:
        lengths = [*map(window_text, bound.windows), late]
        phrases = [f"the events of the last {' + '.join(length for length in lengths if length)}"]
    elif late:
        phrases.append(f"the events buffered for {late}")
    phrases += [f"the probability of each {bound.chances}"] if bound.chances is not None else []
    phrases += ["its events, until it can be related to no open key"] if bound.until_complete else []
    phrases += ["the values of the last result for ON CHANGE"] if bound.phrases else []
    phrases += ["an automaton state and the last symbols for FORECAST"] if bound.context else []
    phrases += [f"the last row of {name} for DERIVE" for name in bound.derived]
    phrases += [f"the state of {name}" for name in bound.inner_events]
    if phrases[0] == "nothing" and len(phrases) > 1:
        del phrases[0]
    return ", and ".join(phrases)


def forgetting_text(bound: StateBound | None) -> str:
    """When the state of an idle key is dropped, in words."""
    if bound is None:
        return "nothing, so unbounded streams are rejected"
    if bound.derived:
        return "no key: DERIVE looks back at its last row, however old"
    if bound.context:
        return "no key: its next forecast continues from its last event, however old"
    if bound.chances is not None:
        return "no key: its probabilities continue from its last event, however old"
    if bound.phrases:
        return "no key: its last result is compared with the next one"
    if bound.n_last is not None:
        return "no key: its newest events are members of the next window, however old"
    if bound.until_complete:
        return "a complete key when all keys that began before its end are complete"
    if bound.n_waiting:
        return "a key when none of its events waits, which may never happen"
    if bound.n_open:
        return "a key when none of its matches is open, which may never happen"
    return "a key when these events have expired" if bound.windows or bound.lateness else "every key immediately"


def advice(event: p.EventPlan, program: p.ProgramPlan, regular: bool) -> Iterator[str]:
    """Changes that would bound the state of an event; each line alone is enough."""
    length = example_length(event, program)
    relation = relation_of(event, program).conclusion
    if relation is not None:
        yield from _timeouts(relation, program, length)
        yield from _segments(relation, program)
        yield "allow it with `--unbounded` (`unbounded=True`): results are emitted when both keys are complete"
        if event.confidence is None or not event.confidence.early:
            yield "add `CONFIDENCE > 0.5 EARLY` to emit a result as soon as its probability certainly exceeds 0.5"
    elif isinstance(event.pattern, p.Quantified):
        yield "write the relation between single events, `S x INTERSECTS S y WITHIN d`, to get results as they occur"
    elif event.per is p.Per.VALUES:
        yield "write `PER END` or `PER INTERVAL` to get results as they occur"
    elif isinstance(event.pattern, p.Sliding):
        yield "leave `SINCE` out, so that the window stores only its own events"
    elif event.consumption is not None and group_of(event, program).is_recursive:
        yield "leave `CONSUME` out, and add `WITHIN` to the declarations that use the event, to drop old results"
        yield "for a stream that ends, allow unlimited state: `--unbounded`"
    elif event.consumption is not None:
        yield f"add `WITHIN {length}` to limit how long parts wait for each other"
    elif regular:
        if not event.restart and _endless_repetition(event, restart=True) is None:
            yield "add `CONSUME RESTART` to start over after each result"
        yield "write `{1,20}` instead of `+`, or add `WITHIN 20 EVENTS`, to limit the events of a match"
        if not any(one.forecast is not None and one.forecast.of == event.name for one in program.events):
            yield f"add `KEEP FOR {length}` to drop matches that take longer"
    elif event.restart:
        yield "leave `CONSUME RESTART` out, so that the window of the event limits the state"
    else:
        if not any(isinstance(part, p.StreamStart) for part in p.parts_of(event.pattern)) and event.within is None:
            yield f"add `WITHIN {length}` to limit how long a match may last"
        yield f"add `KEEP FOR {length}` to drop older matches"


def _timeouts(relation: SegmentRelation, program: p.ProgramPlan, length: str) -> Iterator[str]:
    """The advice to end keys by TIMEOUT, where that is all that is missing."""
    streams = [program.stream(operand.stream) for operand in relation.operands]
    with_timeout = replace(
        program, streams=tuple(_with_timeout(one) if one in streams else one for one in program.streams)
    )
    if not lifetime_of(relation, program).conclusion and lifetime_of(relation, with_timeout).conclusion:
        missing = dict.fromkeys(one.schema.name for one in streams if one is not None and _with_timeout(one) != one)
        yield f"add `TIMEOUT {length}` to {' and '.join(missing)}, so that keys end and can be forgotten"


def _segments(relation: SegmentRelation, program: p.ProgramPlan) -> Iterator[str]:
    """The advice to ask for a segment, where only keys without segments are in the way."""
    if lifetime_of(relation, program).conclusion or not lifetime_of(counting(relation), program).conclusion:
        return
    replaced = dict.fromkeys(
        "ALL" if one.declared.least is None else "AT LEAST 0" for one in relation.operands if not one.declared.least
    )
    yield f"write `SOME`, or `AT LEAST` and a number, instead of {' and '.join(replaced)}: a key then needs a segment"
    losing = [program.stream(one.stream) for one in relation.operands if one.declared.least is None]
    without = replace(program, streams=tuple(_without_role(one) if one in losing else one for one in program.streams))
    if lifetime_of(relation, without).conclusion:
        of = dict.fromkeys(one.schema.name for one in losing if one is not None and _without_role(one) != one)
        yield f"leave `ROLE` out of {' and '.join(of)} if there are no marks: every key then has a segment"


def _without_role(stream: p.StreamPlan) -> p.StreamPlan:
    losses = stream.schema.uncertainty
    if not isinstance(losses, LostEvents) or losses.role is None:
        return stream
    return replace(stream, schema=replace(stream.schema, uncertainty=replace(losses, role=None)))


def _with_timeout(stream: p.StreamPlan) -> p.StreamPlan:
    losses = stream.schema.uncertainty
    if not isinstance(losses, LostEvents) or losses.timeout is not None:
        return stream
    timeout = Duration(Fraction(1), "TICKS")
    return replace(stream, schema=replace(stream.schema, uncertainty=replace(losses, timeout=timeout)))


def _bound(
    event: p.EventPlan, program: p.ProgramPlan, windows: tuple[p.Window, ...] = (), n_open: int | None = None
) -> StateBound:
    streams = streams_of(event, program)
    late = [one.schema.late for one in streams if one.schema.late is not None and not one.schema.speculative]
    ticks = [stream.schema.tick for stream in streams if stream.schema.tick is not None]
    return StateBound(
        windows,
        n_open=n_open,
        lateness=max(late, key=lambda span: span.length(ticks[0] if ticks else None), default=None),
        derived=tuple(
            stream.schema.name for stream in streams if stream.derived and stream.schema.name in event.sources
        ),
        inner_events=tuple(name for name in event.sources if program.event(name) is not None and name != event.name),
    )


def _open_text(n_events: int) -> str:
    if n_events == 0:
        return "nothing"
    events = "1 event" if n_events == 1 else f"{n_events} events"
    return f"at most {events} of each open match, one match per state of the automaton"


def _repeated(event: p.EventPlan) -> str:
    part = _endless_repetition(event, restart=event.restart)
    assert part is not None, "the longest match has no limit"
    names = [event.slots[leaf.slot].name or " | ".join(leaf.sources) or "_" for leaf in p.leaves(part.pattern)]
    return f"`{names[0]}`" if len(names) == 1 else "a group"


def example_length(event: p.EventPlan, program: p.ProgramPlan) -> str:
    ticking = all(
        stream.schema.time_type is Type.INTEGER and stream.schema.tick is None for stream in streams_of(event, program)
    )
    return "100 TICKS" if ticking else "10 MINUTES"


@dataclass(frozen=True, slots=True)
class _Endless:
    """Stands for a number of events without limit."""

    because: p.Repetition


_Count = int | _Endless


def longest_match(event: p.EventPlan) -> int | None:
    """The most events that a match is made of until it is reported; None when there is no limit."""
    count = _longest_of(event, event.restart)
    return None if isinstance(count, _Endless) else count


def _endless_repetition(event: p.EventPlan, *, restart: bool) -> p.Repetition | None:
    """A repetition that makes matches as long as the stream, with or without CONSUME RESTART."""
    count = _longest_of(event, restart)
    return count.because if isinstance(count, _Endless) else None


def _longest_of(event: p.EventPlan, restart: bool) -> _Count:
    return _at_most(_longest(event.pattern, restart), event.within)


def _longest(part: p.Part, ends: bool) -> _Count:
    """The most events of a part; with `ends`, the match is complete after the part, and CONSUME RESTART starts anew."""
    match part:
        case p.Leaf():
            return 1
        case p.Sequence(parts=parts):
            return _sum(list(_counts(parts, ends)))
        case p.Disjunction(items=items):
            return _largest([_longest(item, ends) for item in items])
        case p.Conjunction(items=items) | p.Parallel(items=items):
            return _sum([_longest(item, False) for item in items])
        case p.Related(left=left, right=right) | p.LeftJoin(left=left, right=right):
            return _sum([_longest(left, False), _longest(right, False)])
        case p.Except(pattern=inner):
            return _longest(inner, False)
        case p.Quantified():
            raise AssertionError("relations between segments are no work for automata")
        case p.Sliding():
            raise AssertionError("windows are no work for automata")
        case p.Narrowed(pattern=inner, within=within):
            return _at_most(_longest(inner, ends), within)
        case p.Repetition():
            return _repeats(part, ends)
        case p.OtherRun() | p.Absent() | p.Deadline() | p.StreamStart() | p.TimePoint():
            return 0


def _counts(parts: tuple[p.Part, ...], ends: bool) -> Iterator[_Count]:
    for place, part in enumerate(parts):
        complete = ends and all(can_be_empty(after) for after in parts[place + 1 :])
        yield _longest(part, complete)
        if complete and not can_be_empty(part):
            return  # the match is reported before anything else happens


def _repeats(part: p.Repetition, ends: bool) -> _Count:
    rounds = max(part.low, 1) if ends else part.high
    if rounds == 1:
        return _longest(part.pattern, ends)
    once = _longest(part.pattern, False)
    if isinstance(once, _Endless) or once == 0:
        return once
    return _Endless(part) if rounds is None else once * rounds


def _sum(counts: list[_Count]) -> _Count:
    endless = next((count for count in counts if isinstance(count, _Endless)), None)
    return endless or sum(count for count in counts if isinstance(count, int))


def _largest(counts: list[_Count]) -> _Count:
    endless = next((count for count in counts if isinstance(count, _Endless)), None)
    return endless or max(count for count in counts if isinstance(count, int))


def _at_most(count: _Count, within: p.Window | None) -> _Count:
    if not isinstance(within, p.EventCount):
        return count
    return within.count if isinstance(count, _Endless) else min(count, within.count)
