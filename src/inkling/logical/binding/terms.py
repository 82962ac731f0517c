"""RDF terms in expressions: comparisons by the operators of SPARQL, and functions of constants."""

from __future__ import annotations

from collections.abc import Callable

from inkling.logical import expr as e
from inkling.logical.functions import FUNCTIONS, TERM_OF
from inkling.logical.terms import plain_literal, typed_literal
from inkling.model import terms
from inkling.model.terms import MalformedTermError
from inkling.model.types import Type

SAME_TERM, MADE_TERM = FUNCTIONS["sameterm"], FUNCTIONS["term"]

_MAKERS: dict[str, Callable[..., str]] = {
    "iri": terms.iri,
    "literal": plain_literal,
    "typed": typed_literal,
    "blank": terms.blank,
    "parsed_term": terms.canonical,
}
IDENTICAL = ("string", "boolean")
"""Kinds whose values are equal only if the terms are the same."""


def compared_terms(symbol: str, left: e.Expr, right: e.Expr) -> e.Expr:
    """`left symbol right` for terms, or a term and another value: true only if SPARQL's operator is true."""
    one, other = as_term(left), as_term(right)
    if symbol == "=":
        return _equal(one, other)
    if symbol == "<>":
        return e.AllOf((_known(one, other), e.Not(_equal(one, other))))
    kinds = applied("order_kind", one), applied("order_kind", other)
    if any(isinstance(kind, e.Literal) and kind.value is None for kind in kinds):
        return e.AnyOf(())
    values = applied("term_value", one), applied("term_value", other)
    return e.AllOf((e.Compare("=", *kinds), e.Compare(symbol, *values)))


def _equal(one: e.Expr, other: e.Expr) -> e.Expr:
    for constant in (one, other):
        if isinstance(constant, e.Literal) and _is_identity(constant):
            return e.Compare("=", one, other)
    return e.Compare("=", applied("term_value", one), applied("term_value", other))


def _is_identity(constant: e.Literal) -> bool:
    """Whether only the same term is equal to a constant."""
    text = constant.value
    if not isinstance(text, str):
        return False
    return FUNCTIONS["unknown_value"].meaning(text) == 0 or FUNCTIONS["order_kind"].meaning(text) in IDENTICAL


def _known(one: e.Expr, other: e.Expr) -> e.Expr:
    """Whether it is known if two terms have different values: no unknown datatype stands beside another literal."""
    unknown = [applied("unknown_value", one), applied("unknown_value", other)]
    for place, constant in enumerate(unknown):
        if isinstance(constant, e.Literal) and isinstance(constant.value, int):
            if constant.value == 0:
                return e.IsNull((one, other)[1 - place], negated=True)
            return e.Compare("<", unknown[1 - place], e.Literal(3 - constant.value, Type.INTEGER))
    return e.Compare("<", e.Arithmetic("+", unknown[0], unknown[1], Type.INTEGER), e.Literal(3, Type.INTEGER))


def as_term(value: e.Expr) -> e.Expr:
    """A value as a term."""
    if value.type is Type.TERM:
        return value
    if value.type is Type.NULL:
        return e.Literal(None, Type.TERM)
    return applied(TERM_OF[value.type], value)


def folded(call: e.FunctionCall) -> e.Expr:
    """A function of constant terms as a constant; other calls as they are."""
    function = FUNCTIONS[call.name]
    values = [arg.value for arg in call.args if isinstance(arg, e.Literal)]
    if Type.TERM not in (*function.parameters, function.result) or len(values) < len(call.args):
        return call
    return e.Literal(None if None in values else function.meaning(*values), function.result)


def malformed_reason(name: str, args: tuple[e.Expr, ...]) -> str | None:
    """Why constants make no term; None if they do, or if they are not constant."""
    texts = [arg.value for arg in args if isinstance(arg, e.Literal) and isinstance(arg.value, str)]
    if name not in _MAKERS or len(texts) < len(args):
        return None
    try:
        _MAKERS[name](*texts)
    except MalformedTermError as malformed:
        return str(malformed)
    return None


def applied(name: str, arg: e.Expr) -> e.Expr:
    """A function of one argument; of a choice, the choice of its values: what concerns one event is then a column."""
    if isinstance(arg, e.Chosen):
        values = tuple(applied(name, value) for value in arg.values)
        return e.Chosen(arg.conditions, values, FUNCTIONS[name].result)
    return folded(e.FunctionCall(name, (arg,), FUNCTIONS[name].result))
