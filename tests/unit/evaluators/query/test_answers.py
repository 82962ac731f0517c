"""What queries over probable streams answer in corners, beside the definition."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from tests.kit.oracle import probable_oracle
from tests.kit.probable_comparison import found_in, probable_differences

import inkling

pytestmark = pytest.mark.slow

Rows = dict[str, list[dict[str, object]]]
CHAINED = "STREAM M(id STRING, k DOUBLE, v BIGINT, t BIGINT) ID id KEY k TIME t PROBABILITY p GIVEN g;"
TWO_KEYS = "STREAM B(k STRING, j BIGINT, t BIGINT) KEY k, j TIME t PROBABILITY p;"


def chained(*rows: tuple[float, int, int | None, int, float]) -> Rows:
    return {
        "M": [
            {"id": f"m{number}", "k": k, "t": t, "g": given, "v": v, "p": p}
            for number, (k, t, given, v, p) in enumerate(rows)
        ]
    }


def check(text: str, rows: Rows) -> list[dict[str, object]]:
    program = inkling.parse(text)
    results = program.run_local(rows)
    wanted = probable_oracle(program.plan, rows)
    wrong = probable_differences(program.plan, rows, wanted, found_in(program.plan, results.tables), tolerance=1e-12)
    assert not wrong, "\n".join(wrong)
    found: list[dict[str, object]] = results.tables["e"].to_pylist()
    return found


def test_a_key_compared_with_a_constant_of_another_type_is_no_single_key() -> None:
    rows = chained((1.0, 0, None, 1, 1.0), (0.0, 1, None, 2, 1.0), (1.0, 2, 1, 1, 0.5), (1.0, 2, 2, 1, 1.0))
    (found,) = check(f"{CHAINED} EVENT e AS PATTERN SEQ NEXT(M a[k = 1], M b[k = 1]) PER END;", rows)
    assert found["probability"] == 0.5


@pytest.mark.parametrize("per", ["END", "VALUES"])
@pytest.mark.parametrize("head", ["e(upper(a.k) AS u)", "e(a.k)", "e('x' AS c)", "e"])
def test_results_are_told_apart_by_the_values_of_the_head(head: str, per: str) -> None:
    rows: Rows = {"B": [{"k": k, "j": 1, "t": t, "p": 0.5} for k in ("x", "X") for t in (1, 2, 3)]}
    check(f"{TWO_KEYS} EVENT {head} AS PATTERN SEQ NEXT(B a, B b[k = a.k]) PER {per};", rows)


@pytest.mark.parametrize("returned", ["a.k AS kk", "upper(a.k) AS kk"])
def test_what_is_returned_does_not_tell_results_apart(returned: str) -> None:
    rows: Rows = {"B": [{"k": k, "j": 1, "t": t, "p": 0.5} for k in ("x", "y") for t in (1, 2)]}
    check(f"{TWO_KEYS} EVENT e AS PATTERN SEQ NEXT(B a, B b[k = a.k]) RETURN {returned} PER END;", rows)


def test_partitions_have_results_of_their_own() -> None:
    rows: Rows = {"B": [{"k": k, "j": j, "t": t, "p": 0.5} for k in ("x", "y") for j in (1, 2) for t in (1, 2)]}
    for per in ("END", "VALUES"):
        found = check(f"{TWO_KEYS} EVENT e(k) AS PATTERN SEQ NEXT(B a, B b) PARTITION BY k, j PER {per};", rows)
        assert len(found) == 4


def test_the_event_that_is_named_can_have_happened() -> None:
    rows = chained((1.0, 0, None, 1, 1.0), (1.0, 1, 2, 2, 1.0), (1.0, 1, 1, 2, 0.5))
    (found,) = check(f"{CHAINED} EVENT e(k) AS PATTERN SEQ NEXT(M a, M b) PARTITION BY k PER END;", rows)
    assert found["lineage"] == ["m2"]


def test_when_all_worlds_know_that_it_ever_happens() -> None:
    text = "STREAM A(t BIGINT) TIME t PROBABILITY p; EVENT e AS PATTERN A a PER VALUES;"
    (found,) = check(text, {"A": [{"t": 1, "p": 0.5}, {"t": 2, "p": 1.0}, {"t": 3, "p": 0.5}]})
    assert (found["start"], found["end"], found["detected_at"]) == (1, 3, 2)


@pytest.mark.parametrize("last", ["M c[v = 2]", "M c[k = 1.0 AND v = 2]", "A c[k = 2 AND v = 2]"])
def test_what_a_stream_neglects_stays_small(last: str) -> None:
    program = inkling.parse(
        f"STREAM A(k BIGINT, v BIGINT, t BIGINT) KEY k TIME t PROBABILITY p; {CHAINED}"
        f"EVENT e AS PATTERN SEQ NEXT(A a[v = 1], A b[k = a.k AND v = 1], {last}) PER END EXACT;"
    )
    rng, stream, errors = random.Random(3), program.open(unbounded=True), []
    for t in range(260):
        rows: Rows = {
            "A": [{"k": k, "v": v, "t": t, "p": rng.choice((0.2, 0.3))} for k in (1, 2, 3) for v in (1, 2)],
            "M": [
                {"id": f"{k}{t}{given}{v}", "k": k, "t": t, "g": given, "v": v, "p": 0.5}
                for k in (1.0, 2.0)
                for given in ([None] if t == 0 else [1, 2])
                for v in (1, 2)
            ],
        }
        errors += stream.push(rows).tables["e"]["error"].to_pylist()
    assert len(errors) > 250
    assert 0 < max(errors) < 1e-8


def test_explain_knows_that_an_automaton_would_be_too_large() -> None:
    columns = ", ".join(f"b{number} BIGINT" for number in range(12))
    parts = ", ".join(f"A x{number}[b{number} = 1]" for number in range(12))
    text = f"STREAM A(k BIGINT, {columns}, t BIGINT) KEY k TIME t PROBABILITY p;"
    verdicts = inkling.parse(f"{text} EVENT e AS PATTERN SEQ NEXT({parts}) PER END;").explain("verdicts")
    assert "sets of partial matches" in verdicts
    assert "too many combinations of conditions for an automaton" in verdicts


@pytest.mark.parametrize("spans", [[(0,)], [(0.5, 1)], [(1, "2026-03-01")]])
def test_spans_that_make_no_sense(spans: Sequence[tuple[int, int]]) -> None:
    program = inkling.parse("STREAM A(t BIGINT) TIME t PROBABILITY p; EVENT e AS PATTERN A a PER END;")
    with pytest.raises(inkling.InputError, match="INK0657"):
        program.chances_during("e", {"A": [{"t": 1, "p": 0.5}]}, spans)
    assert len(program.chances_during("e", {"A": [{"t": 1, "p": 0.5}]}, [])) == 0
