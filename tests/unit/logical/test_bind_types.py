"""Types of operators: what combines, what compares, and which numbers are read as ticks."""

import pytest

from inkling.logical.binding.expressions import aggregate_type, arithmetic_type, comparable, fits, reads_number_as_ticks
from inkling.model.types import Type

B, I, D, S, T, L, N = (  # noqa: E741
    Type.BOOLEAN,
    Type.INTEGER,
    Type.DOUBLE,
    Type.STRING,
    Type.TIME,
    Type.DURATION,
    Type.NULL,
)


@pytest.mark.parametrize(
    ("operator", "left", "right", "result"),
    [
        ("+", I, I, I), ("*", I, I, I), ("%", I, I, I), ("/", I, I, D), ("+", I, D, D), ("%", D, I, D),
        ("-", T, T, L), ("+", T, T, None), ("+", T, L, T), ("-", T, L, T), ("+", L, T, T), ("-", L, T, None),
        ("+", L, L, L), ("-", L, L, L), ("*", L, L, None), ("/", L, L, D), ("%", L, L, None),
        ("*", L, I, L), ("*", D, L, L), ("/", L, D, L), ("/", I, L, None), ("+", L, I, L), ("-", T, I, T),
        ("+", T, D, None), ("*", T, I, None), ("+", S, S, None), ("+", B, I, None), ("+", N, I, I), ("+", N, S, None),
    ],
)  # fmt: skip
def test_arithmetic(operator: str, left: Type, right: Type, result: Type | None) -> None:
    assert arithmetic_type(operator, left, right) is result


@pytest.mark.parametrize(
    ("operator", "left", "right", "allowed"),
    [
        ("<", I, D, True), ("<", S, S, True), ("=", B, B, True), ("<", B, B, False), ("=", S, I, False),
        ("<", T, T, True), ("<", T, I, True), (">", L, D, True), ("=", T, D, False), ("=", T, L, False),
        ("=", T, S, False),
    ],
)  # fmt: skip
def test_comparison(operator: str, left: Type, right: Type, allowed: bool) -> None:
    assert comparable(operator, left, right) is allowed
    assert comparable(operator, right, left) is allowed


@pytest.mark.parametrize(
    ("operator", "left", "right", "ticks"),
    [
        (">", L, I, True), ("=", I, T, True), ("+", T, I, True), (">", L, D, True), ("*", L, I, False),
        ("/", L, I, False), ("-", T, T, False), ("+", I, I, False), (">", L, L, False),
    ],
)  # fmt: skip
def test_plain_numbers_as_ticks(operator: str, left: Type, right: Type, ticks: bool) -> None:
    assert reads_number_as_ticks(operator, left, right) is ticks


def test_an_integer_fits_a_double_but_not_the_other_way() -> None:
    assert fits(I, D)
    assert fits(N, S)
    assert not fits(D, I)
    assert not fits(I, L)


@pytest.mark.parametrize(
    ("function", "column", "result"),
    [
        ("COUNT", S, I), ("SUM", I, I), ("SUM", D, D), ("AVG", I, D), ("MEDIAN", I, D), ("STDDEV", D, D),
        ("MIN", S, S), ("MAX", T, T), ("MAX", B, None), ("SUM", S, None), ("AVG", B, None),
    ],
)  # fmt: skip
def test_aggregates(function: str, column: Type, result: Type | None) -> None:
    assert aggregate_type(function, column) is result
