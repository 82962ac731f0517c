"""Chains over imprecise times: what may be dropped early, in which order places are filled, what is too much."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.kit.chains import ChainCase, chain_cases
from tests.kit.exact_kernels import IN_FRACTIONS
from tests.kit.partial_orders import partial_order_cases
from tests.properties.test_imprecise_exact import answers, program_of, rows_of

import inkling
from inkling.errors import InputError
from inkling.evaluators.chain import growth
from inkling.evaluators.chain.program import answered
from inkling.evaluators.chain.search_space import Candidates
from inkling.kernels.chain.kept_free import GapArrays
from inkling.logical import plan as p

pytestmark = pytest.mark.slow

STREAM = "STREAM {}(id STRING, v BIGINT, lo BIGINT, hi BIGINT) ID id TIME BETWEEN lo AND hi;"


def results(text: str, rows: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    program = inkling.parse("".join(STREAM.format(name) for name in rows) + text)
    return program.run_local(rows).tables["x"].to_pylist()


def row(name: str, lo: int, hi: int, v: int = 0) -> dict[str, Any]:
    return {"id": name, "v": v, "lo": lo, "hi": hi}


def with_clauses(case: ChainCase, **clauses: Any) -> ChainCase:
    return ChainCase(replace(case.plan, events=(replace(case.chain, **clauses),)), case.keys)


def told(case: ChainCase) -> list[tuple[float, int, list[str]]]:
    table = answered(program_of(case), rows_of(case), {})["x"].to_pylist()
    return sorted((-row["probability"], row["start"], row["lineage"]) for row in table)


def test_dropping_early_changes_nothing() -> None:
    n_dropped = 0
    for case in chain_cases(77, 20, 20):
        every = told(case)
        for threshold in (0.2, 0.5):
            kept = [one for one in every if -one[0] >= threshold - 1e-12]
            assert told(with_clauses(case, confidence=p.Confidence(threshold, strict=False))) == kept
            n_dropped += len(every) - len(kept)
        for top in (1, 3):
            assert told(with_clauses(case, top=top)) == every[:top]
    assert n_dropped > 50


def test_places_may_be_filled_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)

    def shuffled(places: Sequence[Candidates], first: int | None = None) -> list[int]:
        order = [number for number in range(len(places)) if number != first]
        rng.shuffle(order)
        return order if first is None else [first, *order]

    cases = list(chain_cases(78, 40, 20))
    expected = [answers(case, exact=False) for case in cases]
    monkeypatch.setattr(growth, "_order", shuffled)
    assert [answers(case, exact=False) for case in cases] == expected
    assert sum(map(len, expected)) > 200


def test_rare_places_come_first() -> None:
    def sizes(*counts: int) -> list[Candidates]:
        return [Candidates(np.zeros(n, np.int64), np.zeros(2, np.int64), np.zeros(n), np.zeros(n), 1) for n in counts]

    assert growth._order(sizes(10, 20, 30)) == [0, 1, 2]
    assert growth._order(sizes(100, 50, 7)) == [2, 1, 0]
    assert growth._order(sizes(5, 50, 7), 1) == [1, 0, 2]


def test_three_intervals_of_101_ticks_in_a_window() -> None:
    """L3 and L5 of the large intervals: 346251/1030301 within 100 points, 526330/1030301 without a limit."""
    rows = {name: [row(name, at - 50, at + 50)] for name, at in (("A", 100), ("B", 130), ("C", 160))}
    within, without = (
        results(f"EVENT x AS PATTERN SEQ(A a, B b, C c) {w};", rows)[0] for w in ("WITHIN 100 POINTS", "")
    )
    assert within["probability"] == pytest.approx(346251 / 1030301, abs=1e-15)
    assert without["probability"] == pytest.approx(526330 / 1030301, abs=1e-15)
    assert (within["start"], within["end"]) == (50, 210)


@pytest.mark.parametrize(
    ("centers", "confidence", "start", "end"),
    [
        pytest.param((1000, 1040, 1060, 1130), 5231 / 22801, 995, 1154, id="L1"),
        pytest.param((1000, 1010, 1120, 1150), 2455 / 22801, 995, 1154, id="L2"),
    ],
)
def test_a_task_between_samples_of_the_load(centers: tuple[int, ...], confidence: float, start: int, end: int) -> None:
    halves = (5, 75, 5, 75)
    rows = {
        name: [row(name, center - half, center + half)]
        for name, center, half in zip("ABCD", centers, halves, strict=True)
    }
    (found,) = results("EVENT x AS PATTERN SEQ(A a, B b, C c, D d) WITHIN 150 POINTS;", rows)
    assert found["probability"] == pytest.approx(confidence, abs=1e-14)
    assert (found["start"], found["end"]) == (start, end)


def test_l4() -> None:
    rows = {name: [row(name, at - 10, at + 10)] for name, at in (("A", 100), ("B", 130), ("C", 160))}
    (found,) = results("EVENT x AS PATTERN SEQ(A a, B b, C c) WITHIN 60 POINTS;", rows)
    assert found["probability"] == pytest.approx(10 / 21, abs=1e-14)
    assert (found["start"], found["end"]) == (91, 169)


def test_exact_probabilities_that_take_too_long_are_rejected() -> None:
    rows = {"A": [row(f"a{n}", n, n + 60) for n in range(14)]}
    with pytest.raises(InputError) as raised:
        results("EVENT x AS PATTERN SEQ STRICT(A a, A b, A c, A d, A e) WITHIN 90 POINTS EXACT;", rows)
    (found,) = raised.value.diagnostics
    assert found.code == "INK0646"
    assert any("EXACT" in one for one in found.helps)


def test_probabilities_that_would_take_too_long_are_estimated() -> None:
    # b1 and b2 lie in [0, 30000]; b1 is the next one after a = 0 if it is before b2, or they tie
    rows = {"A": [row("a", 0, 0)], "B": [row("b1", 1, 30_000), row("b2", 1, 30_000)]}
    for found in results("EVENT x AS PATTERN SEQ NEXT(A a, B b);", rows):
        assert found["method"] == "sampled"
        assert 0 < found["error"] <= 0.01
        assert found["probability"] == pytest.approx(1 / 2 + 1 / 60_000, abs=found["error"])
    # both are within 30000 ticks, a before both: a third of the orders of three
    rows = {name: [row(name, 1, 3_000)] for name in "ABC"}
    (found,) = results("EVENT x AS PATTERN SEQ(A a, (B b AND C c)) WITHIN 9000 POINTS;", rows)
    assert found["method"] == "sampled"
    assert found["probability"] == pytest.approx(1 / 3, abs=found["error"] + 1e-3)
    (found,) = results("EVENT x AS PATTERN SEQ(A a, (B b AND C c)) WITHIN 9000 POINTS EXACT;", rows)
    # a = t, and both others after it: the sum of (3000 - t)²
    assert found["probability"] == pytest.approx(sum(n * n for n in range(3_000)) / 3_000**3, rel=1e-12)


def test_estimates_are_within_their_error() -> None:
    """Random chains and partial orders with all sums left out; the bounds hold with a confidence of 99 %."""
    n_estimates = n_wrong = 0
    for made in (chain_cases, partial_order_cases):
        for case in made(3, 60, 16):
            wanted, found = answers(case, exact=False), answers(case, exact=False, most_steps=0)
            assert found.keys() <= wanted.keys()
            for name, one in found.items():
                n_estimates += one[2] != wanted[name][2]
                n_wrong += abs(one[2] - wanted[name][2]) > 0.01
    assert n_estimates > 100
    assert n_wrong <= 0.02 * n_estimates


def test_intervals_with_too_many_ticks_are_rejected() -> None:
    with pytest.raises(InputError) as raised:
        results("EVENT x AS PATTERN SEQ(A a, A b) WITHIN 9 POINTS;", {"A": [row("a", 0, 2**40), row("b", 1, 1)]})
    (found,) = raised.value.diagnostics
    assert found.code == "INK0647"
    assert "1,099,511,627,777 ticks" in found.message


def test_nothing_is_lost_to_subtraction() -> None:
    """Every one of n others has to happen with the middle event, whose tick is one of 1,000 of its own."""
    for n in (2, 5, 6):
        rows = {
            "A": [row("a", 0, 25)],
            "B": [row("b", 500, 529)],
            "C": [row("c", 1200, 1225)],
            "X": [row(f"x{i}", 100, 1099) for i in range(n)],
        }
        (found,) = results("EVENT x AS PATTERN SEQ STRICT(A a, B b, C c) WITHIN 5000 POINTS OVER (A, B, C, X);", rows)
        assert found["probability"] == pytest.approx(10.0 ** (-3 * n), rel=1e-9)


def test_places_outside_of_gaps_eq_all_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to deal with others that could be in several gaps, in fractions."""
    kernels = IN_FRACTIONS.kept_free.__globals__
    by_points, by_choices = kernels["_by_points"], kernels["_by_choices"]
    n_compared = 0

    def both(window, chain, ticks):  # type: ignore[no-untyped-def]
        nonlocal n_compared
        k, wide = len(chain.rows), int((chain.hi - chain.lo).max()) + 1
        sizes = (max(k, 2), wide, wide), (wide, wide + 1), wide, wide
        found = by_points(window, chain, ticks)
        assert by_choices(window, chain, ticks, GapArrays(*(np.zeros(size, object) for size in sizes))) == found[0]
        n_compared += 1
        return found

    monkeypatch.setitem(kernels, "_by_points", both)
    for case in chain_cases(1, 100, 20):
        answers(case, exact=True)
    assert n_compared > 30


