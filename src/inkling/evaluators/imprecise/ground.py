"""Where chains are looked for: the events of every place, and what limits them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from inkling.analysis.imprecise import Chain
from inkling.evaluators.imprecise.chains import Chains
from inkling.evaluators.imprecise.least import Least
from inkling.evaluators.imprecise.moments import Moments
from inkling.evaluators.imprecise.places import Place
from inkling.logical.evaluate import Surroundings
from inkling.model.batch import EventBatch
from inkling.physical.plan import EventStep


@dataclass(frozen=True, slots=True)
class Ground:
    """The events among which chains are looked for, and the window, in ticks, that they have to fit; 0 for none."""

    step: EventStep
    chain: Chain
    batch: EventBatch
    moments: Moments
    places: Mapping[int, Place]  # by slot
    scope: Place | None  # what STRICT counts
    window: int
    around: Surroundings
    least: Least


@dataclass(frozen=True, slots=True)
class Found:
    """Whole chains; `links` says for each of their events which link of the pattern it belongs to."""

    links: tuple[int, ...]
    chains: Chains

    def slots(self, chain: Chain) -> tuple[int, ...]:
        return tuple(chain.links[link].slot for link in self.links)
