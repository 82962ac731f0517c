"""The distribution over sets of partial matches and values of Markovian streams, for one grounding.

Exact for every query of Lahar's language. A state is the set of partial matches of some worlds, with the values of the
Markovian streams; worlds with the same state are merged, and their probabilities added. The number of states depends on
the data. Within one time, streams move one after the other, so that their outcomes need not be multiplied out. A state
in the middle of a step has the matches before the step, which of these were consumed, the new ones, and whether a match
was completed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.query.probable_events import NO_EVENT, Numbers
from inkling.evaluators.query.sets.steps import GroundingStep, StreamMove, StreamOutcome
from inkling.evaluators.query.sets.successors import Effects, PartialMatch, Roles, Successors
from inkling.kernels.query.live_sets import NEVER, alike, least_of, state_words
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes

Codes = NDArray[np.uint16]
MOST_CODES = 1 << 16
"""The most values of Markovian streams, by the width of `Codes`."""


class TooManySets(Exception):  # noqa: N818
    """There are more sets of partial matches than allowed."""


@dataclass(frozen=True, slots=True)
class LiveSets:
    """States with their probabilities, partial matches, and values of Markovian streams (`chains`).

    Where only the first match counts, `mass` is the probability of worlds without a match so far. States with mass 0
    stay, because they show at which times matches are possible.
    """

    entries: tuple[PartialMatch, ...]
    chains: tuple[int, ...]
    mass: Numbers  # of each state
    starts: Ints  # [state, entry]: the earliest start of a partial match, NEVER where the state does not have it
    values: Codes  # [state, chain]: place of the value in `held`, 0 for no event
    held: tuple[int, ...] = (int(NO_EVENT),)

    @property
    def n_states(self) -> int:
        return len(self.mass)

    @classmethod
    def at_first(cls, exactly: bool) -> LiveSets:
        mass = np.array([Fraction(1)], object) if exactly else np.ones(1)
        return cls((), (), mass, np.empty((1, 0), np.int64), np.empty((1, 0), np.uint16))

    @property
    def is_at_first(self) -> bool:
        return self.n_states == 1 and not self.entries and not self.chains and bool(self.mass[0] == 1)


@dataclass(frozen=True, slots=True)
class Completed:
    """The probability that a match ends now, and its earliest start; NEVER where no match can end."""

    mass: float | Fraction
    start: int


def advanced(
    sets: LiveSets, step: GroundingStep, successors: Successors, most: int, *, once: bool = False
) -> tuple[LiveSets, Completed]:
    """The distribution after a step, and the probability that a match ends; `once` counts first matches only.

    Raises `TooManySets` beyond `most` states.
    """
    within = StepInProgress(sets, step, successors)
    for number in range(len(step.moves)):
        within.take(number)
        if within.n_states > most:
            raise TooManySets
    return within.finished(once)


@dataclass(slots=True)
class StepStates:
    """Some states in the middle of a step."""

    mass: Numbers
    old: Ints  # [state, entry]: matches before the step
    taken: NDArray[np.bool_]  # [state, entry]: consumed in this step
    new: Ints  # [state, entry]: matches that this step made
    done: Ints  # [state, 1]: the earliest start of a completed match
    values: Codes
    path: Ints  # the state before the step

    def at(self, rows: Ints | slice) -> StepStates:
        return StepStates(*(getattr(self, name)[rows] for name in StepStates.__slots__))


class StepInProgress:
    """All states in the middle of a step."""

    def __init__(self, sets: LiveSets, step: GroundingStep, successors: Successors) -> None:
        self._time = step.time
        self._moves = step.moves
        every = [outcome.roles for move in step.moves for some in move.outcomes.values() for outcome in some]
        effects = successors.effects(sets.entries, every)
        entries = dict.fromkeys(sets.entries)
        entries |= dict.fromkeys(entry for one in effects.values() for _, entry in one.made)
        self.entries = tuple(entries)
        self._numbered = _NumberedEffects({entry: number for number, entry in enumerate(entries)}, effects)
        new_chains = dict.fromkeys(move.stream for move in step.moves if move.stream is not None)
        self._chains = tuple(dict.fromkeys((*sets.chains, *new_chains)))
        reached = (one.value for move in step.moves for some in move.outcomes.values() for one in some)
        self._held = tuple(dict.fromkeys((*sets.held, *reached)))
        if len(self._held) > MOST_CODES:
            raise TooManySets
        self._code = {value: code for code, value in enumerate(self._held)}
        n, width = sets.n_states, len(self.entries)
        old = np.full((n, width), NEVER)
        old[:, : len(sets.entries)] = sets.starts
        values = np.zeros((n, len(self._chains)), np.uint16)
        values[:, : len(sets.chains)] = sets.values
        self.states = StepStates(
            sets.mass,
            old,
            np.zeros((n, width), bool),
            np.full((n, width), NEVER),
            np.full((n, 1), NEVER),
            values,
            np.arange(n),
        )
        self._open = [self._numbered.used(move) for move in step.moves]
        self._settle(0)

    @property
    def n_states(self) -> int:
        return len(self.states.mass)

    def take(self, number: int) -> None:
        parts = [self.after(part, outcome, self._moves[number]) for part, outcome in self._cases(self._moves[number])]
        self.states = parts[0] if len(parts) == 1 else _joined(parts)
        self._settle(number + 1)
        if len(parts) > 1:
            self.unite()

    def finished(self, once: bool) -> tuple[LiveSets, Completed]:
        states = self.states
        ends = states.done[:, 0] != NEVER
        mass = states.mass[ends].sum() if ends.any() else states.mass[:0].sum()
        completed = Completed(mass, int(states.done.min(initial=NEVER)))
        if once:
            states.mass = np.where(ends, states.mass * 0, states.mass)
        states.done = np.full_like(states.done, NEVER)
        if ends.any():
            self.unite()
            states = self.states
        live = np.asarray((states.old != NEVER).any(axis=0))
        known = np.asarray(states.values.any(axis=0))
        entries = tuple(entry for entry, is_live in zip(self.entries, live.tolist(), strict=True) if is_live)
        chains = tuple(chain for chain, is_known in zip(self._chains, known.tolist(), strict=True) if is_known)
        values, held = self._still_held(states.values[:, known])
        return LiveSets(entries, chains, states.mass, states.old[:, live], values, held), completed

    def _still_held(self, values: Codes) -> tuple[Codes, tuple[int, ...]]:
        used = np.unique(values[values != 0])
        codes = np.zeros(len(self._held), np.uint16)
        codes[used] = np.arange(1, len(used) + 1)
        return codes[values], (int(NO_EVENT), *(self._held[code] for code in used.tolist()))

    def _cases(self, move: StreamMove) -> list[tuple[StepStates, StreamOutcome]]:
        states = self.states
        if move.anew or move.stream is None:
            return [(states, outcome) for outcome in move.outcomes[0]]
        before = states.values[:, self._chains.index(move.stream)]
        cases = []
        for code in np.unique(before).tolist():
            here = states.at(np.flatnonzero(before == code))
            cases += [(here, outcome) for outcome in move.after(self._held[code])]
        return cases

    def after(self, part: StepStates, outcome: StreamOutcome, move: StreamMove) -> StepStates:
        effect = self._numbered.of(outcome.roles)
        new, done, taken, values = part.new, part.done, part.taken, part.values
        if effect.made or effect.done:
            new, done = new.copy(), done.copy()
            for source, made in effect.made:
                began = self._time if source < 0 else part.old[:, source]
                new[:, made] = np.minimum(new[:, made], began)
            for source in effect.done:
                began = self._time if source < 0 else part.old[:, source]
                done[:, 0] = np.minimum(done[:, 0], began)
        if len(effect.taken):
            taken = taken.copy()
            taken[:, effect.taken] = part.old[:, effect.taken] != NEVER
        if move.stream is not None:
            values = values.copy()
            values[:, self._chains.index(move.stream)] = self._code[outcome.value]
        return StepStates(part.mass * outcome.chance, part.old, taken, new, done, values, part.path)

    def _settle(self, following: int) -> None:
        """Finish the entries that no later stream of this step can change, so that more states are equal."""
        still = set().union(*self._open[following:])
        settled = np.array([number not in still for number in range(len(self.entries))], bool)
        if not settled.any():
            return
        states = self.states
        old, taken, new = states.old.copy(), states.taken.copy(), states.new.copy()
        kept = np.where(taken[:, settled], NEVER, old[:, settled])
        old[:, settled] = np.minimum(kept, new[:, settled])
        taken[:, settled] = False
        new[:, settled] = NEVER
        states.old, states.taken, states.new = old, taken, new

    def unite(self) -> None:
        states = self.states
        number, first = alike(words_of(states))
        if len(first) == len(number):
            return
        mass = _summed(number, len(first), states.mass)
        old, new, done = (least_of(number, first, some) for some in (states.old, states.new, states.done))
        self.states = StepStates(mass, old, states.taken[first], new, done, states.values[first], states.path[first])


@dataclass(frozen=True, slots=True)
class _NumberedEffect:
    """`Effects` with numbers of entries, -1 for the empty match."""

    taken: Ints
    made: tuple[tuple[int, int], ...]
    done: tuple[int, ...]


class _NumberedEffects:
    def __init__(self, numbers: dict[PartialMatch, int], effects: dict[Roles, Effects]) -> None:
        def number(entry: PartialMatch | None) -> int:
            return -1 if entry is None else numbers[entry]

        self._numbered = {
            roles: _NumberedEffect(
                np.array([numbers[entry] for entry in one.taken], np.int64),
                tuple((number(source), numbers[made]) for source, made in one.made),
                tuple(number(source) for source in one.done),
            )
            for roles, one in effects.items()
        }
        self._numbered.setdefault((), _NumberedEffect(np.empty(0, np.int64), (), ()))

    def of(self, roles: Roles) -> _NumberedEffect:
        return self._numbered[roles]

    def used(self, move: StreamMove) -> set[int]:
        """Entries that a move may change or extend."""
        used: set[int] = set()
        for some in move.outcomes.values():
            for outcome in some:
                effect = self._numbered[outcome.roles]
                used |= {*effect.taken.tolist(), *(source for source, _ in effect.made), *effect.done}
        return used


def _joined(parts: Sequence[StepStates]) -> StepStates:
    return StepStates(*(np.concatenate([getattr(part, name) for part in parts]) for name in StepStates.__slots__))


def words_of(states: StepStates) -> Hashes:
    """What makes states equal, as words of bits."""
    return state_words(states.old, states.taken, states.new, states.done, states.values)


def _summed(number: Ints, n: int, mass: Numbers) -> Numbers:
    if mass.dtype == np.object_:
        total = np.array([Fraction(0)] * n, object)
        np.add.at(total, number, mass)
        return total
    return np.bincount(number, mass, n)
