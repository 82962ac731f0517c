"""Expressions over columns have the value that the definition gives to each row."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from tests.kit.expressions import (
    COLUMNS,
    TABLE,
    UNDEFINED,
    defined_value,
    random_expression,
    random_facts,
    random_rows,
    same_value,
    written_units,
)

from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.functions import FUNCTIONS
from inkling.logical.vectorized import ARROW_TYPES, Reference, evaluate
from inkling.logical.vectorized.columns import FEW_ROWS, in_table
from inkling.logical.vectorized.functions import MEANINGS
from inkling.model.event import Value
from inkling.model.schema import Facts
from inkling.model.types import Type

N_ROWS = 24
NO_TABLES = ExpressionContext({}, written_units)
KINDS = (Type.BOOLEAN, Type.BOOLEAN, Type.INTEGER, Type.DOUBLE, Type.STRING, Type.TIME, Type.DURATION)

I1 = e.ColumnOf(e.ROW, "i1", Type.INTEGER)
D1 = e.ColumnOf(e.ROW, "d1", Type.DOUBLE)
S1 = e.ColumnOf(e.ROW, "s1", Type.STRING)
B1 = e.ColumnOf(e.ROW, "b1", Type.BOOLEAN)


def columns_of(rows: Sequence[dict[str, Value]]) -> dict[str, pa.Array]:
    return {name: pa.array([row[name] for row in rows], ARROW_TYPES[kind]) for name, kind in COLUMNS.items()}


def values(expr: e.Expr, context: ExpressionContext = NO_TABLES, /, **columns: list[Value]) -> list[Value]:
    """Value per row of an expression over columns given by name."""

    def resolve(reference: Reference) -> pa.Array:
        assert isinstance(reference, e.ColumnOf)
        return pa.array(columns[reference.column], ARROW_TYPES[reference.type])

    n_rows = len(next(iter(columns.values())))
    return evaluate(expr, resolve, n_rows, context).to_pylist()


@pytest.mark.parametrize("seed", range(12))
def test_random_expressions_eq_definition(seed: int) -> None:
    rng = Random(seed)
    rows = random_rows(rng, N_ROWS)
    columns = columns_of(rows)
    context = ExpressionContext({TABLE: random_facts(rng, 12)}, written_units)
    n_compared = n_undefined = 0
    for _ in range(250):
        expr = random_expression(rng, rng.choice(KINDS), depth=rng.randrange(1, 5), tables=True)
        found = evaluate(expr, lambda reference: columns[reference.column], N_ROWS, context)  # type: ignore[union-attr]
        assert len(found) == N_ROWS
        for row, value in zip(rows, found.to_pylist(), strict=True):
            defined = defined_value(expr, row, context)
            if defined is UNDEFINED:
                n_undefined += 1
                continue
            n_compared += 1
            assert same_value(value, defined), (expr, row)
    assert n_compared > 3 * n_undefined


@pytest.mark.parametrize("seed", range(3))
def test_conditions_are_never_null(seed: int) -> None:
    rng = Random(100 + seed)
    columns = columns_of(random_rows(rng, N_ROWS))
    for _ in range(200):
        condition = e.AllOf((random_expression(rng, Type.BOOLEAN, depth=3),))
        found = evaluate(condition, lambda reference: columns[reference.column], N_ROWS, NO_TABLES)  # type: ignore[union-attr]
        assert found.type == pa.bool_()
        assert found.null_count == 0


def test_every_function_has_a_column_form() -> None:
    assert MEANINGS.keys() == FUNCTIONS.keys()


def test_integers_that_leave_64_bits_are_null() -> None:
    big = 2**62
    assert values(e.Arithmetic("+", I1, I1, Type.INTEGER), i1=[big, 1, None, -big]) == [None, 2, None, -(2**63)]
    assert values(e.Arithmetic("*", I1, I1, Type.INTEGER), i1=[big, 3]) == [None, 9]
    assert values(e.Negate(I1, Type.INTEGER), i1=[-(2**63), 5]) == [None, -5]
    assert values(e.Arithmetic("%", I1, e.Literal(-1, Type.INTEGER), Type.INTEGER), i1=[-(2**63)]) == [0]


def test_large_integers_are_compared_exactly_with_integers() -> None:
    assert values(e.Compare("=", I1, e.Literal(2**53, Type.INTEGER)), i1=[2**53, 2**53 + 1]) == [True, False]


def test_null_makes_a_comparison_false_and_its_negation_true() -> None:
    below = e.Compare("<", D1, e.Literal(1.0, Type.DOUBLE))
    assert values(below, d1=[0.5, None]) == [True, False]
    assert values(e.Not(below), d1=[0.5, None]) == [False, True]
    assert values(e.Not(B1), b1=[True, False, None]) == [False, True, True]


def test_remainder_has_the_sign_of_the_dividend() -> None:
    three = e.Literal(3, Type.INTEGER)
    assert values(e.Arithmetic("%", I1, three, Type.INTEGER), i1=[7, -7]) == [1, -1]
    assert values(e.Arithmetic("%", D1, three, Type.DOUBLE), d1=[7.5, -7.5]) == [1.5, -1.5]


def test_upper_case_of_one_letter_may_be_two() -> None:
    assert values(e.FunctionCall("upper", (S1,), Type.STRING), s1=["straße", None]) == ["STRASSE", None]


def test_two_zeros_are_one_choice() -> None:
    in_list = e.InList(D1, (e.Literal(0, Type.INTEGER),))
    assert values(in_list, d1=[-0.0, 0.0, 1.0]) == [True, True, False]


def test_table_of_pairs_does_not_mix_its_rows() -> None:
    facts = ({"name": "a", "number": 1}, {"name": "b", "number": 2}, {"name": None, "number": 3})
    context = ExpressionContext({"pairs": facts}, written_units)
    both = e.InTable("pairs", (S1, I1))
    assert values(both, context, s1=["a", "a", "b", None], i1=[1, 2, 2, 3]) == [True, False, True, False]
    either = e.InTable("pairs", (None, I1))
    assert values(either, context, i1=[3, 4]) == [True, False]


def test_no_rows() -> None:
    expr = e.Compare("=", e.FunctionCall("upper", (S1,), Type.STRING), e.Literal("A", Type.STRING))
    assert values(expr, s1=[]) == []
    assert values(e.TRUE, s1=[]) == []


def test_chunked_columns_are_read_whole() -> None:
    chunked = pa.chunked_array([pa.array([1, 2]), pa.array([3])])
    found = evaluate(e.Compare(">", I1, e.Literal(1, Type.INTEGER)), lambda _: chunked, 3, NO_TABLES)
    assert found.to_pylist() == [False, True, True]


def test_look_ups_of_few_rows_and_of_many_are_the_same() -> None:
    rng = np.random.default_rng(3)
    values = pa.array(["a", "b", "c", None])
    facts = Facts(
        pa.table(
            {
                "x": values.take(pa.array(rng.integers(0, 4, 9))),
                "n": pa.array([0.0, 1.0, 2.0, None, 1.0, 2.0, 0.0, 1.0, 2.0]),
                "y": values.take(pa.array(rng.integers(0, 4, 9))),
            }
        )
    )
    held = [tuple(row.values()) for row in facts]
    n_rows = 3 * FEW_ROWS
    asked = [values.take(pa.array(rng.integers(0, 4, n_rows))), pa.array(rng.integers(0, 4, n_rows))]
    for wanted in ([asked[0], asked[1], None], [asked[0], asked[1], pa.scalar("b")], [asked[0], None, None]):
        columns = [one.to_pylist() if isinstance(one, pa.Array) else one for one in wanted]
        by_definition = [
            any(
                all(
                    one is None or (fact[place] is not None and fact[place] == _of_row(one, row))
                    for place, one in enumerate(columns)
                )
                for fact in held
            )
            for row in range(n_rows)
        ]
        assert in_table(facts, wanted, n_rows).to_pylist() == by_definition
        few = [one.slice(0, 5) if isinstance(one, pa.Array) else one for one in wanted]
        assert in_table(facts, few, 5).to_pylist() == by_definition[:5]


def _of_row(wanted: object, row: int) -> object:
    return wanted[row] if isinstance(wanted, list) else wanted.as_py() if isinstance(wanted, pa.Scalar) else wanted
