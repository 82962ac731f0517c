"""The definition of results: which results each event of a program has in one world.

Every evaluator is a faster way to compute what this module and `occurrences` say.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from inkling.logical import plan as p
from inkling.logical.evaluate import Bindings, ExpressionContext, Row, value_of
from inkling.logical.patterns.allen import ends_of
from inkling.logical.recursion import MOST_ROUNDS, EventGroup, groups_of, without_end
from inkling.meaning.consumption import consumed
from inkling.meaning.maximal import maximal
from inkling.meaning.occurrences import Occurrence, Partition
from inkling.meaning.streams import Rank, position, positions
from inkling.model.event import Event, Value, World
from inkling.model.time import UNORDERED, Instant

AFTER_EVERYTHING: Rank = ((UNORDERED,),)


@dataclass(frozen=True, slots=True)
class Result:
    """One result of an event in one world."""

    event: str
    values: tuple[Value, ...]  # head, then RETURN
    start: int
    end: int
    detected_at: int
    lineage: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Derived:
    """A result, also as an event that other events read; `depth` is its depth in a recursion, 0 without one."""

    event: Event
    result: Result
    depth: int


def semantics(program: p.ProgramPlan, world: World, context: ExpressionContext) -> dict[str, tuple[Result, ...]]:
    """The results of every event of a program in one world."""
    results: dict[str, tuple[Result, ...]] = {}
    known_at: dict[Event, int] = {}
    for group in groups_of(program):
        if group.is_recursive:
            derived = least_model(group, world, context, known_at)
        elif group.events[0].forecast is not None:
            derived = []  # forecasts depend on a model and have no definition here
        else:
            derived = derive(group.events[0], world, context, known_at)
        world = replace(world, events=(*world.events, *_events_of(derived)))
        known_at.update((found.event, found.result.detected_at) for found in derived)
        for event in group.events:
            results[event.name] = tuple(found.result for found in derived if found.result.event == event.name)
    return results


def _events_of(derived: Iterable[Derived]) -> Iterable[Event]:
    """The events that results are for other patterns: results with the same values, interval and lineage are one."""
    return dict.fromkeys(found.event for found in derived)


def least_model(
    group: EventGroup, world: World, context: ExpressionContext, known_at: Mapping[Event, int]
) -> list[Derived]:
    """The results of events that depend on each other, the least model (Anicic 2011, section 6.3), by end time.

    Results that end at a time are derived repeatedly, starting from none, until they do not change.
    """
    settled: list[Derived] = []
    for time in sorted({one.end.time for one in world.of(*group.outer_sources)}):
        seen = [one for one in world.events if one.end.time <= time]
        here: list[Derived] = []
        for _ in range(MOST_ROUNDS):
            so_far = [*settled, *here]
            now = World((*seen, *_events_of(so_far)))
            depths = {found.event: found.depth for found in so_far}
            known = {**known_at, **{found.event: found.result.detected_at for found in so_far}}
            derived = [found for event in group.events for found in derive(event, now, context, known, depths)]
            ending = [found for found in derived if found.result.end == time]
            if ending == here:
                break
            here = ending
        else:
            raise without_end(group.names)
        settled += here
    return sorted(settled, key=lambda found: position(found.event))


def derive(
    event: p.EventPlan,
    world: World,
    context: ExpressionContext,
    known_at: Mapping[Event, int],
    depths: Mapping[Event, int] | None = None,
) -> list[Derived]:
    """The results of one event in canonical order; `depths` are those of results of its own recursion, if any."""
    derived = (
        found
        for key, events in pieces(event, world)
        for found in derive_in_piece(event, key, events, context, known_at, depths)
    )
    return sorted(derived, key=lambda found: position(found.event))


def pieces(event: p.EventPlan, world: World) -> Iterator[tuple[Row, tuple[Event, ...]]]:
    """The events that an event reads, in independent pieces: partitions, cut at resets; with the key of each."""
    resets = world.resets_of(*event.sources)
    compares_keys = isinstance(event.pattern, p.Quantified)
    every = world.keys_of(*event.sources) if compares_keys else world.of(*event.sources)
    for key, together in _partitions(event, every):
        for events in _between_resets(key, together, resets):
            yield key, events


def derive_in_piece(
    event: p.EventPlan,
    key: Row,
    events: tuple[Event, ...],
    context: ExpressionContext,
    known_at: Mapping[Event, int],
    depths: Mapping[Event, int] | None = None,
) -> Iterator[Derived]:
    scope = tuple(one for one in events if one.source in event.scope)
    stage = Partition(events, scope, context, known_at)
    return _results(event, _finished(event, stage, Bindings(key=key)), context, depths)


def _partitions(event: p.EventPlan, events: tuple[Event, ...]) -> Iterator[tuple[Row, tuple[Event, ...]]]:
    """Each key with its events; an event without a key belongs to none."""
    columns = [column.name for column in event.partition]
    if not columns:
        yield {}, events
        return
    by_key: dict[tuple[Value, ...], list[Event]] = {}
    for one in events:
        by_key.setdefault(tuple(one.values.get(column) for column in columns), []).append(one)
    for key, members in by_key.items():
        if None not in key:
            yield dict(zip(columns, key, strict=True)), tuple(members)


def _between_resets(key: Row, events: tuple[Event, ...], resets: tuple[Event, ...]) -> Iterator[tuple[Event, ...]]:
    """The events of one key, cut at its resets."""
    borders = [one.position for one in resets if all(one.values[column] == value for column, value in key.items())]
    if not borders:
        yield events
        return
    pieces: dict[int, list[Event]] = {}
    for event in events:
        pieces.setdefault(sum(border < event.position for border in borders), []).append(event)
    yield from map(tuple, pieces.values())


def _finished(event: p.EventPlan, stage: Partition, at: Bindings) -> list[Occurrence]:
    """Occurrences of the whole pattern after WITHIN, HAVING, MAXIMAL, KEEP FOR and CONSUME."""
    if event.consumption is not None:
        return consumed(event, stage, at)
    passing = (
        match
        for match in stage.occurrences(event.pattern, at)
        if stage.lasts_at_most(match, event.within) and stage.passes_all(event.having, match.bindings)
    )
    matches = [match for match in maximal(event, stage, passing) if stage.known_in_time(match, event.keep)]
    if event.on_change:
        return list(_changing(event, matches, stage.context))
    return _restarting(matches) if event.restart else matches


def _changing(event: p.EventPlan, matches: list[Occurrence], context: ExpressionContext) -> Iterator[Occurrence]:
    """ON CHANGE: a match whose values are those of the match before is left out.

    With SINCE, the match before has the same start, and the same row of each table that is looked up there.
    """
    before: dict[Rank, tuple[Value, ...]] = {}
    for match in sorted(matches, key=lambda match: position(match.lineage[-1].event)):
        values = tuple(value_of(output.expr, match.bindings, context) for output in (*event.head, *event.returns))
        since = (
            *(position(member.event) for member in match.lineage[:-1]),
            *(_rank(tuple(row.values())) for row in match.bindings.facts.values()),
        )
        if before.get(since) != values:
            yield match
        before[since] = values


def _restarting(matches: list[Occurrence]) -> list[Occurrence]:
    """CONSUME RESTART: once an end is reported, further matches must start after it."""
    kept: list[Occurrence] = []
    by_end = sorted(matches, key=lambda match: match.end)
    for _, together in groupby(by_end, key=lambda match: match.end):
        kept.extend([match for match in together if not kept or kept[-1].end < match.start])
    return kept


def _results(
    event: p.EventPlan, matches: list[Occurrence], context: ExpressionContext, depths: Mapping[Event, int] | None
) -> Iterator[Derived]:
    """Groups matches into results by PER; the witness of a group supplies its values and lineage."""

    def returned(match: Occurrence) -> tuple[Value, ...]:
        return tuple(value_of(output.expr, match.bindings, context) for output in event.returns)

    def depth(match: Occurrence) -> int:
        through = [] if depths is None else [depths[one.event] for one in match.lineage if one.event in depths]
        return 1 + max(through, default=-1)

    if depths is not None and not event.schema.is_ordered:
        matches = [_as_seen_again(match) for match in matches]

    groups: dict[tuple[tuple[Value, ...], Rank], list[Occurrence]] = {}
    for match in matches:
        head = tuple(value_of(output.expr, match.bindings, context) for output in event.head)
        groups.setdefault((head, _identity(event.per, match)), []).append(match)
    names = [output.name for output in (*event.head, *event.returns)]
    for (head, _), members in groups.items():
        witness = min(members, key=lambda match: (depth(match), *_witness_order(match), _rank(returned(match))))
        values = (*head, *returned(witness))
        start = min(member.start for member in members)
        end = max(member.end for member in members)
        known_at = min(member.known_at for member in members)
        ids = tuple(number for member in witness.lineage for number in member.event.ids)
        ends = (start, end) if event.schema.is_ordered else ends_of(start.time, end.time)
        rank = (_rank(ids), _rank(values))
        yield Derived(
            Event(event.name, ids, *ends, dict(zip(names, values, strict=True)), rank),
            Result(event.name, values, start.time, end.time, known_at, ids),
            depth(witness),
        )


def _as_seen_again(match: Occurrence) -> Occurrence:
    """A match of a recursion with the places that its result has as an input event."""
    start, end = ends_of(match.start.time, match.end.time)
    return replace(match, start=start, end=end)


def _identity(per: p.Per, match: Occurrence) -> Rank:
    """What distinguishes one result from another besides the values of its head."""
    match per:
        case p.Per.MATCH:
            return positions(match)
        case p.Per.INTERVAL:
            return (match.start, match.end)
        case p.Per.END:
            return (match.end,)
        case p.Per.VALUES:
            return ()


def _witness_order(match: Occurrence) -> tuple[Instant, Rank, Rank]:
    """Earliest start, then earliest events (a list that ends is later than one that continues), then slots."""
    slots = tuple(member.slot for member in match.lineage)
    return (match.start, (*positions(match), AFTER_EVERYTHING), slots)


def _rank(values: tuple[Value, ...]) -> Rank:
    """Values as something that can be compared: nulls first."""
    return tuple((type(value).__name__, value) for value in values)
