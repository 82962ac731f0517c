"""Equalities that the partition key answers: rows of one key are equal in its columns, unless these have no value.

`SEQ(A a, B b[x = a.x])` is evaluated for each value of `x` alone, and nothing is left to compare.
"""

from collections.abc import Iterable, Mapping

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.plan import can_be_empty
from inkling.logical.recursion import group_of
from inkling.model.types import Type

_EXACT = (Type.INTEGER, Type.TIME, Type.STRING, Type.TERM)
"""Types whose values are equal as keys if and only if they are equal in conditions, unless they are null."""


def held_by_key(
    event: p.EventPlan, program: p.ProgramPlan, leaves: Iterable[p.Leaf], keys: Mapping[str, tuple[str, ...]]
) -> frozenset[e.Expr]:
    """Conditions that hold for all rows of a key with values; `keys` has the columns of the key by source.

    Only where every match fills all slots, except those of a NOT, so that no condition sees an empty one.
    """
    plain = event.consumption is None and event.forecast is None and all(map(_is_filled, p.parts_of(event.pattern)))
    if not plain or group_of(event, program).is_recursive:
        return frozenset()
    leaves = list(leaves)
    sources = {leaf.slot: leaf.sources or event.scope for leaf in leaves}
    places = {
        (slot, column): {
            place for place in range(len(keys[ours[0]])) if all(keys[one][place] == column for one in ours)
        }
        for slot, ours in sources.items()
        for column in keys[ours[0]]
    }

    def is_held(condition: e.Expr) -> bool:
        match condition:
            case e.Compare(operator="=", left=e.ColumnOf() as left, right=e.ColumnOf() as right):
                one, other = (places.get((side.slot, side.column), set()) for side in (left, right))
                return left.type is right.type and left.type in _EXACT and left.slot != right.slot and bool(one & other)
            case _:
                return False

    conditions = (part for leaf in leaves for item in leaf.conditions for part in e.conjuncts(item))
    return frozenset(filter(is_held, conditions))


def _is_filled(part: p.Part) -> bool:
    match part:
        case p.Leaf() | p.Sequence() | p.Conjunction() | p.Parallel() | p.Related() | p.Narrowed():
            return not can_be_empty(part)
        case p.Absent() | p.Deadline():
            return True
        case _:
            return False
