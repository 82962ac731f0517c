"""Details of a few results for the report and `why`: distributions of start and end, and what each depends on.

Each result is found again among the matches of its component, world by world (`variants`). From these matches follow
the distribution of its times, the influence of single events (`influence`), its probability given outcomes of events,
and the most probable scenarios with and without it (`outcomes`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds.answer import event_ids_of
from inkling.evaluators.worlds.details.influence import Influence, UncertainEvent, candidates, influences, n_uncertain
from inkling.evaluators.worlds.details.outcomes import (
    Dependence,
    WorldScenario,
    dependences,
    known_times,
    merged_as,
    outcome_codes,
    relevant_events,
    scenarios,
    with_merged_times,
)
from inkling.evaluators.worlds.details.variants import (
    MOST_WORLDS,
    EventComponents,
    Removal,
    WorldMatches,
    Worlds,
    matches_in_worlds,
)
from inkling.evaluators.worlds.probabilities.estimate import EventIds
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.run import WorldData
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.io.normalize import ID
from inkling.logical.plan import EventPlan, Per
from inkling.meaning.streams import plain, whole_number
from inkling.model.batch import Ints

MOST_BINS = 24
"""The limit on intervals in which times are summed up."""


@dataclass(frozen=True, slots=True)
class TimeBin:
    """The share of the probability of a result that falls on times from `low` to `high`, both included."""

    low: int
    high: int
    share: float


def spread_of(times: Ints, weights: np.ndarray) -> tuple[TimeBin, ...]:
    """The distribution of times given that the result holds: single times if there are few, else equal intervals.

    >>> spread_of(np.array([3, 5, 3]), np.array([0.125, 0.125, 0.25]))
    (TimeBin(low=3, high=3, share=0.75), TimeBin(low=5, high=5, share=0.25))
    """
    total = float(weights.sum())
    if not len(times) or total <= 0:
        return ()
    moments, place = np.unique(times, return_inverse=True)
    if len(moments) <= MOST_BINS:
        shares = np.bincount(place, weights, minlength=len(moments)) / total
        return tuple(TimeBin(int(one), int(one), float(share)) for one, share in zip(moments, shares, strict=True))
    first, last = int(moments[0]), int(moments[-1])
    step = -(-(last - first + 1) // MOST_BINS)
    shares = np.bincount((times - first) // step, weights, minlength=MOST_BINS) / total
    lows = range(first, last + 1, step)
    return tuple(
        TimeBin(low, min(low + step - 1, last), float(share)) for low, share in zip(lows, shares, strict=False)
    )


ROWS_IN_ALL = 4_000_000
"""The approximate limit on rows, over all worlds, that are evaluated for influences."""

MOST_SCENARIOS = 2
"""The limit on listed scenarios with a result, and without it."""

MOST_IN_A_SAMPLE = 6
"""The limit on events that distinguish scenarios in sampled worlds; with more, each world is its own scenario."""


@dataclass(frozen=True, slots=True)
class Examined:
    """Details of one result, from the worlds of its component."""

    starts: tuple[TimeBin, ...]
    ends: tuple[TimeBin, ...]
    influences: tuple[Influence, ...]
    dependences: tuple[Dependence, ...]
    having: tuple[WorldScenario, ...]  # the most probable scenarios with the result
    lacking: tuple[WorldScenario, ...]  # and without it
    n_having: int  # worlds that have the result
    n_worlds: int  # of the component, or of the sample
    n_events: int  # uncertain events of the component
    identity: int
    worlds: Worlds


@dataclass(frozen=True, slots=True)
class _FoundResult:
    """A result among the matches of its component, and the uncertain events that may matter to it."""

    seen: WorldMatches
    identity: np.uint64
    component: int
    events: tuple[UncertainEvent, ...]


def examine(
    program: WorldProgram,
    rows: Mapping[str, pa.Table],
    tables: Mapping[str, pa.Table],
    sampling: Sampling,
    results: Mapping[str, pa.Table],
) -> dict[str, list[Examined | None]]:
    """By event, the details of each result in the order of its table; None for a result that was not found again."""
    return examined_in(WorldData.of(program, rows, tables, sampling.exact_up_to), sampling, results)


def examined_in(
    data: WorldData, sampling: Sampling, results: Mapping[str, pa.Table], most_worlds: int = MOST_WORLDS
) -> dict[str, list[Examined | None]]:
    """`examine` for prepared data, in at most `most_worlds` sampled worlds."""
    events = [event for event in data.program.events if event.name in results]
    chosen = components_of_results(data, results)
    if not chosen.any():
        return {name: [None] * len(table) for name, table in results.items()}
    seen = list(matches_in_worlds(data, sampling, chosen, most_worlds=most_worlds))
    found = {event.name: _found(event, data, seen, results[event.name]) for event in events}
    known = [one for ones in found.values() for one in ones if one is not None]
    removals = _removals(data, known)
    components = np.zeros(data.parts.count, bool)
    components[[one.component for one in removals]] = True
    again = list(matches_in_worlds(data, sampling, components, removals)) if removals else []
    return {
        name: [None if one is None else _examined(one, data, again, removals, sampling.delta) for one in ones]
        for name, ones in found.items()
    }


def components_of_results(data: WorldData, results: Mapping[str, pa.Table]) -> np.ndarray:
    """The components with an event in the lineage of a result, or with lost events in its interval if it names some.

    All components if a result has no lineage.
    """
    if any(not ids for table in results.values() for ids in table["lineage"].to_pylist()):
        return np.ones(data.parts.count, bool)
    chosen = np.zeros(data.parts.count, bool)
    ids: set[str] = set()
    gaps: list[tuple[int, int]] = []
    for table in results.values():
        for row in table.select(["lineage", "start", "end"]).to_pylist():
            ids |= {str(one) for one in row["lineage"] if one is not None}
            if None in row["lineage"]:
                gaps.append((whole_number(row["start"]), whole_number(row["end"])))
    wanted = pa.array(sorted(ids), pa.string())
    for stream, component in zip(data.streams, data.parts.of_rows, strict=True):
        named = pc.is_in(stream.rows[ID].cast(pa.string()), wanted).to_numpy()
        chosen[component[named]] = True
        if isinstance(stream, LossyStream):
            low, high = stream.extents
            for start, end in gaps:
                lost = (low <= end) & (high >= start) & (np.arange(len(low)) >= stream.n_recorded)
                chosen[component[lost]] = True
    return chosen


def _found(
    event: EventPlan, data: WorldData, seen: Sequence[WorldMatches], table: pa.Table
) -> list[_FoundResult | None]:
    """The results of one event, found again among the matches of all components."""
    names = event_ids_of(data, data.program.id_types[event.name])
    places = EventComponents.of(data)
    met: dict[tuple[object, ...], list[tuple[WorldMatches, int]]] = {}
    for part in seen:
        if part.event is event:
            for row, key in _keys(part, names, data.program.scale):
                met.setdefault(key, []).append((part, row))
    return [_one(row, event, data, places, names, met) for row in table.to_pylist()]


def _one(
    row: Mapping[str, object],
    event: EventPlan,
    data: WorldData,
    places: EventComponents,
    names: EventIds,
    met: Mapping[tuple[object, ...], list[tuple[WorldMatches, int]]],
) -> _FoundResult | None:
    start, end, known = (whole_number(row[name]) for name in ("start", "end", "detected_at"))
    lineage = row["lineage"]
    assert isinstance(lineage, list)
    possible = met.get(result_key(event, row), [])
    if len(possible) > 1:  # in several partitions with the same head
        possible = [
            (part, at)
            for part, at in possible
            if names.lineage(part.matches.lineage[at : at + 1])[0].as_py() == lineage
        ]
    if len(possible) > 1:  # lost events have no ids
        possible = [(part, at) for part, at in possible if _hull(part, at, data.program.scale) == (start, end)]
    if len(possible) != 1:
        return None
    part, at = possible[0]
    tokens = _tokens(part, at)
    if len(tokens):
        component = int(places(tokens[:1])[0])
    elif part.worlds.components is not None:
        component = int(part.worlds.components[part.world[at]])
    elif data.parts.count == 1:
        component = 0
    else:
        return None
    return _FoundResult(part, part.identity[at], component, candidates(data, component, tokens, start, max(end, known)))


def _hull(part: WorldMatches, row: int, scale: int) -> tuple[int, int]:
    """The earliest start and the latest end of a result in any world."""
    rows = part.identity == part.identity[row]
    return int(part.matches.start[rows].min()) // scale, int(part.matches.end[rows].max()) // scale


def _keys(part: WorldMatches, names: EventIds, scale: int) -> list[tuple[int, tuple[object, ...]]]:
    """The row of the first match of each result, and the key of the result in public columns."""
    order = np.lexsort((part.world, part.identity))
    first = order[np.flatnonzero(np.diff(part.identity[order], prepend=~part.identity[order][:1]) != 0)]
    heads = [part.matches.values[output.name].take(pa.array(first)).to_pylist() for output in part.event.head]
    lineage = names.lineage(part.matches.lineage.take(pa.array(first))).to_pylist()
    return [
        (
            int(row),
            _key(
                part.event,
                [column[number] for column in heads],
                int(part.matches.start[row]) // scale,
                int(part.matches.end[row]) // scale,
                lineage[number],
            ),
        )
        for number, row in enumerate(first)
    ]


def result_key(event: EventPlan, row: Mapping[str, object]) -> tuple[object, ...]:
    """The key of a result, given as a row of public columns: values of the head, and what PER states."""
    lineage = row["lineage"]
    assert isinstance(lineage, list)
    head = [row[output.name] for output in event.head]
    return _key(event, head, whole_number(row["start"]), whole_number(row["end"]), lineage)


def _key(
    event: EventPlan, head: Sequence[object], start: int, end: int, lineage: Sequence[object]
) -> tuple[object, ...]:
    values = tuple(plain(value) for value in head)
    match event.per:
        case Per.MATCH:
            return (*values, *lineage)
        case Per.INTERVAL:
            return (*values, start, end)
        case Per.END:
            return (*values, end)
        case Per.VALUES:
            return values


def _removals(data: WorldData, found: Sequence[_FoundResult]) -> list[Removal]:
    """The events to remove, up to the limit of work."""
    n_rows = np.zeros(data.parts.count)
    for component in data.parts.of_rows:
        np.add.at(n_rows, component, 1)
    cost = n_rows * np.where(data.is_sampled, MOST_WORLDS, np.minimum(data.choices.n_worlds, 2**40))
    removals: dict[Removal, None] = {}
    left = float(ROWS_IN_ALL)
    for one in found:
        fresh = [removal for event in one.events if (removal := Removal(one.component, event.token)) not in removals]
        left -= len(fresh) * float(cost[one.component])
        if left < 0:
            break
        removals.update(dict.fromkeys(fresh))
    return list(removals)


def _examined(
    one: _FoundResult, data: WorldData, again: Sequence[WorldMatches], removals: Sequence[Removal], delta: float
) -> Examined:
    scale, worlds = data.program.scale, one.seen.worlds
    rows = np.flatnonzero((one.seen.identity == one.identity) & (one.seen.variant == 0))
    matches, weights = one.seen.matches, one.seen.weight[rows]
    mine = [part for part in again if part.event is one.seen.event]
    here = worlds.of_component(one.component)
    has = np.isin(here, one.seen.world[rows])
    chances = worlds.weights[here]
    in_part = [np.flatnonzero(component == one.component) for component in data.parts.of_rows]
    outcomes = outcome_codes(worlds, here, one.events, known_times(data.streams, in_part), scale)
    is_exact = worlds.components is not None
    depends = dependences(outcomes, chances, has, None if is_exact else delta)
    if is_exact:
        relevant = with_merged_times(relevant_events(outcomes, chances, has), chances, has)
    else:
        by_event = {found.event: found for found in outcomes}
        relevant = [merged_as(by_event[found.event], found.given) for found in depends[:MOST_IN_A_SAMPLE]]
    return Examined(
        spread_of(matches.start[rows] // scale, weights),
        spread_of(matches.end[rows] // scale, weights),
        influences(mine, one.identity, one.component, removals, one.events, delta),
        tuple(depends),
        tuple(scenarios(relevant, chances, here, has, MOST_SCENARIOS)),
        tuple(scenarios(relevant, chances, here, ~has, MOST_SCENARIOS)),
        int(np.count_nonzero(has)),
        len(here),
        n_uncertain(data, one.component),
        int(one.identity),
        worlds,
    )


def _tokens(part: WorldMatches, row: int) -> Ints:
    tokens: Ints = part.matches.lineage[row : row + 1].flatten().to_numpy(zero_copy_only=False)
    return tokens
