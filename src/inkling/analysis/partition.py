"""By which columns an event can be evaluated in parallel."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, product

from inkling.analysis.policies import looks_at_scope, only_any
from inkling.analysis.verdict import Verdict
from inkling.logical import expr as e
from inkling.logical import plan as p

KeyColumns = Mapping[str, tuple[str, ...]]
"""Per source, the columns whose values make up the key."""

MAX_WAYS = 64
"""Combinations of the keys of alternatives that are tried."""


def partition_of(event: p.EventPlan) -> Verdict[KeyColumns]:
    """The partition key: what `PARTITION BY` says, or what equality conditions prove."""
    if event.partition:
        columns = tuple(column.name for column in event.partition)
        return Verdict(dict.fromkeys(event.sources, columns), f"PARTITION BY {', '.join(columns)}")
    if isinstance(event.pattern, p.Quantified):
        return Verdict({}, "segments of different keys are compared")
    if looks_at_scope(event):
        return Verdict({}, "every event counts (STRICT, `_`, COMPLEMENT or WITHIN n EVENTS), so none may be set aside")
    if event.restart:
        return Verdict({}, "CONSUME RESTART looks at all results together")
    leaves = list(p.leaves(event.pattern))
    for link in _links(event.pattern, apart=event.per is p.Per.MATCH):
        per_source = _per_source(leaves, link)
        if per_source is None or not _told_apart(event, link):
            continue
        names = ", ".join(sorted({f"{source}.{column[0]}" for source, column in per_source.items()}))
        return Verdict(per_source, f"equality conditions tie all parts together by {names}")
    return Verdict({}, "no column is equal in all parts")


def _links(pattern: p.Pattern, *, apart: bool) -> list[dict[int, str]]:
    """Choices of one column per slot that always have one value.

    Alternatives may each have their own, if results that rest on different ones are `apart` anyway.
    """
    match pattern:
        case p.Disjunction(items=items) if apart:
            ways = product(*(_links(item, apart=apart) for item in items))
            return [dict(pair for link in way for pair in link.items()) for way in islice(ways, MAX_WAYS)]
        case p.Narrowed(pattern=inner):
            return _links(inner, apart=apart)
        case _:
            leaves = list(p.leaves(pattern))
            return _linked_by_any(leaves) if only_any(pattern) else _linked_one_by_one(leaves)


def _equalities(leaf: p.Leaf) -> list[tuple[tuple[int, str], tuple[int, str]]]:
    found = []
    for condition in leaf.conditions:
        for part in e.conjuncts(condition):
            if isinstance(part, e.Compare) and part.operator == "=":
                left, right = part.left, part.right
                if isinstance(left, e.ColumnOf) and isinstance(right, e.ColumnOf) and left.type is right.type:
                    found.append(((left.slot, left.column), (right.slot, right.column)))
    return found


def _linked_by_any(leaves: list[p.Leaf]) -> list[dict[int, str]]:
    """Columns that equality conditions anywhere in the pattern force to one value, one per slot."""
    classes: list[set[tuple[int, str]]] = []
    for leaf in leaves:
        for pair in _equalities(leaf):
            touched = [one for one in classes if one & set(pair)]
            merged = set(pair).union(*touched)
            classes = [one for one in classes if one not in touched] + [merged]
    return [chosen for one in classes if (chosen := _one_per_slot(one, leaves)) is not None]


def _linked_one_by_one(leaves: list[p.Leaf]) -> list[dict[int, str]]:
    """As `_linked_by_any`, but each leaf's own conditions must tie it to an earlier one.

    Under NEXT an event of another key would otherwise stand in the way of the wanted one.
    """
    links = [_equalities(leaf) for leaf in leaves]
    starts = {column for leaf_links in links for pair in leaf_links for slot, column in pair if slot == leaves[0].slot}
    found = []
    for start in sorted(starts):
        reached = {leaves[0].slot: start}
        for leaf, pairs in zip(leaves[1:], links[1:], strict=True):
            for one, other in [*pairs, *[(b, a) for a, b in pairs]]:
                if one[0] == leaf.slot and reached.get(other[0]) == other[1]:
                    reached[leaf.slot] = one[1]
                    break
        if len(reached) == len(leaves):
            found.append(reached)
    return found


def _one_per_slot(linked: set[tuple[int, str]], leaves: list[p.Leaf]) -> dict[int, str] | None:
    chosen: dict[int, str] = {}
    for slot, column in sorted(linked):
        chosen.setdefault(slot, column)
    return chosen if all(leaf.slot in chosen for leaf in leaves) else None


def _per_source(leaves: list[p.Leaf], columns: dict[int, str]) -> dict[str, tuple[str, ...]] | None:
    """The columns by source, or None when one source would need two different keys."""
    per_source: dict[str, tuple[str, ...]] = {}
    for leaf in leaves:
        for source in leaf.sources:
            if per_source.setdefault(source, (columns[leaf.slot],)) != (columns[leaf.slot],):
                return None
    return per_source


def _told_apart(event: p.EventPlan, columns: dict[int, str]) -> bool:
    """Whether results of different keys are different results, so that no key has to know of another."""
    if event.per is p.Per.MATCH:
        return True
    return any(
        isinstance(output.expr, e.ColumnOf) and columns.get(output.expr.slot) == output.expr.column
        for output in event.head
    )
