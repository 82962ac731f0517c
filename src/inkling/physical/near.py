"""Look-ups that ask for facts near a row: a condition that bounds the distance between the two."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from inkling.logical import expr as e
from inkling.logical.functions import EARTH_RADIUS_M
from inkling.logical.plan import TableAtom
from inkling.physical.naming import fact_name

_LESS, _MORE = frozenset(("<", "<=", "=")), frozenset((">", ">=", "="))


@dataclass(frozen=True, slots=True)
class Near:
    """The facts of an atom lie at most `degrees` of a great circle away from a position of the row."""

    atom: int
    lat: e.Expr  # of the row
    lon: e.Expr
    fact_lat: str  # columns of the table
    fact_lon: str
    degrees: float


def near_of(atoms: tuple[TableAtom, ...], conditions: Iterable[e.Expr]) -> Near | None:
    """The narrowest bound that conditions on rows which must all hold set to one of the atoms."""
    found = [near for condition in conditions for atom in atoms if (near := _bound(atom, condition)) is not None]
    return min(found, key=lambda near: near.degrees, default=None)


def _bound(atom: TableAtom, condition: e.Expr) -> Near | None:
    match condition:
        case e.Compare(operator=symbol, left=e.FunctionCall() as call, right=e.Literal(value=limit)) if symbol in _LESS:
            return _near(atom, call, limit)
        case e.Compare(operator=symbol, left=e.Literal(value=limit), right=e.FunctionCall() as call) if symbol in _MORE:
            return _near(atom, call, limit)
        case _:
            return None


def _near(atom: TableAtom, call: e.FunctionCall, limit: object) -> Near | None:
    radius: object
    match call.name, call.args:
        case "haversine", (lat1, lon1, lat2, lon2):
            radius = EARTH_RADIUS_M
        case "great_circle", (lat1, lon1, lat2, lon2, e.Literal(value=radius)):
            pass
        case _:
            return None
    if not isinstance(limit, int | float) or not isinstance(radius, int | float) or radius <= 0:
        return None
    degrees = math.degrees(max(limit, 0.0) / radius)
    columns = {fact_name(atom.number, column.name, column.type): column.name for column in atom.columns}
    for here, there in (((lat1, lon1), (lat2, lon2)), ((lat2, lon2), (lat1, lon1))):
        names = [columns.get(one.column) if isinstance(one, e.ColumnOf) else None for one in there]
        if names[0] is not None and names[1] is not None and not any(map(_reads_facts, here)):
            return Near(atom.number, *here, names[0], names[1], degrees)
    return None


def _reads_facts(expr: e.Expr) -> bool:
    """Whether a value comes from some table, whose join may come later."""
    return any(
        isinstance(part, e.FactColumn | e.InTable) or (isinstance(part, e.ColumnOf) and part.column.startswith("fact"))
        for part in e.walk(expr)
    )
