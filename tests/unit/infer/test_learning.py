"""Learning from readings: one round is what all paths counted out say, and no round makes readings less probable."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
from inkling.examples.building import corridor
from tests.kit.exact_kernels import uncompiled
from tests.unit.infer.paths import Case, passed, possible_cases

from inkling import infer
from inkling.infer.learning import Counts, improved, reports
from inkling.infer.model import Model
from inkling.kernels.inference import hidden_states


def counted(case: Case) -> Counts:
    """The expected counts of the kernel, in fractions."""
    found, model = passed(case), case.model()
    seen = case.seen(model)
    moved, began = np.zeros(len(model.moves.target), object), np.zeros(case.n_states, object)
    held = np.zeros(seen.likelihood.shape, object)
    count = uncompiled(hidden_states.expected_counts)
    count(seen, model.moves, found.smoothed, found.ahead, moved, held, began)
    heard = np.array([[r if was[r] else -1 for r in range(len(was))] for was in case.heard], np.int32)
    return Counts(began, moved, reports(held, heard, len(model.outcomes)), held.sum(axis=0), 0.0)


def test_a_round_is_what_all_paths_say() -> None:
    for case in possible_cases(seed=31, n=150):
        counts, posterior, model = counted(case), case.posterior(), case.model()
        sources = np.repeat(np.arange(case.n_states), np.diff(model.moves.offsets))
        for move, (source, target) in enumerate(zip(sources, model.moves.target, strict=True)):
            times = sum(p * list(pairwise(path)).count((source, target)) for path, p in posterior.items())
            assert counts.moved[move] == times
        for state in range(case.n_states):
            assert counts.began[state] == sum(p for path, p in posterior.items() if path[0] == state)
            assert counts.held[state] == sum(p * path.count(state) for path, p in posterior.items())
            for reader in range(len(case.read)):
                at = [step for step, was in enumerate(case.heard) if was[reader]]
                expected = sum(p * sum(path[step] == state for step in at) for path, p in posterior.items())
                assert counts.reported[reader, state] == expected
        better = improved(model, counts, movement=True, readers=True, prior=True)
        assert better.prior.sum() == 1
        sums = [sum(better.moves.chance[sources == state]) for state in range(case.n_states)]
        assert sums == [1] * case.n_states
        moves = [[Fraction(0)] * case.n_states for _ in range(case.n_states)]
        for source, target, p in zip(sources, model.moves.target, better.moves.chance, strict=True):
            moves[source][target] = p
        learned = Case(list(better.prior), moves, [list(row) for row in better.chance], case.heard)
        assert sum(learned.weights().values()) >= sum(case.weights().values())


def test_readers_that_were_guessed_are_learned() -> None:
    walked = corridor.walk(people=20, seconds=200, seed=5)
    guessed = corridor.readers().to_pandas()
    guessed["p"] = guessed["p"].clip(0.1, 0.4)
    model = Model.of(corridor.movement(), guessed, corridor.prior())
    found = infer.learn(walked.readings, model, key="person", rounds=15, movement=False)
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(found.log_likelihood))
    truth = Model.of(corridor.movement(), corridor.readers(), corridor.prior()).chance
    assert np.abs(found.model.chance - truth).mean() < 0.25 * np.abs(model.chance - truth).mean()
    assert found.model.prior.tolist() == model.prior.tolist()
    assert Model.of(**found.model.tables()).states == model.states


def test_rounds_end_when_nothing_is_gained() -> None:
    walked = corridor.walk(people=3, seconds=30, seed=5)
    model = Model.of(corridor.movement(), corridor.readers(), corridor.prior())
    found = infer.learn(walked.readings, model, key="person", least_gain=1.0)
    assert len(found.log_likelihood) == 2
