"""Physical column names inside a stage: a name and a type, so that equal names of different types are distinct.

>>> physical_name("speed", Type.DOUBLE)
'speed|DOUBLE'
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.expr import rebuilt
from inkling.model.schema import Column
from inkling.model.types import Type


def physical_name(column: str, kind: Type) -> str:
    return f"{column}|{kind.value}"


def fact_name(atom: int, column: str, kind: Type) -> str:
    """The physical name of a column that a table atom supplies."""
    return physical_name(f"fact{atom}.{column}", kind)


def type_of(name: str) -> Type:
    return Type(name.rsplit("|", 1)[1])


@dataclass(frozen=True, slots=True)
class Naming:
    """The physical names of the columns of one event inside a stage."""

    column_types: dict[tuple[int, str], Type]  # (slot, column) -> type
    atom_owner: dict[int, int]  # table atom -> slot whose rows carry its values

    def physical(self, expr: e.Expr, slot: int | None = None) -> e.Expr:
        """The expression over physical columns; partition columns are read from the event in `slot`, if given."""
        match expr:
            case e.ColumnOf(column=column, type=kind) | e.ListColumn(column=column, type=kind):
                return replace(expr, column=physical_name(column, kind))
            case e.Aggregate(slot=aggregated, column=column) if column is not None:
                kind = self.column_types[aggregated, column]
                return replace(expr, column=physical_name(column, kind))
            case e.KeyColumn(column=column, type=kind):
                name = physical_name(column, kind)
                return e.KeyColumn(name, kind) if slot is None else e.ColumnOf(slot, name, kind)
            case e.FactColumn(atom=atom, column=column, type=kind, outside=True):
                return e.ListColumn(e.Which.LAST, self.atom_owner[atom], fact_name(atom, column, kind), kind)
            case e.FactColumn(atom=atom, column=column, type=kind) if atom >= 0:
                return e.ColumnOf(self.atom_owner[atom], fact_name(atom, column, kind), kind)
        return rebuilt(expr, lambda part: self.physical(part, slot))


def row_expr(expr: e.Expr) -> e.Expr:
    """A condition on one slot as a condition on a row."""
    match expr:
        case e.ColumnOf() | e.TimeOf() | e.IdOf():
            return replace(expr, slot=e.ROW)
    return rebuilt(expr, row_expr)


def with_physical_columns(pattern: p.Quantified) -> p.Quantified:
    """The relation over physical columns."""
    left, right = (_physical_operand(operand) for operand in (pattern.left, pattern.right))
    return replace(pattern, left=left, right=right, same=_physical(pattern.same))


def columns_of_segments(operand: p.Operand, same: Column | None) -> Iterator[Column]:
    """Every column that determines the segments of an operand."""
    yield from operand.key
    pairing = operand.pairing or p.Pairing()
    yield from (column for column in (same, pairing.role, pairing.number) if column is not None)


def _physical_operand(operand: p.Operand) -> p.Operand:
    pairing = operand.pairing
    if pairing is not None:
        pairing = p.Pairing(_physical(pairing.role), _physical(pairing.number))
    key = tuple(_named(column) for column in operand.key)
    return replace(operand, key=key, pairing=pairing)


def _physical(column: Column | None) -> Column | None:
    return None if column is None else _named(column)


def _named(column: Column) -> Column:
    return Column(physical_name(column.name, column.type), column.type)
