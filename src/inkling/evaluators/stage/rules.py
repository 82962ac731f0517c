"""The alternatives of recursive events that are rules of the compiled loop: one or two operands, simple values.

    EVENT trip(b.road) AS PATTERN SEQ(trip a, NOT Light[road = a.road], Car b[road = a.road]) …

is a rule with the operands `a` (left), `b` (right) and an absent `Light`, which share the value of `road`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from inkling.evaluators.consumption.event import relation_of
from inkling.evaluators.consumption.pairs import RowLayout, row_layout
from inkling.kernels.joins import least_model as kernel
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.patterns import binary as b
from inkling.physical.conditions import NUMERIC_FUNCTIONS, is_pair_test
from inkling.physical.plan import EventStep, LeafTest, Stage

EXACT, EXACT_FACTOR = float(1 << 51), float(1 << 25)
"""Integers up to this size, and sums of a few, are exact in doubles; products of two up to the second size."""
MOST_TERMS = 4


class UnfitError(Exception):
    """A rule that the kernel cannot evaluate."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A leaf of a rule; `keys` are the values that it shares with its partners, `across` compares an absent one."""

    role: int
    leaf: LeafTest
    keys: tuple[e.Expr, ...]
    across: tuple[e.Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One alternative of a recursive event that reads results of its group."""

    event: int
    layout: RowLayout
    relations: tuple[int, ...]
    operands: tuple[Operand, ...]
    windows: tuple[p.Window, ...]
    tests: tuple[e.Expr, ...]
    names: tuple[int, ...]
    head: tuple[e.Expr, ...]
    policy: p.Consumption | None
    right_is_point: bool
    recurs: bool  # whether it reads results of its group
    needs_result: bool  # whether it reads one in every match


@dataclass(frozen=True, slots=True)
class RuleReader:
    """Reads the alternatives of one event as rules."""

    stage: Stage
    step: EventStep
    names: Sequence[str]

    def rule(self, number: int, pattern: p.Pattern) -> Rule:
        event = self.step.event
        inner = pattern
        while isinstance(inner, p.Narrowed):
            inner = inner.pattern
        policy = event.consumption
        if event.schema.is_ordered or event.keep is not None or event.restart or event.returns:
            raise UnfitError
        if policy is not None and policy.prefer is not None:
            raise UnfitError
        operands = self._leaves_of(inner)
        following = isinstance(inner, p.Sequence) and inner.policy is p.Policy.NEXT
        whole = p.Sequence(p.Policy.ANY, inner.parts) if isinstance(inner, p.Sequence) else inner
        root = b.pairs_of(replace(event, pattern=_with(pattern, whole)), self._across)
        if isinstance(root, b.LeafNode):
            return self._single(number, root)
        if not isinstance(root, b.Pair) or len(operands) != 2:
            raise UnfitError
        left, right = root.left, root.right
        if not (isinstance(left, b.LeafNode) and isinstance(right, b.LeafNode)) or left.frames or right.frames:
            raise UnfitError
        if policy is not None and (not root.is_sequence or set(right.leaf.sources) & set(self.names)):
            raise UnfitError
        tests = [test.condition for test in root.tests]
        tests += [e.Compare("=", one, other) for one, other in root.keys]
        tests += [one for frame in root.frames for one in frame.having]
        _require_kernel(tests)
        absent = [leaf for one in root.absences for leaf in _absent(one)]
        absences = [(self._leaf(leaf.slot), self._leaf(leaf.slot).across) for leaf in absent]
        if following:
            absences.append((self._leaf(right.leaf.slot), self._leaf(right.leaf.slot).across))
        shared_keys = keys = tuple(pair for pair in root.keys if not any(_reads_key(one) for one in pair))
        for leaf, across in absences:
            if not all(e.slots_of(one) <= {left.leaf.slot, leaf.slot} for one in across):
                raise UnfitError
            keys = tuple(pair for pair in keys if _compared_with(pair[0], leaf.slot, across) is not None)
        if policy is not None and keys != shared_keys:
            raise UnfitError
        test = self._leaf
        found = [
            Operand(kernel.LEFT, test(left.leaf.slot), tuple(one for one, _ in keys)),
            Operand(kernel.RIGHT, test(right.leaf.slot), tuple(other for _, other in keys)),
        ]
        for leaf, across in absences:
            shared = tuple(_compared_with(one, leaf.slot, across) for one, _ in keys)
            assert None not in shared
            found.append(Operand(kernel.ABSENT, leaf, tuple(one for one in shared if one is not None), across))
        return Rule(
            number,
            row_layout(self.step),
            tuple(relation_of(name) for name in root.relations),
            tuple(found),
            self._windows((*root.windows, *(frame.within for frame in root.frames))),
            tuple(tests),
            _named(root.frames),
            self._head(_named(root.frames)),
            policy,
            self._are_points(found[1].leaf),
            *self._reading(left, right),
        )

    def _single(self, number: int, node: b.LeafNode) -> Rule:
        leaf = self._leaf(node.leaf.slot)
        if leaf.across:
            raise UnfitError
        tests = tuple(one for frame in node.frames for one in frame.having)
        _require_kernel(tests)
        return Rule(
            number,
            row_layout(self.step),
            (kernel.ALONE,),
            (Operand(kernel.LEFT, leaf, ()),),
            self._windows(frame.within for frame in node.frames),
            tests,
            _named(node.frames),
            self._head(_named(node.frames)),
            None,
            False,
            *self._reading(node),
        )

    def _reading(self, *nodes: b.LeafNode) -> tuple[bool, bool]:
        """Whether some operand may be a result of the group, and whether one always is."""
        sources = [set(node.leaf.sources) for node in nodes]
        return any(one & set(self.names) for one in sources), any(one <= set(self.names) for one in sources)

    def _leaves_of(self, pattern: p.Pattern) -> tuple[p.Leaf, ...]:
        """The operands of a pattern that is one leaf or joins two."""
        match pattern:
            case p.Leaf():
                found: tuple[p.Part, ...] = (pattern,)
            case p.Sequence(policy=p.Policy.ANY | p.Policy.NEXT, parts=parts) if not (
                isinstance(parts[0], p.Absent) or isinstance(parts[-1], p.Absent)
            ):
                found = tuple(part for part in parts if not isinstance(part, p.Absent))
            case p.Conjunction(items=items) | p.Parallel(items=items):
                found = items
            case p.Related(left=left, right=right):
                found = (left, right)
            case _:
                raise UnfitError
        leaves = tuple(one for one in found if isinstance(one, p.Leaf))
        if len(leaves) != len(found) or len(found) > 2 or not all(one.sources for one in leaves):
            raise UnfitError
        if any(one.atoms and set(one.sources) & set(self.names) for one in leaves):
            raise UnfitError
        return leaves

    def _across(self, leaf: p.Leaf) -> tuple[e.Expr, ...]:
        return self.step.leaf(leaf.slot).across

    def _leaf(self, slot: int) -> LeafTest:
        leaf = self.step.leaf(slot)
        derived = [self.stage.inputs[number] for number in leaf.inputs]
        derived = [one for one in derived if one.source in self.names]
        if leaf.check is not None or any(one.atoms or one.computed for one in derived):
            raise UnfitError
        _require_kernel(leaf.across)
        for number in leaf.inputs:
            if self.stage.inputs[number].source in self.names:
                _require_kernel(conditions_on(self.stage, leaf, number))
        return leaf

    def _are_points(self, leaf: LeafTest) -> bool:
        return not any(self.stage.inputs[number].interval for number in leaf.inputs)

    def _windows(self, windows: Iterable[p.Window | None]) -> tuple[p.Window, ...]:
        limits = tuple(one for one in windows if one is not None)
        if any(isinstance(one, p.EventCount) for one in limits):
            raise UnfitError
        return limits

    def _head(self, names: tuple[int, ...]) -> tuple[e.Expr, ...]:
        spans = frozenset(slot.number for slot in self.step.event.slots if slot.span_only)
        found = tuple(_of_branch(output.expr, frozenset(names), spans) for output in self.step.event.head)
        for one in found:
            _require_exact(one)
        return found


def _with(pattern: p.Pattern, inner: p.Pattern) -> p.Pattern:
    """The pattern with another one inside its frames."""
    return replace(pattern, pattern=_with(pattern.pattern, inner)) if isinstance(pattern, p.Narrowed) else inner


def _absent(pattern: p.Pattern) -> Iterator[p.Leaf]:
    match pattern:
        case p.Leaf(atoms=()):
            yield pattern
        case p.Disjunction(items=items):
            for item in items:
                yield from _absent(item)
        case _:
            raise UnfitError


def _named(frames: Iterable[b.Frame]) -> tuple[int, ...]:
    return tuple(frame.slot for frame in frames if frame.slot is not None)


def conditions_on(stage: Stage, leaf: LeafTest, number: int) -> tuple[e.Expr, ...]:
    """The conditions of a leaf on rows of one input."""
    given = stage.inputs[number]
    return tuple(bit.expr for bit in (*given.early, *given.late) if bit.number in leaf.bits)


def _reads_key(expr: e.Expr) -> bool:
    return any(isinstance(part, e.KeyColumn) for part in e.walk(expr))


def _compared_with(left: e.Expr, slot: int, across: Sequence[e.Expr]) -> e.Expr | None:
    """What conditions of an absent slot compare with a value of the left side for equality."""
    for condition in across:
        for one in e.conjuncts(condition):
            if isinstance(one, e.Compare) and one.operator == "=":
                for own, other in ((one.left, one.right), (one.right, one.left)):
                    if other == left and e.slots_of(own) == {slot} and own.type is other.type:
                        return own
    return None


NODES = (
    e.Literal,
    e.SpanLiteral,
    e.ColumnOf,
    e.TimeOf,
    e.KeyColumn,
    e.Negate,
    e.Arithmetic,
    e.Compare,
    e.FunctionCall,
    e.InList,
    e.IsNull,
    e.AllOf,
    e.AnyOf,
    e.Not,
    e.InTable,
)


def _require_kernel(conditions: Iterable[e.Expr]) -> None:
    """Conditions that compare columns, times and numbers."""
    for condition in conditions:
        for part in e.walk(condition):
            if not isinstance(part, NODES) or (isinstance(part, e.Literal) and part.value is None):
                raise UnfitError
            if isinstance(part, e.FunctionCall) and part.name not in NUMERIC_FUNCTIONS:
                raise UnfitError
            if isinstance(part, e.InTable) and not is_pair_test(part):
                raise UnfitError


def _require_exact(expr: e.Expr) -> None:
    """Values that doubles hold exactly: columns, constants, and sums and products of a few numbers."""
    parts = list(e.walk(expr))
    simple = (e.Literal, e.SpanLiteral, e.ColumnOf, e.TimeOf, e.KeyColumn)
    for part in parts:
        match part:
            case e.Literal(value=None):
                raise UnfitError
            case e.Literal(value=int(value)) if abs(value) > EXACT_FACTOR:
                raise UnfitError
            case e.Literal() | e.SpanLiteral() | e.ColumnOf() | e.TimeOf() | e.KeyColumn() | e.Negate():
                pass
            case e.Arithmetic(operator="+" | "-" | "/"):
                pass
            case e.Arithmetic(operator="*", left=left, right=right) if isinstance(left, simple) and isinstance(
                right, simple
            ):
                pass
            case _:
                raise UnfitError
    if sum(isinstance(part, simple) for part in parts) > MOST_TERMS:
        raise UnfitError


def _of_branch(expr: e.Expr, names: frozenset[int], spans: frozenset[int]) -> e.Expr:
    """A value of the head in one alternative, in which only the nested patterns `names` have an interval."""
    if isinstance(expr, e.Chosen):
        for condition, value in zip(expr.conditions, expr.values, strict=True):
            match condition:
                case e.IsNull(item=e.TimeOf(slot=slot), negated=True) if slot in spans:
                    if slot in names:
                        return _of_branch(value, names, spans)
                case _:
                    raise UnfitError
        raise UnfitError
    return e.rebuilt(expr, lambda part: _of_branch(part, names, spans))
