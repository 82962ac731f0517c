"""A pattern as a tree of binary joins, from left to right: the form on which consumption policies are defined.

`SEQ(a, b, c)` is `Pair(Pair(a, b), c)`; AND, PAR and the relations likewise; OR passes on the matches of its branches.
Operands are matched separately, so a condition belongs to the first pair that has all slots that the condition reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.time import Duration
from inkling.model.types import Type

SEQUENCE, TOGETHER, OVERLAPPING = "SEQ", "AND", "PAR"
"""How the two sides of a pair are related, besides the named Allen relations."""

_WHOLE = frozenset((Type.INTEGER, Type.TIME, Type.DURATION))

Conditions = Callable[[p.Leaf], tuple[e.Expr, ...]]


@dataclass(frozen=True, slots=True)
class Frame:
    """A nested body around a pattern: its WITHIN, its HAVING, and the slot that names it."""

    within: p.Window | None
    having: tuple[e.Expr, ...] = ()
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class LeafNode:
    """The events of one leaf, with the conditions that read only that event."""

    leaf: p.Leaf
    frames: tuple[Frame, ...] = ()

    @property
    def bound(self) -> frozenset[int]:
        return frozenset((self.leaf.slot,)) | _named(self.frames)


@dataclass(frozen=True, slots=True)
class OrNode:
    """`OR`: the matches of any branch."""

    items: tuple[PairTree, ...]

    @property
    def bound(self) -> frozenset[int]:
        return frozenset().union(*(item.bound for item in self.items))


@dataclass(frozen=True, slots=True)
class PairTest:
    """A condition of the leaf `owner` that reads both sides; `optional` if some match leaves that slot empty."""

    condition: e.Expr
    owner: int
    optional: bool = False

    @property
    def slots(self) -> frozenset[int]:
        return e.slots_of(self.condition) | {self.owner}


@dataclass(frozen=True, slots=True)
class Pair:
    """The join of two operands: on equal keys, related intervals, and conditions."""

    relations: tuple[str, ...]
    left: PairTree
    right: PairTree
    keys: tuple[tuple[e.Expr, e.Expr], ...]  # of the left side, of the right side
    tests: tuple[PairTest, ...]
    absences: tuple[p.Pattern, ...]  # patterns that must not occur between the two
    windows: tuple[p.Window, ...]  # limits in time of all enclosing bodies
    frames: tuple[Frame, ...] = ()

    @property
    def bound(self) -> frozenset[int]:
        return self.left.bound | self.right.bound | _named(self.frames)

    @property
    def is_sequence(self) -> bool:
        """Whether only the right side probes for partners; in other pairs the side that arrives later does."""
        return self.relations == (SEQUENCE,)


PairTree = LeafNode | OrNode | Pair


def pairs_of(event: p.EventPlan, conditions_of: Conditions = lambda leaf: leaf.conditions) -> PairTree:
    """The pattern of an event as pairs; `conditions_of` gives the conditions of a leaf."""
    reader = _PairReader(conditions_of)
    root = reader.read(event.pattern, _in_time(event.within))
    assert not reader.waiting, "all conditions find their pair"
    return _framed(root, Frame(event.within, event.having))


def walk(node: PairTree) -> Iterable[PairTree]:
    """The node and everything below it, operands first."""
    match node:
        case OrNode(items=items):
            for item in items:
                yield from walk(item)
        case Pair(left=left, right=right):
            yield from walk(left)
            yield from walk(right)
        case LeafNode():
            pass
    yield node


@dataclass(slots=True)
class _PairReader:
    conditions_of: Conditions
    waiting: list[PairTest] = field(default_factory=list)  # conditions that are not assigned to a pair yet

    def read(self, pattern: p.Pattern, windows: tuple[p.Window, ...]) -> PairTree:
        match pattern:
            case p.Leaf(slot=slot):
                parts = tuple(one for condition in self.conditions_of(pattern) for one in e.conjuncts(condition))
                own = tuple(one for one in parts if e.slots_of(one) <= {slot})
                self.waiting += [PairTest(one, slot) for one in parts if one not in own]
                return LeafNode(replace(pattern, conditions=own))
            case p.Narrowed(pattern=inner, within=within, having=having, slot=name):
                return _framed(self.read(inner, (*windows, *_in_time(within))), Frame(within, having, name))
            case p.Disjunction(items=items):
                before = self.waiting
                self.waiting = []
                branches = tuple(self.read(item, windows) for item in items)
                self.waiting = before + [replace(test, optional=True) for test in self.waiting]
                return OrNode(branches)
            case p.Sequence(parts=parts):
                return self._sequence(parts, windows)
            case p.Conjunction(items=items):
                return self._all(items, (TOGETHER,), windows)
            case p.Parallel(items=items):
                return self._all(items, (OVERLAPPING,), windows)
            case p.Related(left=left, relations=relations, right=right):
                return self._all((left, right), relations, windows)
            case _:
                raise AssertionError(f"{type(pattern).__name__} is no pair")

    def _sequence(self, parts: tuple[p.Part, ...], windows: tuple[p.Window, ...]) -> PairTree:
        so_far: PairTree | None = None
        absences: list[p.Pattern] = []
        for part in parts:
            if isinstance(part, p.Absent):
                absences.append(part.pattern)
                continue
            assert not isinstance(part, p.Deadline | p.StreamStart), "moments are no operands"
            following = self.read(part, windows)
            so_far = (
                following if so_far is None else self._pair((SEQUENCE,), so_far, following, windows, tuple(absences))
            )
            absences = []
        assert so_far is not None, "a sequence has a part that happens"
        return so_far

    def _all(self, items: tuple[p.Pattern, ...], relations: tuple[str, ...], windows: tuple[p.Window, ...]) -> PairTree:
        so_far = self.read(items[0], windows)
        for item in items[1:]:
            so_far = self._pair(relations, so_far, self.read(item, windows), windows)
        return so_far

    def _pair(
        self,
        relations: tuple[str, ...],
        left: PairTree,
        right: PairTree,
        windows: tuple[p.Window, ...],
        absences: tuple[p.Pattern, ...] = (),
    ) -> Pair:
        bound = left.bound | right.bound
        here = [test for test in self.waiting if test.slots <= bound]
        self.waiting = [test for test in self.waiting if not test.slots <= bound]
        keys = {test: key for test in here if (key := _key(test, left.bound, right.bound)) is not None}
        tests = tuple(test for test in here if test not in keys)
        return Pair(relations, left, right, tuple(keys.values()), tests, absences, windows)


def _key(test: PairTest, left: frozenset[int], right: frozenset[int]) -> tuple[e.Expr, e.Expr] | None:
    """The two sides of an equality between the operands, if the condition is such an equality in every match."""
    condition = test.condition
    if test.optional or not isinstance(condition, e.Compare) or condition.operator != "=":
        return None
    for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
        slots, others = _read(one, test.owner), _read(other, test.owner)
        if slots and others and slots <= left and others <= right:
            comparable = one.type is other.type or {one.type, other.type} <= _WHOLE
            return (one, other) if comparable else None
    return None


def _read(expr: e.Expr, owner: int) -> frozenset[int]:
    """The slots that an expression reads; a partition column counts as a column of the leaf `owner`."""
    reads_key = any(isinstance(part, e.KeyColumn) for part in e.walk(expr))
    return e.slots_of(expr) | ({owner} if reads_key else frozenset())


def _framed(node: PairTree, frame: Frame) -> PairTree:
    match node:
        case OrNode(items=items):
            return OrNode(tuple(_framed(item, frame) for item in items))
        case LeafNode(frames=frames) | Pair(frames=frames):
            return replace(node, frames=(*frames, frame))


def _named(frames: tuple[Frame, ...]) -> frozenset[int]:
    return frozenset(frame.slot for frame in frames if frame.slot is not None)


def _in_time(within: p.Window | None) -> tuple[p.Window, ...]:
    return (within,) if isinstance(within, Duration | p.Points) else ()
