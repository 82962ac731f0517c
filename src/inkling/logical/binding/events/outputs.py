"""The columns of a result (head and RETURN), their names, and the key of results for events that read them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.binding.catalog import CatalogSource
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.logical.binding.patterns.scope import EventNames, NameScope
from inkling.logical.expr import KeyColumn
from inkling.model.types import Type

RESULT_COLUMNS = ("event", "start", "end", "detected_at", "probability", "method", "error", "op", "lineage")
"""Columns that every result has besides its own."""


def bind_outputs(decl: s.EventDecl, names: EventNames) -> tuple[tuple[p.Output, ...], tuple[p.Output, ...]]:
    """Head and RETURN columns.

    An event without a head but with PARTITION BY has the partition columns as its head.
    """
    head, returned = _shared(decl, names)
    items = (*head, *returned)
    titles = _titles(items, names.diagnostics)
    _reject_clashes(items, titles, decl, names.diagnostics)
    bound = [_output(item, title, names) for item, title in zip(items, titles, strict=True)]
    outputs = tuple(output for output in bound[: len(head)] if output)
    if decl.head is None:
        outputs = tuple(
            p.Output(name, KeyColumn(name, kind)) for name, kind in names.partition.items() if kind is not None
        )
    return outputs, tuple(output for output in bound[len(head) :] if output)


def _shared(decl: s.EventDecl, names: EventNames) -> tuple[tuple[s.Item, ...], tuple[s.Item, ...]]:
    """Head and RETURN items; a name in the head that RETURN defines is replaced by its definition."""
    defined = {item.alias.text: item for item in decl.returns if item.alias}
    bound = {*names.bare_names, *names.draft.names, *names.poisoned}
    used: set[str] = set()
    head = []
    for item in decl.head or ():
        name = item.value.name.text if isinstance(item.value, s.Variable) and not item.alias else ""
        if name in defined and name not in bound:
            used.add(name)
        head.append(defined[name] if name in used else item)
    return tuple(head), tuple(item for item in decl.returns if not (item.alias and item.alias.text in used))


def _output(item: s.Item, title: str | None, names: EventNames) -> p.Output | None:
    view = NameScope(names, names.draft.top.evaluation_point, ids_for_variables=True)
    value = view.binder().value(item.value)
    return None if value is None or title is None else p.Output(title, value)


def titles_of(items: tuple[s.Item, ...]) -> list[str | None]:
    """A name per item: its alias, its column if no other item has that name, or `variable_column`."""
    short = [item.alias.text if item.alias else _short_title(item.value) for item in items]
    taken = Counter(short)
    titles = []
    for item, title in zip(items, short, strict=True):
        value = item.value
        if isinstance(value, s.Attribute) and not item.alias and taken[title] > 1:
            title = f"{value.var}_{value.column}"
        titles.append(title)
    return titles


def _titles(items: tuple[s.Item, ...], diagnostics: Diagnostics) -> list[str | None]:
    titles = titles_of(items)
    for item, title in zip(items, titles, strict=True):
        if title is None:
            diagnostics.error(
                "INK0219", "a computed value needs a name", item, helps=[f"write `{diagnostics.text_of(item)} AS …`"]
            )
    return titles


def _short_title(value: s.Expr) -> str | None:
    match value:
        case s.Variable(name=name):
            return name.text
        case s.Attribute(column=column):
            return column.text
        case s.FirstOrLast(which=which, column=column):
            return f"{which.lower()}_{column}"
        case s.Aggregate(function=function, var=var, column=column):
            return f"{function.lower()}_{column or var}"
        case s.TimeOf(which=which, var=var):
            return f"{which.lower()}_{var}"
        case s.IdOf(var=var):
            return f"id_{var}"
        case _:
            return None


def _reject_clashes(
    items: tuple[s.Item, ...], titles: list[str | None], decl: s.EventDecl, diagnostics: Diagnostics
) -> None:
    first: dict[str, s.Node] = {}
    if decl.head is None:
        first = {column.text: column for column in decl.partition_by}
    for column in first:
        _reject_reserved(column, first[column], diagnostics, alias=False)
    for item, title in zip(items, titles, strict=True):
        if title is None:
            continue
        _reject_reserved(title, item, diagnostics, alias=True)
        if title in first:
            diagnostics.error(
                "INK0220",
                f"two columns of `{decl.name}` are called `{title}`",
                item,
                notes=[f"the first is at {diagnostics.location(first[title])}"],
                helps=["give one of them another name with `AS`"],
            )
        first.setdefault(title, item)


def _reject_reserved(title: str, at: s.Node, diagnostics: Diagnostics, *, alias: bool) -> None:
    if title in RESULT_COLUMNS:
        diagnostics.error(
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


@dataclass(frozen=True, slots=True)
class ResultKey:
    """The result columns that identify the partition; none if the head lacks a column of PARTITION BY."""

    columns: tuple[str, ...]
    unshown: tuple[str, ...] = ()


def key_of_results(head: Iterable[p.Output], partition: Iterable[str], pattern: p.Pattern) -> ResultKey:
    """The columns of a head that equal a column of PARTITION BY in every match."""
    named = tuple(partition)
    present = _surely_filled(pattern)
    shown = {output.name: column for output in head if (column := _shown(output.expr, set(named), present)) is not None}
    unshown = tuple(name for name in named if name not in shown.values())
    return ResultKey((), unshown) if unshown else ResultKey(tuple(shown))


def as_types(plan: p.EventPlan, kinds: Sequence[Type]) -> p.EventPlan:
    """The event with columns of the wanted types: INTEGER becomes DOUBLE, and NULL becomes a null of any type."""
    outputs = [
        output if output.type is kind else p.Output(output.name, _as_type(output.expr, kind))
        for output, kind in zip((*plan.head, *plan.returns), kinds, strict=True)
    ]
    columns = tuple(replace(column, type=kind) for column, kind in zip(plan.schema.columns, kinds, strict=True))
    given = len(plan.head)
    return replace(
        plan, head=tuple(outputs[:given]), returns=tuple(outputs[given:]), schema=replace(plan.schema, columns=columns)
    )


def _as_type(expr: e.Expr, kind: Type) -> e.Expr:
    if expr.type is Type.NULL:
        return e.Literal(None, kind)
    return e.Arithmetic("+", expr, e.Literal(0.0, Type.DOUBLE), Type.DOUBLE)


def event_source(
    plan: p.EventPlan, streams: frozenset[str], uncertain: frozenset[str], **changes: Any
) -> CatalogSource:
    """A derived event as other patterns read it; `streams` and `uncertain` are the streams that it depends on."""
    key = key_of_results(plan.head, (column.name for column in plan.partition), plan.pattern)
    fields: dict[str, Any] = {
        "is_ordered": plan.schema.is_ordered,
        "is_interval": plan.schema.is_interval,
        "key": key.columns,
        "unshown": key.unshown,
    }
    return CatalogSource(
        plan.name,
        {column.name: column.type for column in plan.schema.columns},
        streams=streams,
        uncertain=uncertain,
        is_derived=True,
        **fields | changes,
    )


def _shown(expr: e.Expr, partition: set[str], present: frozenset[int]) -> str | None:
    """The column of PARTITION BY that an expression equals in every match; None if there is none."""
    match expr:
        case e.KeyColumn(column=column):
            return column
        case e.ColumnOf(slot=slot, column=column) if slot in present and column in partition:
            return column
        case _:
            return None


def _surely_filled(pattern: p.Part) -> frozenset[int]:
    """Slots that hold one event in every match."""
    match pattern:
        case p.Leaf(slot=slot):
            return frozenset((slot,))
        case p.LeftJoin(left=left, right=right, kind=p.JoinKind.FACT):
            return _surely_filled(left) | _surely_filled(right)
        case p.Narrowed(pattern=inner) | p.Except(pattern=inner) | p.LeftJoin(left=inner):
            return _surely_filled(inner)
        case p.Sequence(parts=parts) | p.Conjunction(items=parts) | p.Parallel(items=parts):
            return frozenset[int]().union(*(_surely_filled(part) for part in parts))
        case p.Related(left=left, right=right):
            return _surely_filled(left) | _surely_filled(right)
        case _:
            return frozenset()
