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

    An event without a head but with PARTITION BY returns the partition columns: a result says whose it is.
    """
    head, returned = _shared(decl, names)
    items = (*head, *returned)
    titles = _titles(items, names.mistakes)
    _refuse_clashes(items, titles, decl, names.mistakes)
    bound = [_output(item, title, names) for item, title in zip(items, titles, strict=True)]
    outputs = tuple(output for output in bound[: len(head)] if output)
    if decl.head is None:
        outputs = tuple(
            Output(name, KeyColumn(name, kind)) for name, kind in names.partition.items() if kind is not None
        )
    return outputs, tuple(output for output in bound[len(head) :] if output)


def _shared(decl: s.EventDecl, names: EventNames) -> tuple[tuple[s.Item, ...], tuple[s.Item, ...]]:
    """Head and RETURN items; a head name that RETURN defines takes its value from there."""
    defined = {item.alias.text: item for item in decl.returns if item.alias}
    bound = {*names.bare_names, *names.shape.names, *names.unknowable}
    used: set[str] = set()
    head = []
    for item in decl.head or ():
        name = item.value.name.text if isinstance(item.value, s.Variable) and not item.alias else ""
        if name in defined and name not in bound:
            used.add(name)
        head.append(defined[name] if name in used else item)
    return tuple(head), tuple(item for item in decl.returns if not (item.alias and item.alias.text in used))


def _output(item: s.Item, title: str | None, names: EventNames) -> Output | None:
    view = Viewpoint(names, names.shape.top.standpoint, ids_for_variables=True)
    value = view.binder().value(item.value)
    return None if value is None or title is None else Output(title, value)


def titles_of(items: tuple[s.Item, ...]) -> list[str | None]:
    """A name per item: its alias, or its column if no other item has that name, or variable and column."""
    short = [item.alias.text if item.alias else _short_title(item.value) for item in items]
    taken = Counter(short)
    titles = []
    for item, title in zip(items, short, strict=True):
        value = item.value
        if isinstance(value, s.Attribute) and not item.alias and taken[title] > 1:
            title = f"{value.var}_{value.column}"
        titles.append(title)
    return titles


def _titles(items: tuple[s.Item, ...], mistakes: Mistakes) -> list[str | None]:
    titles = titles_of(items)
    for item, title in zip(items, titles, strict=True):
        if title is None:
            mistakes.wrong(
                "INK0219",
                "a computed value needs a name",
                item,
                helps=[f"write `{mistakes.words(item)} AS …`"],
            )
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


def _refuse_clashes(items: tuple[s.Item, ...], titles: list[str | None], decl: s.EventDecl, mistakes: Mistakes) -> None:
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
            helps=[
                "give it another name with `AS`"
                if alias
                else f"write a head that renames it: `EVENT e({title} AS my_{title})`"
            ],
        )
