"""What comes out is a stream by the definition: its worlds are the paths of the hidden states, as probable as these."""

from random import Random

import pytest
from tests.unit.infer.paths import Case, possible_cases

import inkling
from inkling import infer
from inkling.infer.model import Model
from inkling.meaning.worlds import independent_worlds, markov_worlds
from inkling.model.uncertainty import ProbableValue

CHAIN = "STREAM At(key STRING, state STRING, t INT, previous STRING) KEY key TIME t PROBABILITY p GIVEN previous;"
STEPS = "STREAM At(key STRING, state STRING, t INT) KEY key TIME t PROBABILITY p;"
ASKED = "EVENT e AS PATTERN At a;"


def model_of(case: Case, nothing: str | None) -> Model:
    exact = case.model()
    moves = exact.moves._replace(chance=exact.moves.chance.astype(float))
    return Model(exact.states, exact.prior.astype(float), moves, exact.outcomes, exact.chance.astype(float), nothing)


def readings_of(case: Case) -> list[dict[str, object]]:
    rows = [
        {"key": "k", "t": t, "reader": f"r{r}"} for t, was in enumerate(case.heard) for r in range(len(was)) if was[r]
    ]
    return [*rows, *({"key": "k", "t": t, "reader": None} for t in range(len(case.heard)))]


def told(path: tuple[int, ...], nothing: int) -> tuple[tuple[int, str], ...]:
    return tuple((t, "abc"[state]) for t, state in enumerate(path) if state != nothing)


@pytest.mark.parametrize("with_nothing", [False, True])
def test_worlds_of_the_chain_are_the_posterior(with_nothing: bool) -> None:
    schema = inkling.parse(f"{CHAIN}{ASKED}").plan.streams[0].schema
    assert isinstance(schema.uncertainty, ProbableValue)
    random = Random(1)
    for case in possible_cases(seed=41, n=100):
        if case.n_states == 1:
            continue
        nothing = random.randrange(case.n_states) if with_nothing else -1
        model = model_of(case, "abc"[nothing] if with_nothing else None)
        rows = infer.smoothed(readings_of(case), model).to_pylist()
        expected: dict[object, float] = {}
        for path, weight in case.posterior().items():
            expected[told(path, nothing)] = expected.get(told(path, nothing), 0.0) + float(weight)
        found: dict[object, float] = {}
        for weight, world in markov_worlds(rows, schema.uncertainty, schema):
            name = tuple((row["t"], row["state"]) for row in world)
            found[name] = found.get(name, 0.0) + float(weight)
        assert found.keys() >= expected.keys()
        assert all(abs(found[name] - expected.get(name, 0.0)) < 1e-9 for name in found)


def test_worlds_of_filtered_steps_have_their_marginals() -> None:
    schema = inkling.parse(f"{STEPS}{ASKED}").plan.streams[0].schema
    assert isinstance(schema.uncertainty, ProbableValue)
    for case in possible_cases(seed=42, n=30):
        if case.n_states == 1:
            continue
        rows = infer.filtered(readings_of(case), model_of(case, "a")).to_pylist()
        for step in range(len(case.heard)):
            so_far = case.posterior(step + 1)
            for state in range(1, case.n_states):
                there = (step, "abc"[state])
                weights = [
                    weight
                    for weight, world in independent_worlds(rows, schema.uncertainty, schema)
                    if there in [(row["t"], row["state"]) for row in world]
                ]
                expected = sum(weight for path, weight in so_far.items() if path[step] == state)
                assert abs(float(sum(weights)) - float(expected)) < 1e-9
