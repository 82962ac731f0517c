"""Walks through written expressions and patterns without regard to what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from inkling.language import syntax as s


def walk(expr: s.Expr | None) -> Iterator[s.Expr]:
    """The expression and everything inside it, left to right."""
    if expr is None:
        return
    yield expr
    for child in _children(expr):
        if isinstance(child, s.Expr):
            yield from walk(child)


def conjuncts(expr: s.Expr | None) -> Iterator[s.Expr]:
    """The parts of a conjunction, flattened."""
    if isinstance(expr, s.AllOf):
        for item in expr.items:
            yield from conjuncts(item)
    elif expr is not None:
        yield expr


def parts_of(node: s.Node) -> Iterator[s.Node]:
    """A pattern and everything inside it except its conditions, left to right."""
    yield node
    for child in direct_parts(node):
        yield from parts_of(child)


def direct_parts(node: s.Node) -> Iterator[s.Node]:
    """What a pattern is made of directly, without names and conditions."""
    yield from (child for child in _children(node) if not isinstance(child, s.Expr | s.Ident))


def named_sources(node: s.Node) -> Iterator[s.Ident]:
    """Every stream or event that a pattern names, in order, absent ones included."""
    for part in parts_of(node):
        match part:
            case s.Leaf(types=types):
                yield from types
            case s.WindowOf(stream=stream) | s.Quantity(stream=stream):
                yield stream
            case _:
                pass


def _children(node: s.Node) -> Iterator[s.Node]:
    for part in fields(node):
        value = getattr(node, part.name)
        if isinstance(value, s.Node):
            yield value
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, s.Node))
