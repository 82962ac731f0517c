"""Hidden Markov models by the definition: every path of hidden states with its weight, in fractions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from random import Random

import numpy as np
from tests.kit.exact_kernels import uncompiled

from inkling.infer.model import Model
from inkling.infer.steps import likelihoods
from inkling.kernels.inference import belief_rows, hidden_states
from inkling.kernels.inference.hidden_states import DONE, Moves, Seen

Path = tuple[int, ...]


def fractions(rows: list[list[Fraction]]) -> np.ndarray:
    out = np.empty((len(rows), len(rows[0])), object)
    for number, row in enumerate(rows):
        out[number] = row
    return out


@dataclass(frozen=True)
class Case:
    """A model and what was heard at each step: of each reader, whether it read."""

    prior: list[Fraction]
    movement: list[list[Fraction]]  # [previous][state]
    read: list[list[Fraction]]  # [reader][state]
    heard: list[tuple[bool, ...]]  # [step][reader]

    @property
    def n_states(self) -> int:
        return len(self.prior)

    def likelihood(self, step: int, state: int) -> Fraction:
        return prod(
            (row[state] if was else 1 - row[state] for row, was in zip(self.read, self.heard[step], strict=True)),
            start=Fraction(1),
        )

    def weights(self, n_steps: int | None = None) -> dict[Path, Fraction]:
        """Every path of the first steps that is possible, with the joint chance of it and of what was heard."""
        n = len(self.heard) if n_steps is None else n_steps
        found = {}
        for path in product(range(self.n_states), repeat=n):
            weight = self.prior[path[0]] * prod(self.movement[a][b] for a, b in pairwise(path))
            weight *= prod(self.likelihood(step, state) for step, state in enumerate(path))
            if weight:
                found[path] = weight
        return found

    def posterior(self, n_steps: int | None = None) -> dict[Path, Fraction]:
        weights = self.weights(n_steps)
        total = sum(weights.values())
        return {path: weight / total for path, weight in weights.items()}

    def model(self) -> Model:
        """As the package holds it, still in fractions."""
        moves = [(a, b, p) for a, row in enumerate(self.movement) for b, p in enumerate(row) if p]
        offsets = np.searchsorted([a for a, _, _ in moves], np.arange(self.n_states + 1)).astype(np.int64)
        chance = np.array([p for _, _, p in moves], object)
        states = tuple("abcdefgh"[: self.n_states])
        outcomes = tuple((f"r{number}", None) for number in range(len(self.read)))
        target = np.array([b for _, b, _ in moves], np.int32)
        read = fractions(self.read)
        return Model(states, np.array(self.prior, object), Moves(offsets, target, chance), outcomes, read)

    def seen(self, model: Model) -> Seen:
        """All steps, each with an observation of its own."""
        n_readers = len(self.read)
        heard = np.array(
            [[reader if was[reader] else -1 for reader in range(n_readers)] for was in self.heard], np.int32
        )
        n = len(self.heard)
        return Seen(np.array([0, n]), np.arange(n, dtype=np.int32), likelihoods(heard, model))


@dataclass(frozen=True)
class Passed:
    """What the kernels, as they are written, make of a case in fractions; `stuck` if it is impossible."""

    stuck: int
    filtered: np.ndarray
    smoothed: np.ndarray
    ahead: np.ndarray
    totals: np.ndarray


def passed(case: Case) -> Passed:
    model = case.model()
    seen = case.seen(model)
    shape = (len(case.heard), case.n_states)
    filtered, ahead, totals = np.zeros(shape, object), np.zeros(shape, object), np.zeros(shape[0], object)
    forward, backward, smooth = map(uncompiled, (hidden_states.forward, hidden_states.backward, hidden_states.smooth))
    stuck = forward(
        seen, model.prior, model.moves, np.zeros((1, shape[1]), object), np.zeros(1, bool), filtered, totals
    )
    smoothed = filtered.copy()
    if stuck == DONE:
        assert backward(seen, model.moves, ahead) == DONE
        assert smooth(smoothed, ahead) == DONE
    return Passed(stuck, filtered, smoothed, ahead, totals)


Row = tuple[int, int, int, Fraction]
"""Step, state before or -1, state, probability."""


def chain(case: Case, prune: Fraction = Fraction(0)) -> tuple[list[Row], Fraction]:
    """Rows of the smoothed chain, and the error that is claimed for it."""
    found = passed(case)
    model = case.model()
    error = np.zeros(1, object)
    rows = uncompiled(belief_rows.chain_rows)
    given = (case.seen(model), model.moves, found.smoothed, found.ahead, prune, error)
    nothing = np.zeros(0, np.int64)
    n = rows(*given, nothing, nothing, nothing, nothing)
    step, previous, state, prob = (np.zeros(n, kind) for kind in (np.int64, np.int64, np.int64, object))
    assert rows(*given, step, previous, state, prob) == n
    return list(zip(step.tolist(), previous.tolist(), state.tolist(), prob.tolist(), strict=True)), error[0]


def marginals(case: Case, prune: Fraction) -> tuple[list[tuple[int, int, Fraction]], Fraction]:
    """Rows of filtered marginals, and the error that is claimed for them."""
    found = passed(case)
    error = np.zeros(1, object)
    keys = np.array([0, len(case.heard)])
    rows = uncompiled(belief_rows.marginal_rows)
    nothing = np.zeros(0, np.int64)
    given = (keys, found.filtered, prune, np.zeros(case.n_states, object), error)
    n = rows(*given, nothing, nothing, nothing)
    step, state, prob = (np.zeros(n, kind) for kind in (np.int64, np.int64, object))
    assert rows(*given, step, state, prob) == n
    return list(zip(step.tolist(), state.tolist(), prob.tolist(), strict=True)), error[0]


def paths_of(rows: list[Row], n_steps: int) -> dict[Path, Fraction]:
    """The distribution over paths that rows of a chain describe."""
    found: dict[Path, Fraction] = {(): Fraction(1)}
    for step in range(n_steps):
        longer: dict[Path, Fraction] = {}
        for path, weight in found.items():
            before = path[-1] if path else -1
            for at, previous, state, prob in rows:
                if at == step and previous == before:
                    longer[(*path, state)] = weight * prob
        found = longer
    return found


def random_distribution(random: Random, n: int, parts: int = 6) -> list[Fraction]:
    """Chances of `parts`-ths, some of them 0."""
    counts = [0] * n
    for _ in range(parts):
        counts[random.randrange(n)] += 1
    return [Fraction(count, parts) for count in counts]


def random_case(random: Random) -> Case:
    n_states, n_readers, n_steps = random.randint(1, 3), random.randint(1, 2), random.randint(1, 4)
    return Case(
        random_distribution(random, n_states),
        [random_distribution(random, n_states) for _ in range(n_states)],
        [[Fraction(random.randint(0, 6), 6) for _ in range(n_states)] for _ in range(n_readers)],
        [tuple(random.random() < 0.4 for _ in range(n_readers)) for _ in range(n_steps)],
    )


def random_cases(seed: int, n: int) -> Iterator[Case]:
    random = Random(seed)
    for _ in range(n):
        yield random_case(random)


def possible_cases(seed: int, n: int) -> Iterator[Case]:
    cases = (case for case in random_cases(seed, 10 * n) if case.weights())
    for _ in range(n):
        yield next(cases)
