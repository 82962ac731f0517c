"""Events named like a stream: their results are further events of the stream, wherever a pattern reads it.

STREAM price(currency STRING, value DOUBLE) TIME t;
EVENT price('EUR' AS currency, 0.9 * p.value AS value) AS PATTERN price p[currency = 'USD'] PER INTERVAL;

A pattern that reads `price` reads `price | price_derived`; the event itself is called `price_derived`.
"""

from dataclasses import replace

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog, CatalogSource, Columns
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.logical.binding.events.outputs import as_types
from inkling.logical.binding.uncertainty import roles_of
from inkling.model.types import Type


def with_own_names(program: s.Program) -> s.Program:
    """The program in which events that extend a stream have a name of their own."""
    extended = program.extended

    def own(name: s.Ident) -> s.Ident:
        return replace(name, text=extended[name.text]) if name.text in extended else name

    statements: list[s.Statement] = []
    for one in program.statements:
        match one:
            case s.EventDecl(name=name):
                statements.append(replace(one, name=own(name)))
            case s.ForecastDecl(event=event) if event.text in extended:
                statements.append(replace(one, event=own(event), name=one.result))
            case _:
                statements.append(one)
    return replace(program, statements=tuple(statements)) if extended else program


def payload_of(decl: s.StreamDecl, catalog: Catalog) -> Columns:
    """The columns of a stream that its derived events need too: those without a role, and KEY."""
    taken = {column.text for role, column in roles_of(decl) if role != "KEY"}
    columns = catalog.sources[decl.name.text].columns
    return {name: kind for name, kind in columns.items() if name not in taken}


def as_read(source: CatalogSource, catalog: Catalog) -> CatalogSource:
    """An event as patterns read it: if it extends a stream, it has the columns of the stream or an error."""
    payload = catalog.payloads.get(source.name)
    return source if payload is None else replace(source, columns={**source.columns, **payload})


def in_types_of_stream(plan: p.EventPlan, payload: Columns) -> p.EventPlan:
    """The event with INTEGER columns as DOUBLE where the stream that it extends has DOUBLE."""
    outputs = (*plan.head, *plan.returns)
    return as_types(plan, [Type.DOUBLE if _widens(one, payload) else one.type for one in outputs])


def _widens(output: p.Output, payload: Columns) -> bool:
    return output.type is Type.INTEGER and payload.get(output.name) is Type.DOUBLE


def fits_stream(plan: p.EventPlan, decl: s.EventDecl, catalog: Catalog, diagnostics: Diagnostics) -> bool:
    """Whether an event has all columns of the stream that it extends, in their types; reports if not."""
    own = {column.name: column.type for column in plan.schema.columns}
    wanted = catalog.payloads[plan.name]
    lacking = [name for name in wanted if name not in own]
    other = [name for name, kind in wanted.items() if kind is not None and own.get(name, kind) is not kind]
    if not lacking and not other:
        return True
    stream = diagnostics.text_of(decl.name)
    if lacking:
        wrong = f"{listed(lacking)} {'is' if len(lacking) == 1 else 'are'} missing"
    else:
        wrong = f"`{other[0]}` is {own[other[0]]} here and {wanted[other[0]]} in the stream"
    items = ", ".join(f"… AS {name}" for name in wanted)
    diagnostics.error(
        "INK0339",
        f"events with the name of the stream `{stream}` need its columns: {wrong}",
        decl.name,
        notes=[f"patterns that read `{stream}` find the rows of the stream and these events"],
        helps=[f"write `EVENT {stream}({items}) AS …`, or give the event another name"],
    )
    return False
