"""Writes values and conditions with the fewest parentheses that keep their meaning."""

from fractions import Fraction

from inkling.language import syntax as s
from inkling.language.kit.layout import LINE, Doc, Group, Nest, bracketed, joined
from inkling.language.names import BUILT_IN_FUNCTIONS, IN_EXPRESSIONS, written_name, written_text

# from the loosest operator to the tightest
_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _SIGN, _VALUE = range(8)


def expression(node: s.Expr, at_least: int = _OR) -> Doc:
    """The document of an expression, in parentheses when it binds looser than `at_least`."""
    doc = _bare(node)
    return ("(", doc, ")") if _level(node) < at_least else doc


def condition(word: str, node: s.Expr) -> Doc:
    """`WHERE c`, with the parts of a long conjunction below each other."""
    match node:
        case s.AllOf(items):
            parts = [expression(item, _NOT) for item in items]
            return Group((f"{word} ", Nest(joined((LINE, "AND "), parts))))
        case _:
            return (f"{word} ", expression(node))


def column_name(ident: s.Ident) -> str:
    return written_name(ident.text)


def literal(value: s.Scalar) -> str:
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


def _level(node: s.Expr) -> int:
    match node:
        case s.AnyOf():
            return _OR
        case s.AllOf():
            return _AND
        case s.Negation():
            return _NOT
        case s.Compare() | s.InList() | s.IsNull():
            return _COMPARISON
        case s.Binary("+" | "-"):
            return _SUM
        case s.Binary():
            return _PRODUCT
        case s.Unary():
            return _SIGN
        case _:
            return _VALUE


def _bare(node: s.Expr) -> Doc:
    match node:
        case s.Literal(value):
            return literal(value)
        case s.Duration(amount, unit):
            return f"{decimal(amount)} {unit}"
        case s.Variable(name):
            return _variable(name)
        case s.Attribute(var, column):
            return f"{_variable(var)}.{column_name(column)}"
        case s.FirstOrLast(which, var, column):
            return f"{which}({_variable(var)}).{column_name(column)}"
        case s.Aggregate(function, var, of_column):
            suffix = f".{column_name(of_column)}" if of_column else ""
            return f"{function}({_variable(var)}{suffix})"
        case s.Previous(column):
            return f"PREV({_variable(column)})"
        case s.SinceChange(column):
            return f"SINCE_CHANGE({_variable(column)})"
        case s.TimeOf(which, var):
            return f"{which}({_variable(var)})"
        case s.IdOf(var):
            return f"ID({_variable(var)})"
        case s.Call():
            return call(node)
        case s.Unary(op, operand):
            # two signs in a row would start a comment
            needs = _VALUE if isinstance(operand, s.Unary) else _SIGN
            return (op, expression(operand, needs))
        case s.Binary(op, left, right):
            level = _level(node)
            return (expression(left, level), f" {op} ", expression(right, level + 1))
        case s.Compare(op, left, right):
            return (expression(left, _SUM), f" {op} ", expression(right, _SUM))
        case s.InList(item, options, negated):
            word = " NOT IN " if negated else " IN "
            choices = bracketed("(", [expression(option) for option in options], ")")
            return (expression(item, _SUM), word, choices)
        case s.IsNull(item, negated):
            return (expression(item, _SUM), " IS NOT NULL" if negated else " IS NULL")
        case s.AllOf(items):
            parts = [expression(item, _NOT) for item in items]
            return Group(joined((LINE, "AND "), parts))
        case s.AnyOf(items):
            parts = [expression(item, _AND) for item in items]
            return Group(joined((LINE, "OR "), parts))
        case s.Negation(item):
            return ("NOT ", expression(item, _NOT))


def call(node: s.Call) -> Doc:
    name = written_name(node.name.text, IN_EXPRESSIONS | BUILT_IN_FUNCTIONS)
    return bracketed(f"{name}(", [_argument(arg) for arg in node.args], ")")


def _argument(node: s.Expr) -> Doc:
    """Only as an argument of its own does `_` stand for anything; elsewhere it is a name that needs quotes."""
    return "_" if isinstance(node, s.Variable) and node.name.text == "_" else expression(node)


def _variable(ident: s.Ident) -> str:
    return written_name(ident.text, IN_EXPRESSIONS)
