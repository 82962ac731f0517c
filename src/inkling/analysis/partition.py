"""The partition key of an event: columns by which it can be evaluated in parallel.

Without PARTITION BY, a key is inferred from equality conditions: in `SEQ(A a, B b[x = a.x])` all events of a match have
the same `x`, so matches can be found separately for each value of `x`.

Why this is the same. Let each part have a column that the conditions make equal in every match. Events with different
values of it are never in one match, so each match lies within the events of one value, and evaluating these alone
finds it. An optional part `q` of `p OPTIONAL q` adds: whether `p` is alone depends only on events `q` for which the
conditions hold with this `p`, among them the equality, so on events with the value of `p`. The same is true of NOT. A
source may be read by several parts; they need the same column of it, because each of its rows goes to one place.
Results of different values are different results if one is shown, which is required unless each match is a result. In
an EP-SPARQL query whose triples have one subject, conditions connect all subjects, also those of optional parts.
"""

from collections.abc import Mapping
from itertools import islice, product

from inkling.analysis.policies import looks_at_scope, only_any
from inkling.analysis.verdict import Verdict
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.patterns.binary import OrNode, Pair, pairs_of, walk
from inkling.logical.plan import can_be_empty

KeyColumns = Mapping[str, tuple[str, ...]]
"""The key columns, by source."""

Equal = tuple[tuple[int, str], tuple[int, str]]
"""Two columns, each with its slot, that have equal values in every match."""

MAX_COMBINATIONS = 64
"""Largest number of combinations of keys of alternatives that are tried."""


def partition_of(event: p.EventPlan) -> Verdict[KeyColumns]:
    """The partition key: the columns of PARTITION BY, or columns inferred from equality conditions."""
    if event.partition:
        columns = tuple(column.name for column in event.partition)
        return Verdict(dict.fromkeys(event.sources, columns), f"PARTITION BY {', '.join(columns)}")
    if isinstance(event.pattern, p.Quantified):
        return Verdict({}, "segments of different keys are compared")
    if looks_at_scope(event):
        return Verdict({}, "STRICT, `_`, COMPLEMENT or WITHIN n EVENTS depends on the events of all keys")
    if event.restart:
        return Verdict({}, "CONSUME RESTART depends on the results of all keys")
    leaves = list(p.leaves(event.pattern))
    hidden = frozenset(slot.number for slot in event.slots if slot.negated)
    for link in _links(event.pattern, hidden):
        per_source = _per_source(leaves, link)
        if per_source is None or not _distinguished(event, link) or not _same_in_all_rounds(event.pattern, link):
            continue
        if event.consumption is not None and not _pairs_keep_to(event, link):
            continue
        names = ", ".join(sorted({f"{source}.{column[0]}" for source, column in per_source.items()}))
        return Verdict(per_source, f"equality conditions connect all parts by {names}")
    if event.consumption is not None:
        return Verdict({}, "no column is equal on both sides of every pair of CONSUME")
    return Verdict({}, "no column is equal in all parts")


def _pairs_keep_to(event: p.EventPlan, columns: dict[int, str]) -> bool:
    """Whether a consumption policy keeps separate state for each value of the columns.

    This holds if the join key of every pair has such a column on both sides.
    """
    nodes = list(walk(pairs_of(event)))
    if any(isinstance(node, OrNode) for node in nodes):
        return False

    def is_one(expr: e.Expr) -> bool:
        return isinstance(expr, e.ColumnOf) and columns.get(expr.slot) == expr.column

    pairs = [node for node in nodes if isinstance(node, Pair)]
    return all(any(is_one(one) and is_one(other) for one, other in pair.keys) for pair in pairs)


def _links(pattern: p.Pattern, hidden: frozenset[int]) -> list[dict[int, str]]:
    """Choices of one column per slot that have equal values in every match; alternatives may differ in columns.

    Slots inside NOT are `hidden`: their conditions imply nothing about the events of a match.
    """
    match pattern:
        case p.Disjunction(items=items):
            combinations = product(*(_links(item, hidden) for item in items))
            return [
                dict(pair for link in links for pair in link.items())
                for links in islice(combinations, MAX_COMBINATIONS)
            ]
        case p.Narrowed(pattern=inner):
            return _links(inner, hidden)
        case _:
            leaves = list(p.leaves(pattern))
            return _linked_by_any(pattern, leaves, hidden) if only_any(pattern) else _linked_one_by_one(leaves)


def _equalities(leaf: p.Leaf) -> list[Equal]:
    found = []
    for condition in leaf.conditions:
        for part in e.conjuncts(condition):
            if isinstance(part, e.Compare) and part.operator == "=":
                left, right = part.left, part.right
                if isinstance(left, e.ColumnOf) and isinstance(right, e.ColumnOf) and left.type is right.type:
                    found.append(((left.slot, left.column), (right.slot, right.column)))
    return found


def _linked_by_any(pattern: p.Pattern, leaves: list[p.Leaf], hidden: frozenset[int]) -> list[dict[int, str]]:
    """Columns that equality conditions anywhere in the pattern force to be equal, one per slot.

    Conditions of an optional leaf tie only the leaf itself.
    """
    sure = _sure(pattern)
    seen = [pair for leaf in leaves if leaf.slot in sure - hidden for pair in _equalities(leaf)]
    ties = [tie for leaf in leaves for tie in _ties(leaf, hidden if leaf.slot in sure else frozenset())]
    classes = [{other} for other in sorted({other for _, other in ties if other[0] not in hidden})]
    for pair in seen:
        touched = [one for one in classes if one & set(pair)]
        merged = set(pair).union(*touched)
        classes = [one for one in classes if one not in touched] + [merged]
    for one in classes:
        _attach(one, ties)
    return [chosen for one in classes if (chosen := _one_per_slot(one, leaves)) is not None]


