"""What NEXT and STRICT would have taken instead of an event, had it come before."""

from __future__ import annotations

import numpy as np

from inkling.analysis.imprecise import Chain
from inkling.evaluators.imprecise.chains import Chains
from inkling.evaluators.imprecise.ground import Ground
from inkling.kernels.chain_bounds import FAR, least_from
from inkling.logical import plan as p
from inkling.model.batch import Ints


def rival_links(chain: Chain, links: tuple[int, ...], place: int) -> list[int]:
    """The links whose candidates NEXT would have taken, had they come before the event at a place."""
    group = chain.links[links[place - 1]]
    if not group.eager:
        return [links[place]]
    count = links[:place].count(links[place - 1])
    rivals = [links[place - 1]] if group.high is None or count < group.high else []
    following = links[place - 1] + 1
    if count >= group.low and following < len(chain.links):
        rivals.append(following)
    return rivals


def latest_begin(ground: Ground, chains: Chains, links: tuple[int, ...]) -> Ints:
    """Per chain, the latest first tick of what can follow it as the last of `links`.

    Something that surely comes after the chain, and surely before a later event, would have been taken instead of it.
    """
    latest = np.full(len(chains), FAR)
    last = chains.hi[:, -1]
    if ground.chain.policy is p.Policy.STRICT:
        assert ground.scope is not None
        return np.minimum(latest, ground.scope.first_to_end_after(chains.key, last))
    if ground.chain.policy is p.Policy.NEXT:
        for link in rival_links(ground.chain, links, len(links) - 1):
            slot = ground.chain.links[link].slot
            if not ground.step.leaf(slot).across:
                latest = np.minimum(latest, ground.places[slot].first_to_end_after(chains.key, last))
    return latest


def not_too_late(ground: Ground, chains: Chains, links: tuple[int, ...], origin: Ints, rows: Ints) -> np.ndarray:
    """The same for candidates that depend on what is bound before: which of them no other one makes too late."""
    kept = np.ones(len(rows), bool)
    if ground.chain.policy is not p.Policy.NEXT or not ground.step.leaf(ground.chain.links[links[-1]].slot).across:
        return kept
    if links[-1] not in rival_links(ground.chain, links, len(links) - 1):
        return kept
    lower, upper = ground.moments.lower[rows], ground.moments.upper[rows]
    surely_after = lower > chains.hi[origin, -1]
    latest = least_from(origin[surely_after], upper[surely_after], len(chains))
    return np.asarray(lower <= latest[origin], bool)
