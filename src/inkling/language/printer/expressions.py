"""Writes values and conditions with the fewest parentheses that keep their meaning."""

from fractions import Fraction

from inkling.language.names import BUILT_IN_FUNCTIONS, IN_EXPRESSIONS, written_name, written_text
from inkling.language.printer.layout import LINE, Doc, Group, Nest, bracketed, joined
from inkling.language.syntax import (
    Aggregate,
    AllOf,
    AnyOf,
    Attribute,
    Binary,
    Call,
    Compare,
    Duration,
    Expr,
    Ident,
    IdOf,
    InList,
    IsNull,
    Literal,
    Negation,
    Part,
    Previous,
    Scalar,
    SinceChange,
    TimeOf,
    Unary,
    Variable,
)

# from the loosest operator to the tightest
_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _SIGN, _VALUE = range(8)


def expression(node: Expr, at_least: int = _OR) -> Doc:
    """The document of an expression, in parentheses when it binds looser than `at_least`."""
    doc = _bare(node)
    return ("(", doc, ")") if _level(node) < at_least else doc


def condition(word: str, node: Expr) -> Doc:
    """`WHERE c`, with the parts of a long conjunction below each other."""
    match node:
        case AllOf(items):
            parts = [expression(item, _NOT) for item in items]
            return Group((f"{word} ", Nest(joined((LINE, "AND "), parts))))
        case _:
            return (f"{word} ", expression(node))


def column_name(ident: Ident) -> str:
    return written_name(ident.text)


def literal(value: Scalar) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return written_text(value)
        case _:
            return repr(value)


def number(value: float) -> str:
    """A number without a needless fraction."""
    return str(int(value)) if value.is_integer() else repr(value)


def decimal(amount: int | Fraction) -> str:
    """All digits of a number that has finitely many."""
    n_digits = 0
    while (amount * 10**n_digits).denominator != 1:
        n_digits += 1
    if n_digits == 0:
        return str(int(amount))
    digits = str(int(amount * 10**n_digits)).rjust(n_digits + 1, "0")
    return f"{digits[:-n_digits]}.{digits[-n_digits:]}"


def _level(node: Expr) -> int:
    match node:
        case AnyOf():
            return _OR
        case AllOf():
            return _AND
        case Negation():
            return _NOT
        case Compare() | InList() | IsNull():
            return _COMPARISON
        case Binary("+" | "-"):
            return _SUM
        case Binary():
            return _PRODUCT
        case Unary():
            return _SIGN
        case _:
            return _VALUE


def _bare(node: Expr) -> Doc:
    match node:
        case Literal(value):
            return literal(value)
        case Duration(amount, unit):
            return f"{decimal(amount)} {unit}"
        case Variable(name):
            return _variable(name)
        case Attribute(var, column):
            return f"{_variable(var)}.{column_name(column)}"
        case Part(which, var, column):
            return f"{which}({_variable(var)}).{column_name(column)}"
        case Aggregate(function, var, of_column):
            suffix = f".{column_name(of_column)}" if of_column else ""
            return f"{function}({_variable(var)}{suffix})"
        case Previous(column):
            return f"PREV({_variable(column)})"
        case SinceChange(column):
            return f"SINCE_CHANGE({_variable(column)})"
        case TimeOf(which, var):
            return f"{which}({_variable(var)})"
        case IdOf(var):
            return f"ID({_variable(var)})"
        case Call():
            return call(node)
        case Unary(op, operand):
            # two signs in a row would start a comment
            needs = _VALUE if isinstance(operand, Unary) else _SIGN
            return (op, expression(operand, needs))
        case Binary(op, left, right):
            level = _level(node)
            return (expression(left, level), f" {op} ", expression(right, level + 1))
        case Compare(op, left, right):
            return (expression(left, _SUM), f" {op} ", expression(right, _SUM))
        case InList(item, options, negated):
            word = " NOT IN " if negated else " IN "
            choices = bracketed("(", [expression(option) for option in options], ")")
            return (expression(item, _SUM), word, choices)
        case IsNull(item, negated):
            return (expression(item, _SUM), " IS NOT NULL" if negated else " IS NULL")
        case AllOf(items):
            parts = [expression(item, _NOT) for item in items]
            return Group(joined((LINE, "AND "), parts))
        case AnyOf(items):
            parts = [expression(item, _AND) for item in items]
            return Group(joined((LINE, "OR "), parts))
        case Negation(item):
            return ("NOT ", expression(item, _NOT))


def call(node: Call) -> Doc:
    name = written_name(node.name.text, IN_EXPRESSIONS | BUILT_IN_FUNCTIONS)
    return bracketed(f"{name}(", [_argument(arg) for arg in node.args], ")")


def _argument(node: Expr) -> Doc:
    """Only as an argument of its own does `_` stand for anything; elsewhere it is a name that needs quotes."""
    return "_" if isinstance(node, Variable) and node.name.text == "_" else expression(node)


def _variable(ident: Ident) -> str:
    return written_name(ident.text, IN_EXPRESSIONS)
