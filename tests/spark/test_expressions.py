"""Expressions as Catalyst columns have the value that the definition gives to each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as fn
from tests.kit.expressions import (
    APPROXIMATE,
    COLUMNS,
    UNDEFINED,
    defined_value,
    random_expression,
    random_rows,
    same_value,
    written_units,
)

from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.functions import FUNCTIONS
from inkling.logical.vectorized import ARROW_TYPES, Reference, evaluate
from inkling.model.event import Value
from inkling.model.types import Type
from inkling.spark import expressions
from inkling.spark.functions import COLUMN_FORMS

N_ROWS = 24
CONTEXT = ExpressionContext({}, written_units)
KINDS = (Type.BOOLEAN, Type.BOOLEAN, Type.INTEGER, Type.DOUBLE, Type.STRING, Type.TERM, Type.TIME, Type.DURATION)

LAST_DIGITS = 4
"""Units in the last place by which two mathematical libraries may differ."""


@pytest.fixture(params=["false", "true"], ids=["plain", "ansi"])
def session(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", request.param)
    yield spark
    spark.conf.set("spark.sql.ansi.enabled", before or "false")


def table_of(rows: Sequence[dict[str, Value]]) -> pa.Table:
    return pa.table({name: pa.array([row[name] for row in rows], ARROW_TYPES[kind]) for name, kind in COLUMNS.items()})


def frame_of(spark: SparkSession, rows: Sequence[dict[str, Value]]) -> DataFrame:
    return spark.createDataFrame(table_of(rows)).coalesce(1)


def resolve(reference: Reference) -> Column:
    assert isinstance(reference, e.ColumnOf)
    return fn.col(reference.column)


def to_column(expr: e.Expr) -> Column:
    return expressions.to_column(expr, resolve, written_units)


def in_one_job(spark: SparkSession, rows: Sequence[dict[str, Value]], exprs: Sequence[e.Expr]) -> pa.Table:
    columns = [to_column(expr).alias(f"x{number}") for number, expr in enumerate(exprs)]
    return frame_of(spark, rows).select(*columns).toArrow()


def assert_defined(found: pa.Table, rows: Sequence[dict[str, Value]], exprs: Sequence[e.Expr], ulps: int = 0) -> None:
    n_compared = 0
    for expr, column in zip(exprs, found.columns, strict=True):
        for row, value in zip(rows, column.to_pylist(), strict=True):
            defined = defined_value(expr, row, CONTEXT)
            if defined is not UNDEFINED:
                n_compared += 1
                assert same_value(value, defined, ulps=ulps), (expr, row)
    assert n_compared > len(rows) * len(exprs) / 2


def check_random_expressions(spark: SparkSession, seed: int, n_expressions: int) -> None:
    rng = Random(seed)
    rows = random_rows(rng, N_ROWS)
    exprs = [
        random_expression(rng, rng.choice(KINDS), depth=rng.randrange(1, 4), exact=True) for _ in range(n_expressions)
    ]
    assert_defined(in_one_job(spark, rows, exprs), rows, exprs)


def test_random_exact_expressions_eq_definition(session: SparkSession) -> None:
    check_random_expressions(session, seed=5, n_expressions=150)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_exact_expressions_eq_definition(spark: SparkSession, seed: int) -> None:
    check_random_expressions(spark, seed, n_expressions=600)


def test_other_functions_eq_definition_but_for_last_digits(session: SparkSession) -> None:
    rng = Random(6)
    rows = random_rows(rng, N_ROWS, huge=False)
    simple = [name for name in sorted(APPROXIMATE) if name != "haversine"]
    exprs = []
    for _ in range(100):
        function = FUNCTIONS[rng.choice(simple)]
        args = tuple(random_expression(rng, kind, depth=1, exact=True) for kind in function.parameters)
        exprs.append(e.FunctionCall(function.name, args, function.result))
    assert_defined(in_one_job(session, rows, exprs), rows, exprs, LAST_DIGITS)


def test_haversine_eq_definition_but_for_last_digits(spark: SparkSession) -> None:
    rng = Random(7)
    rows = random_rows(rng, 100, huge=False)
    for row in rows:
        for name in ("d1", "d2"):
            row[name] = None if row[name] is None else rng.uniform(-90.0, 90.0)
    degrees = [e.ColumnOf(e.ROW, name, Type.DOUBLE) for name in ("d1", "d2", "d3")]
    args = (*degrees, e.Arithmetic("-", degrees[0], e.Literal(0.25, Type.DOUBLE), Type.DOUBLE))
    exprs = [e.FunctionCall("haversine", args, Type.DOUBLE)]
    assert_defined(in_one_job(spark, rows, exprs), rows, exprs, ulps=16)


def test_every_function_has_a_column_form() -> None:
    assert COLUMN_FORMS.keys() == FUNCTIONS.keys()


def test_integers_that_leave_64_bits_are_null(session: SparkSession) -> None:
    number = e.ColumnOf(e.ROW, "i1", Type.INTEGER)
    rows = random_rows(Random(8), 3)
    for row, value in zip(rows, (2**62, -(2**63), 5), strict=True):
        row["i1"] = value
    exprs = [
        e.Arithmetic("+", number, number, Type.INTEGER),
        e.Arithmetic("*", number, number, Type.INTEGER),
        e.Arithmetic("%", number, e.Literal(-1, Type.INTEGER), Type.INTEGER),
        e.Negate(number, Type.INTEGER),
    ]
    found = [column.to_pylist() for column in in_one_job(session, rows, exprs).columns]
    assert found == [[None, None, 10], [None, None, 25], [0, 0, 0], [-(2**62), None, -5]]


def test_look_ups_in_tables_are_rejected() -> None:
    look_up = e.Not(e.InTable("known", (e.ColumnOf(e.ROW, "s1", Type.STRING),)))
    assert not expressions.fits_column(look_up)
    with pytest.raises(ValueError, match="look-up"):
        to_column(look_up)


def test_packed_conditions_eq_arrow_twin(spark: SparkSession) -> None:
    rng = Random(9)
    rows = random_rows(rng, N_ROWS, huge=False)
    table = table_of(rows)
    conditions = [random_expression(rng, Type.BOOLEAN, depth=2, exact=True) for _ in range(130)]
    numbered = {number: to_column(condition) for number, condition in enumerate(conditions)}
    words = [expressions.pack_word(word, numbered) for word in range(3)]
    found = frame_of(spark, rows).select(*(word.alias(f"w{i}") for i, word in enumerate(words))).toArrow()

    truths = []
    for condition in conditions:
        truth = evaluate(e.AllOf((condition,)), lambda ref: table[ref.column], N_ROWS, CONTEXT)  # type: ignore[union-attr]
        truths.append(truth)
    packed = [sum(truth[row].as_py() << number for number, truth in enumerate(truths)) for row in range(N_ROWS)]
    unsigned = [[value % 2**64 for value in column.to_pylist()] for column in found.columns]
    assert [low + (middle << 64) + (high << 128) for low, middle, high in zip(*unsigned, strict=True)] == packed


def test_no_conditions_make_one_empty_word(spark: SparkSession) -> None:
    assert spark.range(1).select(expressions.pack_word(0, {}).alias("w")).first() == (0,)
