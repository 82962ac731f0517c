"""Background knowledge: tables, and calls of them and of rules."""

from __future__ import annotations

from inkling.language import syntax as s
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.columns import ColumnList
from inkling.logical.binding.mistakes import Mistakes, did_you_mean
from inkling.model.schema import TableSchema


def bind_table(decl: s.TableDecl, catalog: Catalog, mistakes: Mistakes) -> TableSchema | None:
    n_errors = mistakes.n_errors
    columns = ColumnList(decl.name.text, mistakes)
    columns.declare(decl.columns)
    if mistakes.n_errors > n_errors:
        catalog.broken_tables.add(decl.name.text)
        return None
    table = TableSchema(decl.name.text, columns.finished(), decl.path)
    catalog.tables[table.name] = table
    return table


def check_arity(call: s.Call, catalog: Catalog, mistakes: Mistakes) -> bool:
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
            _unknown(call.name, catalog, mistakes)
        return False
    if len(call.args) != wanted:
        mistakes.wrong(
            "INK0209",
            f"`{name}` takes {wanted} argument{'' if wanted == 1 else 's'}, found {len(call.args)}",
            call,
            notes=[f"it is declared as `{signature}`"] if signature else [],
        )
        return False
    return True


def _unknown(name: s.Ident, catalog: Catalog, mistakes: Mistakes) -> None:
    if mistakes.repeats("INK0206", name.text):
        return
    notes = []
    if name.text in catalog.sources:
        notes.append(f"`{name}` is a stream or event; its events are named in the pattern, not called")
    mistakes.wrong(
        "INK0206",
        f"no table, rule or function is called `{name}`",
        name,
        notes=notes,
        helps=did_you_mean(name.text, catalog.knowledge_names),
    )
