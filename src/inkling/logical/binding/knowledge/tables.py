"""Background knowledge: tables, and calls of them and of rules."""

from __future__ import annotations

from textwrap import fill

from inkling.language import syntax as s
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean
from inkling.logical.binding.streams.columns import ColumnList
from inkling.logical.functions import FUNCTIONS, WRITE_INSTEAD
from inkling.model.schema import TableSchema


def bind_table(decl: s.TableDecl, catalog: Catalog, diagnostics: Diagnostics) -> TableSchema | None:
    n_errors = diagnostics.n_errors
    columns = ColumnList(decl.name.text, diagnostics)
    columns.declare(decl.columns)
    if diagnostics.n_errors > n_errors:
        catalog.broken_tables.add(decl.name.text)
        return None
    table = TableSchema(decl.name.text, columns.finished(), decl.path)
    catalog.tables[table.name] = table
    return table


def check_arity(call: s.Call, catalog: Catalog, diagnostics: Diagnostics) -> bool:
    """Whether a call of a table or rule exists with as many arguments; says so when not."""
    name = call.name.text
    if name in catalog.broken_tables:
        return False
    if name in catalog.tables:
        columns = [column.name for column in catalog.tables[name].columns]
        wanted, signature = len(columns), f"{name}({', '.join(columns)})"
    elif name in catalog.rules:
        wanted, signature = catalog.rules[name], ""
    else:
        if catalog.function(name) is None:
            _unknown(call, catalog, diagnostics)
        return False
    if len(call.args) != wanted:
        diagnostics.wrong(
            "INK0209",
            f"`{name}` takes {wanted} argument{'' if wanted == 1 else 's'}, found {len(call.args)}",
            call,
            notes=[f"the declaration is `{signature}`"] if signature else [],
        )
        return False
    return True


def _unknown(call: s.Call, catalog: Catalog, diagnostics: Diagnostics) -> None:
    name = call.name
    if diagnostics.repeats("INK0206", name.text):
        return
    notes = []
    if name.text in catalog.sources:
        notes.append(f"`{name}` is a stream or event; its events are named in the pattern, not called")
    instead = WRITE_INSTEAD.get(name.text.lower())
    remark = _REMARKS.get(name.text.lower())
    if instead is not None:
        arguments = [diagnostics.words(argument) for argument in call.args]
        helps: tuple[str, ...] = (f"write `{instead.format(*arguments, *'xy'[len(arguments) :])}`",)
    elif remark is not None:
        notes.append(remark[0])
        helps = (remark[1],)
    else:
        helps = did_you_mean(name.text, catalog.knowledge_names)
    if not notes and not helps:
        notes.append(fill(f"functions are {', '.join(sorted(FUNCTIONS))}", width=100))
    diagnostics.wrong("INK0206", f"no table, rule or function is called `{name}`", name, notes=notes, helps=helps)


_REMARKS = {  # functions of other languages that no expression replaces
    name: (note, help)
    for names, note, help in (
        ("coalesce ifnull nvl", "a missing value makes a comparison unknown", "write `x IS NULL OR x > 0`"),
        (
            "lag prev previous",
            "earlier rows of a key are read where the stream is declared",
            "add `DERIVE before = PREV(column)` to the stream and compare with `e.before`",
        ),
        (
            "now current_timestamp current_time sysdate getdate",
            "a program sees the times of events, not of the machine",
            "write the time column of an event, such as `e.t`",
        ),
        (
            "if iff iif decode case",
            "an expression has no branches",
            "write one EVENT per branch, each with its condition in WHERE",
        ),
        (
            "cast convert try_cast to_number to_char to_timestamp",
            "a column has the type of its declaration",
            "declare the column with the type that is needed",
        ),
    )
    for name in names.split()
}
