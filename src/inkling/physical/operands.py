"""Columns that relations between segments read, under the names they have inside a stage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inkling.logical import plan as p
from inkling.model.schema import Column
from inkling.physical.naming import physical_name


def with_physical_columns(pattern: p.Quantified) -> p.Quantified:
    """The relation over physical columns."""
    left, right = (_physical_operand(operand) for operand in (pattern.left, pattern.right))
    return replace(pattern, left=left, right=right, same=_physical(pattern.same))


def columns_of_segments(operand: p.Operand, same: Column | None) -> Iterator[Column]:
    """Every column that tells which segments an operand has."""
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