def test_matches_of_next_may_be_long() -> None:
    rows = {"A": [row(f"a{n}", n, n) for n in range(70)], "B": [row("b", 100, 100)]}
    found = results("EVENT x AS PATTERN SEQ NEXT(A a+, B b);", rows)
    assert len(found) == 70 * 71 // 2  # any run of them
    assert {(one["probability"], one["method"]) for one in found} == {(1.0, "exact")}


def test_long_matches_are_estimated() -> None:
    rows = {
        "A": [row("a0", 0, 0), *(row(f"a{n}", 2 * n, 2 * n) for n in range(1, 65)), row("a65", 128, 130)],
        "B": [row("b", 200, 200)],
        "C": [row("c", 131, 200)],
    }
    found = results("EVENT x AS PATTERN SEQ NEXT(A a+, NOT C c, B b);", rows)
    last = {len(one["lineage"]): one for one in found if one["lineage"][-3:-1] == ["a64", "a65"]}
    # a65 is after a64 at two of its three ticks, and c is not between a65 and b at one of its 70 ticks
    for length, one in last.items():
        assert one["probability"] == pytest.approx(2 / 3 / 70, abs=one["error"] + 1e-12), length
        assert one["method"] == ("sampled" if length > 60 else "exact")
    assert len(last) == 65
