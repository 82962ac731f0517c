"""Open matches of events that are looked for in worlds: the share of the worlds in which each of them waits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.open_matches import Begun, OpenMatch, in_order
from inkling.evaluators.sampling import interval
from inkling.evaluators.worlds.estimate import Names
from inkling.evaluators.worlds.streams.placed import ALTERNATIVE
from inkling.results import SAMPLED


@dataclass(frozen=True, slots=True)
class WorldShares:
    """Estimates probabilities from sampled worlds; `scale` moments of their clock make one of the streams'."""

    n_worlds: int
    delta: float
    scale: int

    def open_matches(self, begun: Iterable[Begun], names: Names) -> list[OpenMatch]:
        """Of the matches that are open in each world, those that are open in any."""
        together: dict[object, list[Begun]] = {}
        for one in begun:
            events = tuple(int(token) | int(ALTERNATIVE) for token in one.lineage)  # type: ignore[call-overload]
            together.setdefault((one.way, one.reached, events), []).append(one)
        if not together:
            return []
        groups = list(together.values())
        hits = np.array([len({one.world for one in group}) for group in groups], np.int64)
        low, high = interval(hits, self.n_worlds, self.delta)
        share = hits / self.n_worlds
        error = np.maximum(share - low, high - share)
        firsts = [min(group, key=lambda one: one.world) for group in groups]  # type: ignore[arg-type,return-value]
        lineages = names.named(pa.array([one.lineage for one in firsts], pa.list_(pa.int64()))).to_pylist()
        return in_order(
            [self._summed(*of_one) for of_one in zip(groups, lineages, share.tolist(), error.tolist(), strict=True)]
        )

    def _summed(self, group: Sequence[Begun], lineage: list[object], share: float, error: float) -> OpenMatch:
        one = group[0]
        limits = [each.latest for each in group if each.latest is not None]
        return OpenMatch(
            one.reached,
            one.parts,
            one.awaits,
            min(each.start for each in group) // self.scale,
            max(each.end for each in group) // self.scale,
            max(limits) // self.scale if limits else None,
            tuple(lineage),
            share,
            SAMPLED,
            error,
        )
