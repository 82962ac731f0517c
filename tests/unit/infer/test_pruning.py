"""What is left out changes no answer by more than is said; in fractions, the distance is exactly what is said."""

from fractions import Fraction
from itertools import product
from random import Random

from tests.unit.infer.paths import Case, chain, marginals, passed, paths_of, possible_cases

PRUNES = (Fraction(1, 20), Fraction(1, 7), Fraction(1, 3))


def distance(one: dict[object, Fraction], other: dict[object, Fraction]) -> Fraction:
    """Total variation."""
    return sum(abs(one.get(path, 0) - other.get(path, 0)) for path in one.keys() | other.keys()) / 2


def test_the_error_of_a_pruned_chain_is_its_distance_to_the_posterior() -> None:
    random, n_pruned = Random(2), 0
    for case in possible_cases(seed=21, n=150):
        exact, n = case.posterior(), len(case.heard)
        for prune in PRUNES:
            rows, error = chain(case, prune)
            pruned = paths_of(rows, n)
            assert sum(pruned.values()) == 1
            assert distance(exact, pruned) == error <= prune * n
            n_pruned += error > 0
            asked = {path for path in product(range(case.n_states), repeat=n) if random.random() < 0.5}
            answers = [sum(p for path, p in paths.items() if path in asked) for paths in (exact, pruned)]
            assert abs(answers[0] - answers[1]) <= error
    assert n_pruned > 100


def test_the_error_of_pruned_marginals_is_their_distance() -> None:
    n_pruned = 0
    for case in possible_cases(seed=22, n=100):
        for prune in PRUNES:
            rows, error = marginals(case, prune)
            exact = independent(list(enumerate_marginals(case)), len(case.heard))
            pruned = independent(rows, len(case.heard))
            assert distance(exact, pruned) == error <= prune * len(case.heard)
            n_pruned += error > 0
    assert n_pruned > 50


def enumerate_marginals(case: Case) -> list[tuple[int, int, Fraction]]:
    found = passed(case).filtered
    return [(step, state, found[step, state]) for step in range(len(found)) for state in range(case.n_states)]


def independent(rows: list[tuple[int, int, Fraction]], n_steps: int) -> dict[object, Fraction]:
    """Paths of steps that know nothing of each other; None where nothing happens."""
    found: dict[tuple[int | None, ...], Fraction] = {(): Fraction(1)}
    for step in range(n_steps):
        here: list[tuple[int | None, Fraction]] = [(state, p) for at, state, p in rows if at == step and p]
        here.append((None, 1 - sum(p for _, p in here)))
        found = {(*path, state): weight * p for path, weight in found.items() for state, p in here if p}
    return dict(found)
