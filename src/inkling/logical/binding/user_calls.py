"""Calls of aggregates that are written in Python, told apart from look-ups and functions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

from inkling.language import syntax as s

Written = TypeVar("Written", bound=s.Node)


def with_aggregates(node: Written, names: Collection[str]) -> Written:
    """The same with `name(w.x)` as an aggregate for each of the names; the same object when there is none."""
    return cast(Written, _changed(node, names)) if names else node


def _changed(node: s.Node, names: Collection[str]) -> s.Node:
    match node:
        case s.Call(name=name, args=(s.Attribute(var=var, column=column),)) if name.text in names:
            return s.Aggregate(cast(Any, name.text), var, column, span=node.span)
        case s.Call(name=name, args=(s.Variable(name=var),)) if name.text in names:
            return s.Aggregate(cast(Any, name.text), var, span=node.span)
    changes: dict[str, Any] = {}
    for part in fields(node):
        value = getattr(node, part.name)
        if isinstance(value, s.Node):
            new: Any = _changed(value, names)
        elif isinstance(value, tuple):
            items = [_changed(item, names) if isinstance(item, s.Node) else item for item in value]
            new = value if all(one is other for one, other in zip(items, value, strict=True)) else tuple(items)
        else:
            continue
        if new is not value:
            changes[part.name] = new
    return replace(cast(Any, node), **changes) if changes else node