def _ties(leaf: p.Leaf, also: frozenset[int]) -> list[Equal]:
    """Equalities of a leaf that tie it, or one of the slots `also`, to another column."""
    pairs = _equalities(leaf)
    return [(one, other) for one, other in [*pairs, *((b, a) for a, b in pairs)] if one[0] in also | {leaf.slot}]


def _attach(linked: set[tuple[int, str]], ties: list[Equal]) -> None:
    """Adds the columns that are tied to one of the columns, transitively."""
    while found := {one for one, other in ties if other in linked} - linked:
        linked |= found


def _sure(part: p.Part) -> frozenset[int]:
    """The slots that every match of the part fills; of a NOT, the slots that every match of its pattern fills."""
    match part:
        case p.Leaf(slot=slot):
            return frozenset((slot,))
        case p.Absent(pattern=inner) | p.Narrowed(pattern=inner) | p.LeftJoin(left=inner):
            return _sure(inner)
        case p.Repetition(pattern=inner, low=low):
            return _sure(inner) if low else frozenset()
        case p.Sequence(parts=parts) | p.Conjunction(items=parts) | p.Parallel(items=parts):
            return frozenset[int]().union(*(_sure(one) for one in parts if not can_be_empty(one)))
        case p.Related(left=left, right=right) | p.Except(pattern=left, other=right):
            return _sure(left) | _sure(right)
        case p.Sliding(leaf=leaf, since=since):
            return frozenset((leaf.slot,) if since is None else (leaf.slot, since.slot))
        case _:
            return frozenset()


def _linked_one_by_one(leaves: list[p.Leaf]) -> list[dict[int, str]]:
    """As `_linked_by_any`, but each leaf's own conditions must tie it to an earlier one.

    Otherwise, under NEXT, an event of another key could be the next event.
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
    """A column for each slot, the same for slots that read a common source if there is such a column."""
    columns = {leaf.slot: {column for slot, column in linked if slot == leaf.slot} for leaf in leaves}
    if not all(columns.values()):
        return None
    chosen: dict[int, str] = {}
    for leaf in leaves:
        together, sources = {leaf.slot}, set(leaf.sources)
        while more := [one for one in leaves if one.slot not in together and sources & set(one.sources)]:
            together |= {one.slot for one in more}
            sources |= {source for one in more for source in one.sources}
        shared = set[str].intersection(*(columns[slot] for slot in together))
        chosen[leaf.slot] = min(shared or columns[leaf.slot])
    return chosen


def _same_in_all_rounds(pattern: p.Pattern, columns: dict[int, str]) -> bool:
    """Whether all rounds of a repetition have the same key: all its parts are tied to a slot outside of it."""
    pairs = [
        (one[0], other[0])
        for leaf in p.leaves(pattern)
        for one, other in _equalities(leaf)
        if columns.get(one[0]) == one[1] and columns.get(other[0]) == other[1]
    ]
    for part in p.parts_of(pattern):
        if isinstance(part, p.Repetition) and part.high != 1:
            inside = {leaf.slot for leaf in p.leaves(part.pattern)}
            tied = {slot for pair in pairs for slot in pair} - inside
            while found := {slot for pair in pairs if tied & set(pair) for slot in pair} - tied:
                tied |= found
            if not inside <= tied:
                return False
    return True


def _per_source(leaves: list[p.Leaf], columns: dict[int, str]) -> dict[str, tuple[str, ...]] | None:
    """The columns by source, or None when one source would need two different keys."""
    per_source: dict[str, tuple[str, ...]] = {}
    for leaf in leaves:
        for source in leaf.sources:
            if per_source.setdefault(source, (columns[leaf.slot],)) != (columns[leaf.slot],):
                return None
    return per_source


def _distinguished(event: p.EventPlan, columns: dict[int, str]) -> bool:
    """Whether results of different keys are different results, so that keys need not be compared."""
    if event.per is p.Per.MATCH:
        return True
    return any(shows_key(output.expr, event.pattern, columns) for output in event.head)


def shows_key(expr: e.Expr, pattern: p.Pattern, columns: Mapping[int, str]) -> bool:
    """Whether a value equals the key in every match."""
    match expr:
        case e.ColumnOf(slot=slot, column=column):
            return columns.get(slot) == column and slot in _filled(pattern)
        case e.Chosen(conditions=conditions, values=values) if isinstance(pattern, p.Disjunction):
            chosen = {
                condition.item.slot: value
                for condition, value in zip(conditions, values, strict=True)
                if isinstance(condition, e.IsNull) and condition.negated and isinstance(condition.item, e.TimeOf)
            }
            return all(
                isinstance(item, p.Narrowed) and item.slot in chosen and shows_key(chosen[item.slot], item, columns)
                for item in pattern.items
            )
        case _:
            return False


def _filled(part: p.Part) -> frozenset[int]:
    """The slots that are filled in every match."""
    match part:
        case p.Leaf(slot=slot):
            return frozenset((slot,))
        case p.Sequence(parts=parts) | p.Conjunction(items=parts):
            return frozenset[int]().union(*(_filled(one) for one in parts if not can_be_empty(one)))
        case p.Parallel(items=items):
            return frozenset[int]().union(*map(_filled, items))
        case p.Related(left=left, right=right):
            return _filled(left) | _filled(right)
        case p.Narrowed(pattern=inner) | p.Except(pattern=inner) | p.LeftJoin(left=inner):
            return _filled(inner)
        case _:
            return frozenset()
