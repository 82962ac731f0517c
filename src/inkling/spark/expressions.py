"""Expressions on one row as Catalyst columns, with the values that `logical.evaluate` defines.

No column raises an error, whether Spark's ANSI mode is on or off: an expression without a value is null, and the truth
of a condition is never null. Operators mention each operand once, because Catalyst evaluates every mention.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as fn

from inkling.logical import expr as e
from inkling.logical.vectorized import BITS_PER_WORD, Reference
from inkling.model.event import Value
from inkling.model.time import Duration
from inkling.model.types import Type
from inkling.spark.functions import call, finite

Resolve: TypeAlias = Callable[[Reference], Column]

SPARK_TYPES = {
    Type.BOOLEAN: "boolean",
    Type.INTEGER: "bigint",
    Type.DOUBLE: "double",
    Type.STRING: "string",
    Type.TERM: "string",
    Type.TIME: "bigint",
    Type.DURATION: "bigint",
    Type.NULL: "void",
    Type.WEIGHTS: "array<double>",
}

_COMPARISONS: dict[str, Callable[[Column, Column], Column]] = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def fits_column(expr: e.Expr) -> bool:
    """Whether an expression can be a column; look-ups in tables become joins instead."""
    return not e.looks_up(expr)


def to_column(expr: e.Expr, resolve: Resolve, unit: Callable[[Duration], int]) -> Column:
    """The expression as a column over the columns that `resolve` gives for its references.

    The referenced columns have the types of `SPARK_TYPES` and hold no NaN, infinity or negative zero. Doubles equal
    those of the definition bit for bit, except that `exp`, `ln`, `sin`, `cos`, `asin`, `acos`, `pow` and `haversine`
    may differ in their last digits.
    """
    if not fits_column(expr):
        raise ValueError("a look-up in a table is not a column")
    return _Row(resolve, unit).value(expr)


def pack_word(word: int, conditions: Mapping[int, Column]) -> Column:
    """The truth of conditions as bits of a 64-bit integer: condition `n` is bit `n % 64` of word `n // 64`.

    A condition may be NULL, which has no type of its own in Spark.
    """
    bits = [
        fn.when(truth.cast("boolean"), _bit(number % BITS_PER_WORD)).otherwise(_long(0))
        for number, truth in conditions.items()
        if number // BITS_PER_WORD == word
    ]
    return reduce(Column.bitwiseOR, bits, _long(0))


def _bit(number: int) -> Column:
    return _long(1 << number if number < BITS_PER_WORD - 1 else -(1 << number))


def _long(value: int) -> Column:
    return fn.lit(value).cast("bigint")


@dataclass(frozen=True, slots=True)
class _Row:
    resolve: Resolve
    unit: Callable[[Duration], int]

    def value(self, expr: e.Expr) -> Column:
        match expr:
            case e.Literal(value=literal, type=kind):
                return fn.lit(literal).cast(SPARK_TYPES[kind])
            case e.SpanLiteral(span=span):
                return _long(self.unit(span))
            case e.Negate(item=item) if _is_double(item):
                return fn.lit(0.0) - self.value(item)
            case e.Negate(item=item):
                return fn.try_subtract(_long(0), self.value(item))
            case e.Arithmetic():
                return self._arithmetic(expr)
            case e.FunctionCall(name=name, args=args):
                return _nothing(expr) if any(map(_is_nothing, args)) else call(name, map(self.value, args))
            case e.Compare():
                return self._compare(expr)
            case e.InList(item=item, choices=choices):
                return self._among(item, choices)
            case e.IsNull(item=item, negated=negated):
                found = self.value(item)
                return found.isNotNull() if negated else found.isNull()
            case e.AllOf(items=items):
                return reduce(and_, map(self._truth, items), fn.lit(True))
            case e.AnyOf(items=items):
                return reduce(or_, map(self._truth, items), fn.lit(False))
            case e.Not(item=item):
                return ~self._truth(item)
            case e.InTable():
                raise AssertionError("checked by `to_column`")
            case e.Chosen(conditions=conditions, values=values):
                return self._chosen(expr, conditions, values)
            case _:
                return self.resolve(expr)

    def _chosen(self, expr: e.Chosen, conditions: tuple[e.Expr, ...], values: tuple[e.Expr, ...]) -> Column:
        chosen = _nothing(expr)
        for condition, value in zip(reversed(conditions), reversed(values), strict=True):
            chosen = fn.when(self._truth(condition), self.value(value)).otherwise(chosen)
        return chosen

    def _truth(self, condition: e.Expr) -> Column:
        value = self.value(condition)
        if isinstance(condition, e.Compare | e.InList | e.IsNull | e.AllOf | e.AnyOf | e.Not):
            return value
        return fn.coalesce(value.cast("boolean"), fn.lit(False))

    def _arithmetic(self, expr: e.Arithmetic) -> Column:
        if _is_nothing(expr.left) or _is_nothing(expr.right):
            return _nothing(expr)
        left, right = self._operands(expr.left, expr.right, as_doubles=_is_double(expr))
        match expr.operator, _is_double(expr):
            case "+", False:
                return fn.try_add(left, right)
            case "-", False:
                return fn.try_subtract(left, right)
            case "*", False:
                return fn.try_multiply(left, right)
            case "%", False:
                return fn.try_mod(left, right)
            case "+", True:
                return finite(left + right)
            case "-", True:
                return finite(left - right)
            case "*", True:
                return finite(left * right)
            case "/", True:
                return finite(fn.try_divide(left, right))
            case "%", True:
                return finite(fn.try_mod(left, right))
        raise AssertionError(expr.operator)

    def _compare(self, expr: e.Compare) -> Column:
        if _is_nothing(expr.left) or _is_nothing(expr.right):
            return fn.lit(False)
        as_doubles = _is_double(expr.left) != _is_double(expr.right)
        left, right = self._operands(expr.left, expr.right, as_doubles=as_doubles)
        return fn.coalesce(_COMPARISONS[expr.operator](left, right), fn.lit(False))

    def _among(self, item: e.Expr, choices: tuple[e.Literal, ...]) -> Column:
        found = self.value(item)
        values: list[Value] = [choice.value for choice in choices if choice.value is not None]
        if _is_double(item):
            found = found + fn.lit(0.0)  # `isin` distinguishes a negative zero from zero
            values = [float(value) + 0.0 for value in values if isinstance(value, int | float)]
        elif not item.type.is_text and item.type is not Type.BOOLEAN:
            values = [int(value) for value in values if isinstance(value, int | float) and _is_whole(value)]
        if _is_nothing(item) or not values:
            return fn.lit(False)
        kind = "double" if _is_double(item) else SPARK_TYPES[item.type]
        return fn.coalesce(found.isin([fn.lit(value).cast(kind) for value in values]), fn.lit(False))

    def _operands(self, left: e.Expr, right: e.Expr, *, as_doubles: bool) -> tuple[Column, Column]:
        one, other = self._operand(left), self._operand(right)
        return (one.cast("double"), other.cast("double")) if as_doubles else (one, other)

    def _operand(self, expr: e.Expr) -> Column:
        value = self.value(expr)
        if isinstance(expr, e.Arithmetic) and not _is_double(expr) and not _is_nothing(expr):
            # keeps Spark from reordering the constants of a sum or product: another order may overflow elsewhere
            return fn.bitwise_not(fn.bitwise_not(value))
        return value


def _is_nothing(expr: e.Expr) -> bool:
    return expr.type is Type.NULL or (isinstance(expr, e.Literal) and expr.value is None)


def _nothing(expr: e.Expr) -> Column:
    return fn.lit(None).cast("double" if _is_double(expr) else SPARK_TYPES[expr.type])


def _is_double(expr: e.Expr) -> bool:
    """Whether the values are doubles, as are durations that are divided, or multiplied by a double."""
    match expr:
        case _ if expr.type is Type.DOUBLE:
            return True
        case e.Negate(item=item):
            return _is_double(item)
        case e.Arithmetic(operator=symbol, left=left, right=right):
            return symbol == "/" or _is_double(left) or _is_double(right)
        case _:
            return False


def _is_whole(number: float) -> bool:
    """Whether a number is an integer of 64 bits, however it is written."""
    return number == int(number) and -(2**63) <= number < 2**63
