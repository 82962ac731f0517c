"""The definition gives what the language reference says beside its examples, by their numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.kit.oracle import bound, oracle, probable_oracle
from tests.oracles.ink_case import Case, in_order
from tests.oracles.language_cases import CASES

from inkling.meaning.semantics import Result


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_certain_streams(case: Case) -> None:
    plan = bound(case.program)
    head = [output.name for output in plan.events[0].head]
    results = oracle(plan, case.inputs(), case.tables)["x"]
    assert in_order(shown(result, head, case) for result in results) == case.wanted()


def shown(result: Result, head: list[str], case: Case) -> tuple[object, ...]:
    values = {
        **dict(zip(head, result.values, strict=True)),
        "start": result.start,
        "end": result.end,
        "detected_at": result.detected_at,
        "lineage": " ".join(str(one) for one in result.lineage),
    }
    return tuple(values[name] for name in case.columns)


def test_13_confidence() -> None:
    program = """
        STREAM A(id STRING, lo INT, hi INT) ID id TIME BETWEEN lo AND hi;
        STREAM B(id STRING, lo INT, hi INT) ID id TIME BETWEEN lo AND hi;
        EVENT x AS PATTERN SEQ(A a, B b);
    """
    rows = {"A": [{"id": "a", "lo": 1, "hi": 2}], "B": [{"id": "b", "lo": 2, "hi": 3}]}
    (pair,) = probable_oracle(bound(program), rows)["x"]
    assert (pair.probability, pair.start, pair.end) == (Fraction(3, 4), 1, 3)
    assert pair.lineage == ("a", "b")


def test_17_and_18_with_a_probability() -> None:
    """With HAVING, c at 2 uses the hop up: a and b are not enough, c must be missing as well."""
    stream = "STREAM R(name STRING, t INT, p DOUBLE) KEY name TIME t PROBABILITY p;"
    rows = {
        "R": [{"name": "a", "t": 1, "p": "1/2"}, {"name": "c", "t": 2, "p": "1/3"}, {"name": "b", "t": 3, "p": "3/4"}]
    }
    pre = bound(f"{stream} EVENT x AS PATTERN SEQ NEXT(R[name='a'], R[name='b']) PER END;")
    post = bound(f"{stream} EVENT x AS PATTERN SEQ NEXT(R[name='a'], R y) HAVING y.name='b' PER END;")
    assert [(one.end, one.probability) for one in probable_oracle(pre, rows)["x"]] == [(3, Fraction(3, 8))]
    assert [(one.end, one.probability) for one in probable_oracle(post, rows)["x"]] == [(3, Fraction(1, 4))]
