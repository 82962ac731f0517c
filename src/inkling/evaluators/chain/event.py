"""One event over imprecise times: its chains as matches, each with its probability (confidence of a match).

The event-based framework of Zhang, Diao and Immerman (section 5): search chains by intervals, bound the ticks that each
event can have, then compute the probability of each chain by sums over ticks. For example, under ANY:

    a in [1, 3], b in [2, 4], uniform    →  P[a before b] = (3 + 2 + 1) / 9; equal ticks are no match
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from inkling.analysis.chain import ChainPattern
from inkling.evaluators.chain.conditions import gathered
from inkling.evaluators.chain.confidence import COMPILED, MOST_STEPS, ChainConfidence, Rivals, confidence_of
from inkling.evaluators.chain.estimates import Estimates
from inkling.evaluators.chain.growth import grown
from inkling.evaluators.chain.matches import BELOW_ONE, Interval, ProbableMatches, too_costly, window_in_ticks
from inkling.evaluators.chain.moments import Moments
from inkling.evaluators.chain.others import MOST_EVENTS, listed_others, others_of, settled
from inkling.evaluators.chain.search_space import Candidates, FoundChains, LeastProbability, SearchSpace
from inkling.evaluators.gather import lineage_ids
from inkling.evaluators.memory import working_on
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows.batches import comes_from, rows_passing
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.model.batch import UNORDERED, EventBatch, Mask, MatchBatch
from inkling.model.hashes import Hashes, combined, hashes_of
from inkling.model.time import Clock
from inkling.physical.plan import EventStep
from inkling.results import (
    EXACT,
    ROUNDING,
    SAMPLED,
    UNDECIDED,
    Matches,
    most_probable,
    public_table,
    reaches,
    result_schema,
)

WITH_OTHERS = 1 << 13
"""The most chains for which the events that could prevent them are listed at once."""


@dataclass(frozen=True, slots=True)
class ChainEvent:
    """Answers one event that is a chain; a tick has `grid` units of the clock."""

    step: EventStep
    chain: ChainPattern
    context: ExpressionContext
    grid: int = 1
    sampling: Sampling | None = None  # for probabilities that would take too long to compute; None: these are errors

    @property
    def window(self) -> int:
        """The length of the window in ticks, first and last tick included; 0 for none."""
        return window_in_ticks(self.chain.within, self.context, self.grid)

    def evaluate(
        self,
        batch: EventBatch,
        moments: Moments,
        n_keys: int,
        *,
        first: Mask | None = None,
        newest: Mask | None = None,
        kernels: SimpleNamespace = COMPILED,
        most_steps: float = MOST_STEPS,
        by_tables: bool = False,
    ) -> list[ProbableMatches]:
        """All possible matches; `first` selects their first events, and one event must be in `newest`.

        Matches that cannot reach CONFIDENCE or TOP may be left out. `by_tables` uses shared tables even where they do
        not pay off.
        """
        working_on(self.step.event.name)
        space = self.space(batch, moments, n_keys)
        rivals = self._rivals(space, always=by_tables)
        return list(self._found(space, rivals, first, newest, kernels, most_steps))

    def _found(
        self,
        space: SearchSpace,
        rivals: Rivals | None,
        first: Mask | None,
        newest: Mask | None,
        kernels: SimpleNamespace,
        most_steps: float,
    ) -> Iterator[ProbableMatches]:
        if any(one.before in (0, len(self.chain.links)) for one in self.chain.absences):
            assert space.window > 0, "an absence at the border of a sequence needs a limit"
        for whole in self._once(space, (self._passing(space, one) for one in grown(space, first, newest))):
            for some in self._in_pieces(space, whole, kernels):
                found, confidence = self._summed(space, some, rivals, kernels, most_steps)
                if len(found.chains):
                    yield self._matches(space, found, confidence)

    def weighed(self, space: SearchSpace, found: FoundChains) -> tuple[FoundChains, ChainConfidence]:
        """The chains that other events do not prevent in all worlds, with their exact probabilities."""
        found, confidence = self._summed(space, found, None, COMPILED, MOST_STEPS)
        if not confidence.found.all():
            raise too_costly(self.step.event.name, int(np.count_nonzero(~confidence.found)), len(found.links))
        return found, confidence

    def _summed(
        self, space: SearchSpace, found: FoundChains, rivals: Rivals | None, kernels: SimpleNamespace, most_steps: float
    ) -> tuple[FoundChains, ChainConfidence]:
        """The chains that other events do not prevent in all worlds, with the probabilities that can be summed."""
        others = None
        if self.chain.depends_on_others:
            if len(found.links) > MOST_EVENTS:
                return found, ChainConfidence.unknown(found.chains)
            found, others = settled(space, found, others_of(space, found))
        return found, confidence_of(found.chains, others, space.moments, space.window, rivals, kernels, most_steps)

    def _in_pieces(self, space: SearchSpace, found: FoundChains, kernels: SimpleNamespace) -> Iterator[FoundChains]:
        """Chains that may reach the least probability, in portions of WITH_OTHERS where others can prevent them."""
        chains = space.least.possible(found.chains, space.moments)
        if not self.chain.depends_on_others:
            if len(chains):
                yield FoundChains(found.links, chains)
            return
        for at in range(0, len(chains), WITH_OTHERS):
            some = chains.take(np.arange(at, min(at + WITH_OTHERS, len(chains))))
            if space.least.chance > 0:
                alone = confidence_of(some, None, space.moments, space.window, None, kernels)
                some = some.where(np.asarray(alone.chance >= space.least.chance, bool))
            if len(some):
                yield FoundChains(found.links, some)

    def _once(self, space: SearchSpace, found: Iterable[FoundChains]) -> Iterator[FoundChains]:
        """Each chain once, where the same events may be divided among the links in several ways.

        Under ANY all divisions have the same probability; the result has the values of the first one.
        """
        if not self.chain.divided:
            yield from found
            return
        by_length: dict[int, list[FoundChains]] = {}
        for one in found:
            by_length.setdefault(len(one.links), []).append(one)
        for some in by_length.values():
            some.sort(key=lambda one: one.links)
            identity = np.concatenate([self._identities(space, one) for one in some])
            _, firsts = np.unique(identity, return_index=True)
            is_first = np.zeros(len(identity), bool)
            is_first[firsts] = True
            borders = np.cumsum([len(one.chains) for one in some])[:-1]
            for one, mask in zip(some, np.split(is_first, borders), strict=True):
                yield FoundChains(one.links, one.chains.where(mask))

    def _identities(self, space: SearchSpace, found: FoundChains) -> Hashes:
        """What distinguishes results: the events in order, and the head."""
        chains, event = found.chains, self.step.event
        resolve, n = gathered(space.batch, chains.rows, found.slots(self.chain)), len(chains)
        head = (
            evaluate(one.expr, resolve, n, self.context).cast(ARROW_TYPES[one.type], safe=False) for one in event.head
        )
        return combined(*(column.view(np.uint64) for column in chains.rows.T.copy()), *map(hashes_of, head))

    def space(self, batch: EventBatch, moments: Moments, n_keys: int) -> SearchSpace:
        """The search space: the candidates of every link and absence."""
        slots = [*(link.slot for link in self.chain.links), *(one.slot for one in self.chain.absences)]
        places = {
            slot: Candidates.of(rows_passing(self.step.leaf(slot), batch), batch, moments, n_keys)
            for slot in dict.fromkeys(slots)
        }
        scope = None
        if self.chain.policy is p.Policy.STRICT:
            inside = np.flatnonzero(comes_from(batch, self.step.scope))
            scope = Candidates.of(inside, batch, moments, n_keys)
        least = LeastProbability(self.step.event)
        return SearchSpace(self.step, self.chain, batch, moments, places, scope, self.window, self.context, least)

    def _rivals(self, space: SearchSpace, *, always: bool) -> Rivals | None:
        """The rival candidates of all links; None where they depend on the chain."""
        chain = self.chain
        if chain.policy is not p.Policy.NEXT or chain.absences or not chain.is_fixed:
            return None
        if any(self.step.leaf(link.slot).across for link in chain.links):
            return None
        places = [space.places[link.slot] for link in chain.links]
        rows = np.concatenate([place.rows for place in places])
        if len(np.unique(rows)) < len(rows):
            return None
        begins = np.append(0, np.cumsum([len(place.rows) for place in places]))
        widest = np.array([place.widest for place in places])
        return Rivals(begins, np.stack([place.offsets for place in places]), rows, widest, always)

    def _passing(self, space: SearchSpace, found: FoundChains) -> FoundChains:
        having = self.step.event.having
        chains = found.chains
        for condition in having:
            resolve = gathered(space.batch, chains.rows, found.slots(self.chain))
            chains = chains.where(truth_of(condition, resolve, len(chains), self.context))
        return found if chains is found.chains else FoundChains(found.links, chains)

    def _matches(self, space: SearchSpace, found: FoundChains, confidence: ChainConfidence) -> ProbableMatches:
        chance, estimated = confidence.chance, None
        if chance.dtype != object:
            chance = np.where(confidence.certain, 1.0, np.clip(chance, 0.0, BELOW_ONE))
        if not confidence.found.all():
            missing = np.flatnonzero(~confidence.found)
            chains = found.chains.take(missing)
            estimates = Estimates(self.step.event, space.batch, space.moments, self.sampling)
            others = listed_others(space, FoundChains(found.links, chains))
            estimated = Interval.exact(chance).replaced(missing, estimates.of_chains(chains, others, space.window))
            chance = estimated.chance
        space.least.found(chance)
        kept = np.flatnonzero(chance > 0)
        chains = found.chains.take(kept)
        event, batch, n, k = self.step.event, space.batch, len(chains), len(found.links)
        resolve = gathered(batch, chains.rows, found.slots(self.chain))
        values = {
            output.name: evaluate(output.expr, resolve, n, self.context).cast(ARROW_TYPES[output.type], safe=False)
            for output in (*event.head, *event.returns)
        }
        start, end = confidence.first[kept] * self.grid, confidence.last[kept] * self.grid
        known = end
        if any(all(link < one.before for link in found.links) for one in self.chain.absences):
            known = np.maximum(end, (chains.hi[:, 0] + self.window - 1) * self.grid)
        matches = MatchBatch(
            event.name,
            chains.key,
            start,
            np.full(n, -UNORDERED),
            end,
            np.full(n, UNORDERED),
            known,
            values,
            lineage_ids(batch, np.arange(n + 1) * k, chains.rows.ravel()),
        )
        return ProbableMatches(matches, chance[kept], None if estimated is None else estimated.take(kept))


def results_of(event: EventPlan, found: Iterable[ProbableMatches], id_type: pa.DataType, clock: Clock) -> pa.Table:
    """Results of one event."""
    schema = result_schema(event, id_type, clock)
    tables = [public_table(event, probable_enough(event, some), clock) for some in found]
    if not tables:
        return schema.empty_table()
    every = pa.concat_tables(tables).cast(schema)
    return every if event.top is None else most_probable(every, event.top)


def probable_enough(event: EventPlan, some: ProbableMatches) -> Matches:
    """The matches that reach CONFIDENCE."""
    found = some.estimated or Interval.exact(some.chance)
    kept = np.flatnonzero(reaches(found.high, event.confidence, ROUNDING))
    matches = some.matches if len(kept) == len(found.high) else some.matches.take(kept)
    found = found.take(kept)
    if some.estimated is None:
        return Matches.of(matches, found.chance, np.zeros(len(kept)), EXACT)
    method = np.where(found.low == found.high, EXACT, SAMPLED).astype(object)
    if event.confidence is not None:
        method[~reaches(found.low, event.confidence, ROUNDING)] = UNDECIDED
    return Matches.of(matches, found.chance, np.maximum(found.chance - found.low, found.high - found.chance), method)
