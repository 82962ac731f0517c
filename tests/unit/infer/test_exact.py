"""Filtered, smoothed and likeliest states, beside all paths counted out, in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from tests.kit.exact_kernels import uncompiled
from tests.unit.infer.paths import Case, chain, passed, paths_of, possible_cases, random_cases

import inkling
from inkling import infer
from inkling.infer.estimates import EstimateKind, InferenceTask, forward_pass, smoothed_pass
from inkling.infer.model import Model
from inkling.infer.readings import readings_of
from inkling.infer.settings import Grid, Names
from inkling.infer.steps import StepExtent, blocks
from inkling.io import read_table
from inkling.kernels.inference import hidden_states
from inkling.kernels.inference.hidden_states import DONE
from inkling.model.time import Clock

F = Fraction
OFFICE, HALL = 0, 1
JOE = Case(
    [F(1, 2), F(1, 2)], [[F(3, 4), F(1, 4)], [F(1, 2), F(1, 2)]], [[F(0), F(2, 3)]], [(True,), (False,), (False,)]
)
"""An office and a hall with a reader: it reads Joe, and then twice nothing."""

JOE_READ = [{"key": "joe", "t": 1, "reader": "r"}, {"key": "joe", "t": 3, "reader": None}]


def joes_model() -> Model:
    moves = [("O", "O", 0.75), ("O", "H", 0.25), ("H", "O", 0.5), ("H", "H", 0.5)]
    movement = [{"previous": a, "state": b, "p": p} for a, b, p in moves]
    return Model.of(movement, [{"reader": "r", "state": "H", "p": 2 / 3}])


def test_filtered_and_smoothed_marginals_of_joe() -> None:
    found = passed(JOE)
    assert found.filtered[:, HALL].tolist() == [1, F(1, 4), F(5, 38)]
    assert found.smoothed[:, HALL].tolist() == [1, F(4, 19), F(5, 38)]


def test_conditional_tables_of_joe() -> None:
    found, model = passed(JOE), JOE.model()
    seen = JOE.seen(model)
    conditional = uncompiled(hidden_states.conditional)

    def after(state: int, step: int) -> list[Fraction]:
        out = np.zeros(2, object)
        assert conditional(state, model.moves, seen.likelihood[step], found.ahead[step], out)
        return out.tolist()

    assert after(HALL, 1) == [F(15, 19), F(4, 19)]
    assert after(OFFICE, 1) == [F(45, 49), F(4, 49)]
    assert after(OFFICE, 2) == [F(9, 10), F(1, 10)]
    assert after(HALL, 2) == [F(3, 4), F(1, 4)]


def test_the_chain_of_joe_has_the_posterior_of_every_path() -> None:
    rows, error = chain(JOE)
    assert error == 0
    assert paths_of(rows, 3) == JOE.posterior()


@pytest.mark.parametrize(
    ("stream", "make", "expected"),
    [
        ("PROBABILITY p GIVEN previous", infer.smoothed, {2: F(15, 19), 3: F(3, 19)}),
        ("PROBABILITY p", infer.filtered, {2: F(3, 4), 3: F(33, 152)}),
    ],
)
def test_a_program_reads_what_comes_out(stream: str, make: object, expected: dict[int, Fraction]) -> None:
    given = ", previous STRING" if "GIVEN" in stream else ""
    program = inkling.parse(f"""
        STREAM At(key STRING, state STRING, t INT{given}) KEY key TIME t {stream};
        EVENT came(key, b.t AS at) AS
          PATTERN SEQ NEXT(At a[state = 'H'], At b[state = 'O']) PARTITION BY key PER VALUES;
    """)
    found = program.run_local({"At": make(JOE_READ, joes_model())}).tables["came"].to_pylist()
    assert {row["at"]: pytest.approx(row["probability"], abs=1e-12) for row in found} == {
        at: float(p) for at, p in expected.items()
    }


STAYING = [("A", "A", 1.0), ("B", "C", 0.5), ("B", "D", 0.5), ("C", "C", 1.0), ("D", "D", 1.0)]


def test_likeliest_states_need_not_be_a_path_and_the_likeliest_path_is() -> None:
    movement = [{"previous": a, "state": b, "p": p} for a, b, p in STAYING]
    prior = [{"state": "A", "p": 0.4}, {"state": "B", "p": 0.6}]
    model = Model.of(movement, [{"reader": "r", "state": "A", "p": 0.0}], prior)
    quiet = [{"key": "joe", "t": t, "reader": None} for t in (1, 2)]
    assert infer.mle(quiet, model)["state"].to_pylist() == ["B", "A"]
    assert infer.viterbi(quiet, model)["state"].to_pylist() == ["A", "A"]


def test_nothing_wins_only_alone() -> None:
    movement = [{"previous": a, "state": b, "p": 0.5} for a in ("gone", "here") for b in ("gone", "here")]
    model = Model.of(movement, [{"reader": "r", "state": "here", "p": 0.5}], nothing="gone")
    rows = [{"key": "joe", "t": 1, "reader": "r"}, {"key": "joe", "t": 2, "reader": None}]
    # after a reading: here; unread: gone has 2/3
    assert infer.mle(rows, model)["t"].to_pylist() == [1]
    never = Model.of(movement, [{"reader": "r", "state": "here", "p": 0.0}], nothing="gone")
    assert infer.mle([{"key": "joe", "t": 1, "reader": None}], never)["state"].to_pylist() == ["here"]


def test_random_models_have_the_marginals_and_chains_of_all_their_paths() -> None:
    n_possible = 0
    for case in random_cases(seed=11, n=600):
        found, n = passed(case), len(case.heard)
        weights = case.weights()
        if not weights:
            assert not case.weights(found.stuck + 1)
            assert found.stuck == 0 or case.weights(found.stuck)
            continue
        assert found.stuck == DONE
        n_possible += 1
        posterior = case.posterior()
        for step in range(n):
            so_far = case.posterior(step + 1)
            for state in range(case.n_states):
                assert found.filtered[step, state] == sum(p for path, p in so_far.items() if path[step] == state)
                assert found.smoothed[step, state] == sum(p for path, p in posterior.items() if path[step] == state)
        assert np.prod(found.totals) == sum(weights.values())
        rows, error = chain(case)
        assert error == 0
        assert paths_of(rows, n) == posterior
    assert n_possible > 400


GRID = Grid(Clock.TICKS, 1, 0, None)


def as_rows(case: Case, key: str) -> list[dict[str, object]]:
    rows = [
        {"key": key, "t": t, "reader": f"r{r}"} for t, was in enumerate(case.heard) for r in range(len(was)) if was[r]
    ]
    return [*rows, {"key": key, "t": len(case.heard) - 1, "reader": None}]


def in_doubles(case: Case) -> Model:
    model = case.model()
    moves = model.moves._replace(chance=model.moves.chance.astype(float))
    return Model(model.states, model.prior.astype(float), moves, model.outcomes, model.chance.astype(float))


def test_compiled_kernels_say_the_same_in_doubles_and_find_the_likeliest_path() -> None:
    for case in possible_cases(seed=5, n=150):
        model, exact = in_doubles(case), passed(case)
        rows = readings_of(read_table(as_rows(case, "k"), what="readings"), model, Names(), Clock.TICKS)
        (steps,) = blocks(rows, StepExtent.of(rows, GRID), GRID, model)
        assert np.abs(forward_pass(model, steps, GRID).belief - exact.filtered.astype(float)).max() < 1e-12
        assert np.abs(smoothed_pass(model, steps, GRID).belief - exact.smoothed.astype(float)).max() < 1e-12
        weights = case.weights()
        best = max(weights.values())
        first_of_equals = min((path for path, weight in weights.items() if weight == best), key=lambda path: path[::-1])
        told = InferenceTask(model, EstimateKind.PATH, Names()).answer(steps, GRID)["state"].to_pylist()
        assert tuple(map(model.states.index, told)) == first_of_equals


def test_keys_do_not_see_each_other_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    movement = [{"previous": a, "state": b, "p": 0.8 if a == b else 0.2} for a in "xy" for b in "xy"]
    model = Model.of(movement, [{"reader": "r", "state": "y", "p": 0.7}, {"reader": "r", "state": "x", "p": 0.1}])
    random = np.random.default_rng(3)
    rows = [{"key": f"k{random.integers(9)}", "t": int(t), "reader": "r"} for t in random.integers(0, 30, 120)]
    together = infer.smoothed(rows, model, prune=0.01)
    monkeypatch.setattr("inkling.infer.steps.BLOCK_CELLS", 1)
    assert infer.smoothed(rows[::-1], model, prune=0.01).equals(together)
    one = [row for row in rows if row["key"] == "k4"]
    alone = infer.smoothed(one, model, prune=0.01).to_pylist()
    assert alone == [row for row in together.to_pylist() if row["key"] == "k4"]
