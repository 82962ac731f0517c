"""The search for chains: partial chains grow place by place, as long as ticks are left for all events.

Under ANY with a fixed number of events, places are filled in the order of the pattern, or rare ones first (Zhang, Diao,
Immerman, sections 5.2 and 5.3: any-state evaluation in selectivity order). With repetitions, NEXT or STRICT, chains
grow event by event in the order of the pattern (section 5.1: query-order evaluation).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from inkling.analysis.chain import ChainPattern
from inkling.evaluators.chain.conditions import asks_for_previous, fits, gathered, slots_in
from inkling.evaluators.chain.others import latest_begin, not_too_late
from inkling.evaluators.chain.search_space import (
    Candidates,
    FoundChains,
    PartialChains,
    SearchSpace,
    begun,
    filled,
    room_for,
)
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.kernels.chain.bounds import FAR
from inkling.logical import plan as p
from inkling.model.batch import Ints, Mask

AT_ONCE = 1 << 16
"""The most partial chains that grow together."""

RARE = 4
"""A place is filled before the first one if it has so many times fewer candidates."""


def grown(space: SearchSpace, first: Mask | None = None, newest: Mask | None = None) -> Iterator[FoundChains]:
    """All complete chains; `first` selects their first events, and one event must be in `newest`."""
    if not space.chain.is_fixed or space.chain.policy is not p.Policy.ANY:
        yield from _unfolded(space, first, newest)
        return
    places = [space.places[link.slot] for link in space.chain.links]
    if first is not None:
        places[0] = places[0].only(first)
    if newest is None:
        yield from _filled(space, places, _order(places))
        return
    for number, place in enumerate(places):
        seeds = [one.only(~newest) for one in places[:number]] + [place.only(newest)] + places[number + 1 :]
        yield from _filled(space, seeds, _order(seeds, number))


def _order(places: Sequence[Candidates], first: int | None = None) -> list[int]:
    """The order in which places are filled: that of the pattern, or rare places first."""
    sizes = [len(place.rows) for place in places]
    if first is None and min(sizes) * RARE >= sizes[0]:
        return list(range(len(places)))
    rest = sorted(range(len(places)), key=lambda number: (number != first, sizes[number], number))
    return rest


def _filled(space: SearchSpace, places: Sequence[Candidates], order: Sequence[int]) -> Iterator[FoundChains]:
    if any(not len(place.rows) for place in places) or 0 < space.window < len(places):
        return
    links = tuple(range(len(places)))
    seeds = places[order[0]].rows
    for at in range(0, len(seeds), AT_ONCE):
        rows = seeds[at : at + AT_ONCE]
        chains = begun(order[0], rows, space.batch.key[rows], space.moments)
        for whole in _with_places(space, chains, places, order[1:]):
            yield FoundChains(links, whole)


def _with_places(
    space: SearchSpace, chains: PartialChains, places: Sequence[Candidates], order: Sequence[int]
) -> Iterator[PartialChains]:
    if not len(chains):
        return
    if not order:
        yield chains
        return
    if len(chains) > AT_ONCE:
        for at in range(0, len(chains), AT_ONCE):
            yield from _with_places(space, chains.take(np.arange(at, min(at + AT_ONCE, len(chains)))), places, order)
        return
    place, n = order[0], len(places)
    least, most = room_for(chains, place, n, space.window, FAR)
    origin, rows = places[place].around(chains.key, least, most)
    longer = filled(chains, place, origin, rows, space.moments, n, space.window)
    longer = space.least.possible(longer, space.moments)
    yield from _with_places(space, _passing(space, longer, place), places, order[1:])


def _passing(space: SearchSpace, chains: PartialChains, place: int) -> PartialChains:
    """The chains that satisfy the conditions that can be evaluated since this place is filled."""
    slots = tuple(space.chain.links[number].slot for number in chains.places)
    new = space.chain.links[place].slot
    for slot in slots:
        for condition in space.step.leaf(slot).across:
            asked = slots_in(condition)
            if new in asked and asked <= set(slots) and len(chains) and not asks_for_previous(condition):
                resolve = gathered(space.batch, chains.rows, slots)
                chains = chains.where(truth_of(condition, resolve, len(chains), space.context))
    return chains


def _unfolded(space: SearchSpace, first: Mask | None, newest: Mask | None) -> Iterator[FoundChains]:
    """Chains of every length, grown event by event."""
    links = space.chain.links
    for link, one in enumerate(links):
        place = space.places[one.slot]
        rows = place.rows if first is None else place.only(first).rows
        alone = np.empty((len(rows), 0), np.int64)
        rows = rows[fits(space.step.leaf(one.slot).across, space.batch, alone, (), one.slot, rows, space.context)]
        for at in range(0, len(rows), AT_ONCE):
            some = rows[at : at + AT_ONCE]
            chains = begun(0, some, space.batch.key[some], space.moments)
            for found in _longer(space, chains, (link,)):
                whole = found.chains
                if newest is not None:
                    whole = whole.where(np.asarray(newest[whole.rows].any(axis=1), bool))
                if len(whole):
                    yield FoundChains(found.links, whole)
        if one.low > 0:
            return


def _longer(space: SearchSpace, chains: PartialChains, shape: tuple[int, ...]) -> Iterator[FoundChains]:
    """Chains of a shape (the link of each event), if it is complete, and all longer chains that continue them."""
    if not len(chains):
        return
    if len(chains) > AT_ONCE:
        for at in range(0, len(chains), AT_ONCE):
            yield from _longer(space, chains.take(np.arange(at, min(at + AT_ONCE, len(chains)))), shape)
        return
    if not _missing(space.chain, shape):
        yield FoundChains(shape, chains)
    for link in _next_links(space.chain, shape):
        longer = (*shape, link)
        yield from _longer(space, _followed(space, chains, longer), longer)


def _followed(space: SearchSpace, chains: PartialChains, shape: tuple[int, ...]) -> PartialChains:
    place, slot = len(shape) - 1, space.chain.links[shape[-1]].slot
    length = len(shape) + _missing(space.chain, shape)
    if 0 < space.window < length:
        return chains.take(np.empty(0, np.int64))
    least, most = room_for(chains, place, length, space.window, FAR)
    most = np.minimum(most, latest_begin(space, chains, shape))
    origin, rows = space.places[slot].around(chains.key, least, most)
    before = tuple(space.chain.links[link].slot for link in shape[:-1])
    kept = _fitting(space, chains.rows, origin, before, slot, rows)
    origin, rows = origin[kept], rows[kept]
    kept = not_too_late(space, chains, shape, origin, rows)
    longer = filled(chains, place, origin[kept], rows[kept], space.moments, length, space.window)
    return space.least.possible(longer, space.moments)


def _fitting(space: SearchSpace, chains: Ints, origin: Ints, slots: tuple[int, ...], slot: int, rows: Ints) -> Mask:
    conditions = space.step.leaf(slot).across
    if not conditions:
        return np.ones(len(rows), bool)
    return fits(conditions, space.batch, chains[origin], slots, slot, rows, space.context)


def _missing(chain: ChainPattern, shape: tuple[int, ...]) -> int:
    """How many events a chain of a shape still needs at least."""
    count = shape.count(shape[-1])
    return max(0, chain.links[shape[-1]].low - count) + sum(link.low for link in chain.links[shape[-1] + 1 :])


def _next_links(chain: ChainPattern, shape: tuple[int, ...]) -> Iterator[int]:
    """The links that the next event of a chain may belong to."""
    current, count = shape[-1], shape.count(shape[-1])
    high = chain.links[current].high
    if high is None or count < high:
        yield current
    if count < chain.links[current].low:
        return
    for link in range(current + 1, len(chain.links)):
        yield link
        if chain.links[link].low > 0:
            return
