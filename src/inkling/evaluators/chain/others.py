"""Events that prevent a chain: those that NEXT and STRICT would have taken instead, and those that NOT forbids.

A chain of k events has regions of time: before its first event (BEFORE), between events j - 1 and j (region j), and
after its last (AFTER). Each such event must not happen in its regions; in sums, a region is a bit of a mask.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from inkling.analysis.chain import ChainPattern
from inkling.evaluators.chain.conditions import fits
from inkling.evaluators.chain.search_space import FoundChains, PartialChains, SearchSpace
from inkling.kernels.chain.bounds import FAR, LEADING, TRAILING, least_from, narrow, needed_regions
from inkling.kernels.chain.sampled import AFTER, BEFORE
from inkling.logical import plan as p
from inkling.model.batch import Ints
from inkling.model.runs import changes


def rival_links(chain: ChainPattern, links: tuple[int, ...], place: int) -> list[int]:
    """The links whose candidates NEXT would have taken instead, if they happened before the event at a place."""
    group = chain.links[links[place - 1]]
    if not group.eager:
        return [links[place]]
    count = links[:place].count(links[place - 1])
    rivals = [links[place - 1]] if group.high is None or count < group.high else []
    following = links[place - 1] + 1
    if count >= group.low and following < len(chain.links):
        rivals.append(following)
    return rivals


def latest_begin(space: SearchSpace, chains: PartialChains, links: tuple[int, ...]) -> Ints:
    """Per chain, the greatest first tick of an event that can follow it as the last of `links`.

    A rival that certainly happens after the chain, and certainly before a later candidate, prevents that candidate.
    """
    latest = np.full(len(chains), FAR)
    last = chains.hi[:, -1]
    if space.chain.policy is p.Policy.STRICT:
        assert space.scope is not None
        return np.minimum(latest, space.scope.first_to_end_after(chains.key, last))
    if space.chain.policy is p.Policy.NEXT:
        for link in rival_links(space.chain, links, len(links) - 1):
            slot = space.chain.links[link].slot
            if not space.step.leaf(slot).across:
                latest = np.minimum(latest, space.places[slot].first_to_end_after(chains.key, last))
    return latest


def not_too_late(
    space: SearchSpace, chains: PartialChains, links: tuple[int, ...], origin: Ints, rows: Ints
) -> np.ndarray:
    """Which candidates no rival prevents, where rivals depend on the chain (conditions that read earlier events)."""
    kept = np.ones(len(rows), bool)
    if space.chain.policy is not p.Policy.NEXT or not space.step.leaf(space.chain.links[links[-1]].slot).across:
        return kept
    if links[-1] not in rival_links(space.chain, links, len(links) - 1):
        return kept
    lower, upper = space.moments.lower[rows], space.moments.upper[rows]
    surely_after = lower > chains.hi[origin, -1]
    latest = least_from(origin[surely_after], upper[surely_after], len(chains))
    return np.asarray(lower <= latest[origin], bool)


MOST_EVENTS = 60
"""The most events of a chain whose probability is summed: regions are bits of a mask, with LEADING and TRAILING."""


_BITS = {BEFORE: LEADING, AFTER: TRAILING}


@dataclass(frozen=True, slots=True)
class Others:
    """Per chain m, the rows[offsets[m]:offsets[m + 1]] that must not happen in their regions."""

    offsets: Ints
    rows: Ints
    regions: Ints


@dataclass(frozen=True, slots=True)
class _Forbidden:
    """What must not happen in a region: candidates of a slot (None: any event of the scope).

    Conditions of these candidates read the first `n_before` events of the chain.
    """

    region: int
    slot: int | None
    n_before: int


def others_of(space: SearchSpace, found: FoundChains) -> Others:
    """The events that could prevent each of some chains, each with all its regions."""
    owner, rows, regions = [], [], []
    for one, origin, other in _by_region(space, found):
        owner.append(origin)
        rows.append(other)
        regions.append(np.full(len(other), 1 << _BITS.get(one.region, one.region)))
    return _joined(len(found.chains), owner, rows, regions)


def listed_others(space: SearchSpace, found: FoundChains) -> Others:
    """The events that could prevent each of some chains, once for each of their regions, which are numbers here."""
    none = np.empty(0, np.int64)
    owner, rows, regions = [none], [none], [none]
    for one, origin, other in _by_region(space, found) if space.chain.depends_on_others else ():
        owner.append(origin)
        rows.append(other)
        regions.append(np.full(len(other), one.region))
    chain = np.concatenate(owner)
    order = np.argsort(chain, kind="stable")
    offsets = np.searchsorted(chain[order], np.arange(len(found.chains) + 1))
    return Others(offsets, np.concatenate(rows)[order], np.concatenate(regions)[order])


def _by_region(space: SearchSpace, found: FoundChains) -> Iterator[tuple[_Forbidden, Ints, Ints]]:
    """What must not happen in a region, with pairs of a chain and an event that could."""
    chains = found.chains
    for one in _forbidden(space, found.links):
        place = space.scope if one.slot is None else space.places[one.slot]
        assert place is not None
        origin, other = place.around(chains.key, *_reach(chains, one.region, space.window))
        kept = (chains.rows[origin] != other[:, None]).all(axis=1)
        origin, other = origin[kept], other[kept]
        if one.slot is not None and space.step.leaf(one.slot).across:
            slots = found.slots(space.chain)[: one.n_before]
            conditions = space.step.leaf(one.slot).across
            before = chains.rows[origin][:, : one.n_before]
            kept = fits(conditions, space.batch, before, slots, one.slot, other, space.context)
            origin, other = origin[kept], other[kept]
        yield one, origin, other


def _joined(n: int, owner: list[Ints], rows: list[Ints], regions: list[Ints]) -> Others:
    if not owner:
        return Others(np.zeros(n + 1, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
    chain, row, where = np.concatenate(owner), np.concatenate(rows), np.concatenate(regions)
    order = np.lexsort((row, chain))
    chain, row, where = chain[order], row[order], where[order]
    is_new = changes(chain) | changes(row)
    if not is_new.all():
        where = np.bitwise_or.reduceat(where, np.flatnonzero(is_new))
        chain, row = chain[is_new], row[is_new]
    return Others(np.searchsorted(chain, np.arange(n + 1)), row, where)


def _forbidden(space: SearchSpace, links: tuple[int, ...]) -> Iterator[_Forbidden]:
    chain = space.chain
    for place in range(1, len(links)):
        if chain.policy is p.Policy.STRICT:
            yield _Forbidden(place, None, place)
        elif chain.policy is p.Policy.NEXT:
            for link in rival_links(chain, links, place):
                yield _Forbidden(place, chain.links[link].slot, place)
    for absence in chain.absences:
        after = next((place for place, link in enumerate(links) if link >= absence.before), None)
        region = AFTER if after is None else after or BEFORE
        yield _Forbidden(region, absence.slot, len(links))
    if chain.ends_scope:
        yield _Forbidden(AFTER, None, len(links))


def _reach(chains: PartialChains, region: int, window: int) -> tuple[Ints, Ints]:
    """Bounds on events that can happen in a region: the least last tick, and the greatest first tick."""
    lo, hi = chains.lo, chains.hi
    if region == BEFORE:
        return lo[:, -1] - window + 1, hi[:, 0] - 1
    if region == AFTER:
        return lo[:, -1] + 1, hi[:, 0] + window - 1
    return lo[:, region - 1] + 1, hi[:, region] - 1


def settled(space: SearchSpace, found: FoundChains, others: Others) -> tuple[FoundChains, Others]:
    """The chains that others do not prevent in all worlds, with tightened ticks, and the others that still matter."""
    chains, moments = found.chains, space.moments
    lo, hi = chains.lo.copy(), chains.hi.copy()
    window = np.int64(space.window)
    possible = narrow(window, lo, hi, others.offsets, others.rows, others.regions, moments.lower, moments.upper)
    needed = needed_regions(window, lo, hi, others.offsets, others.rows, others.regions, moments.lower, moments.upper)
    kept = (needed != 0) & np.repeat(possible, np.diff(others.offsets))
    before = np.append(0, np.cumsum(kept))[others.offsets]
    sizes = np.diff(before)[possible]
    left = PartialChains(chains.key, chains.places, chains.rows, lo, hi).where(possible)
    return FoundChains(found.links, left), Others(np.append(0, np.cumsum(sizes)), others.rows[kept], needed[kept])
