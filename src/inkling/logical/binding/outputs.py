"""The columns of a result: the head and RETURN, and what they are called."""

from __future__ import annotations

from collections import Counter

from inkling.language import syntax as s
from inkling.logical.binding.mistakes import Mistakes, listed
from inkling.logical.binding.names import EventNames
from inkling.logical.binding.viewpoint import Viewpoint
from inkling.logical.expr import KeyColumn
from inkling.logical.plan import Output

RESULT_COLUMNS = (
    "event",
    "start",
    "end",
    "detected_at",
    "probability",
    "method",
    "error",
    "op",
    "lineage",
)
"""Columns that every result has besides its own."""


def bind_outputs(decl: s.EventDecl, names: EventNames) -> tuple[tuple[Output, ...], tuple[Output, ...]]:
    """Head and RETURN columns.

    An event without a head but with PARTITION BY returns the partition columns, so that a result says whose it is.
    """
    items = (*(decl.head or ()), *decl.returns)
    titles = _titles(items, names.mistakes)
    _refuse_clashes(items, titles, decl, names.mistakes)
    bound = [_output(item, title, names) for item, title in zip(items, titles, strict=True)]
    n_head = len(decl.head or ())
    head = tuple(output for output in bound[:n_head] if output)
    if decl.head is None:
        head = tuple(
            Output(name, KeyColumn(name, kind))
            for name, kind in names.partition.items()
            if kind is not None
        )
    return head, tuple(output for output in bound[n_head:] if output)


def _output(item: s.Item, title: str | None, names: EventNames) -> Output | None:
    view = Viewpoint(names, names.shape.top.standpoint, ids_for_variables=True)
    value = view.binder().value(item.value)
    return None if value is None or title is None else Output(title, value)


def _titles(items: tuple[s.Item, ...], mistakes: Mistakes) -> list[str | None]:
    """A name per item: its alias, or its column if no other item has that name, or variable and column."""
    short = [item.alias.text if item.alias else _short_title(item.value) for item in items]
    taken = Counter(short)
    titles = []
    for item, title in zip(items, short, strict=True):
        if title is None:
            mistakes.wrong(
                "INK0219",
                "a computed value needs a name",
                item,
                helps=[f"write `{mistakes.words(item)} AS …`"],
            )
        value = item.value
        if isinstance(value, s.Attribute) and not item.alias and taken[title] > 1:
            title = f"{value.var}_{value.column}"
        titles.append(title)
    return titles


def _short_title(value: s.Expr) -> str | None:
    match value:
        case s.Variable(name=name):
            return name.text
        case s.Attribute(column=column):
            return column.text
        case s.Part(which=which, column=column):
            return f"{which.lower()}_{column}"
        case s.Aggregate(function=function, var=var, column=column):
            return f"{function.lower()}_{column or var}"
        case s.TimeOf(which=which, var=var):
            return f"{which.lower()}_{var}"
        case s.IdOf(var=var):
            return f"id_{var}"
        case _:
            return None


def _refuse_clashes(
    items: tuple[s.Item, ...], titles: list[str | None], decl: s.EventDecl, mistakes: Mistakes
) -> None:
    first: dict[str, s.Node] = {}
    if decl.head is None:
        first = {column.text: column for column in decl.partition_by}
    for column in first:
        _refuse_reserved(column, first[column], mistakes, alias=False)
    for item, title in zip(items, titles, strict=True):
        if title is None:
            continue
        _refuse_reserved(title, item, mistakes, alias=True)
        if title in first:
            mistakes.wrong(
                "INK0220",
                f"two columns of `{decl.name}` are called `{title}`",
                item,
                notes=[f"the first stands at {mistakes.place(first[title])}"],
                helps=["give one of them another name with `AS`"],
            )
        first.setdefault(title, item)


def _refuse_reserved(title: str, at: s.Node, mistakes: Mistakes, *, alias: bool) -> None:
    if title in RESULT_COLUMNS:
        mistakes.wrong(
            "INK0220",
            f"every result already has a column `{title}`",
            at,
            notes=[f"results always have {listed(RESULT_COLUMNS)}"],
            helps=["give it another name with `AS`" if alias else "write a head with another name: `EVENT e(k AS …)`"],
        )
