"""Each rewrite keeps what every plan promises and what the program means."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit import plans as b
from tests.kit.invariants import violations
from tests.kit.oracle import oracle

from inkling.logical import plan as p
from inkling.logical.expr import Expr
from inkling.logical.rewrites.rules import RULES, Rule, flatten_sequences, push_having_into_candidates, rewrite
from inkling.model.types import Type

SOURCES = "ABC"
COLUMNS = {"x": Type.INTEGER}


@dataclass(slots=True)
class PatternWriter:
    """Random patterns rich in what rewrites look for: sequences in sequences, nesting, HAVING, alternatives."""

    rng: Random
    n_slots: int = 0
    names: dict[int, str] = field(default_factory=dict)

    def pattern(self, depth: int) -> p.Pattern:
        kind = self.rng.choice(["leaf", "seq", "seq", "seq", "nested", "or", "and", "repeat", "related"])
        if depth == 0 or kind == "leaf":
            return self.leaf()
        inner = depth - 1
        match kind:
            case "seq":
                policy = self.rng.choice([p.Policy.ANY, p.Policy.ANY, p.Policy.NEXT, p.Policy.STRICT])
                parts = self._parts(inner)
                # a NOT stands at the border when what is beside it is left out
                limit = b.ticks(4) if any(isinstance(part, p.Absent) for part in parts) else None
                return b.seq(*parts, policy=policy, within=limit)
            case "nested":
                return self._nested(inner)
            case "or":
                return p.Disjunction((self.pattern(inner), self.pattern(inner)))
            case "and":
                return p.Conjunction((self.pattern(inner), self.pattern(inner)))
            case "repeat":
                low, high = self.rng.choice([(0, 1), (1, None), (1, 2), (2, 2)])
                return p.Repetition(self.leaf(), low, high)
            case _:
                return p.Related(self.pattern(inner), ("STARTS_BEFORE",), self.pattern(inner))

    def leaf(self) -> p.Leaf:
        slot = self._slot()
        conditions = [self._test(slot)] if self.rng.random() < 0.4 else []
        return b.leaf(slot, self.rng.choice(SOURCES), conditions=tuple(conditions))

    def having(self, pattern: p.Pattern) -> tuple[Expr, ...]:
        """A condition on single events of the pattern, if it has any that always happen."""
        slots = list(_certain_slots(pattern))
        if not slots:
            return ()
        one, other = self.rng.choice(slots), self.rng.choice(slots)
        across = b.compare(_x(one), self.rng.choice(["<=", "<", "<>"]), _x(other))
        return self.rng.choice([(), (self._test(one),), (across,), (self._test(one), across)])

    def _parts(self, depth: int) -> list[p.Part]:
        parts: list[p.Part] = [self.pattern(depth)]
        for _ in range(self.rng.randint(1, 2)):
            if self.rng.random() < 0.2:
                parts.append(p.Absent(self.leaf()))
            parts.append(self.pattern(depth))
        return parts

    def _nested(self, depth: int) -> p.Pattern:
        inner = self.pattern(depth)
        within = b.ticks(self.rng.randint(1, 4)) if self.rng.random() < 0.4 else None
        slot = self._slot() if self.rng.random() < 0.2 else None
        return p.Narrowed(inner, within, self.having(inner), slot)

    def _slot(self) -> int:
        self.n_slots += 1
        return self.n_slots - 1

    def _test(self, slot: int) -> Expr:
        return b.compare(_x(slot), self.rng.choice([">", "<=", "="]), self.rng.randint(0, 2))


def _x(slot: int) -> Expr:
    return b.column(slot, "x", Type.INTEGER)


def _certain_slots(part: p.Part) -> Iterator[int]:
    """Slots that hold exactly one event in every match."""
    match part:
        case p.Leaf(slot=slot):
            yield slot
        case p.Sequence(parts=parts):
            for inner in parts:
                yield from _certain_slots(inner)
        case p.Conjunction(items=items) | p.Parallel(items=items):
            for inner in items:
                yield from _certain_slots(inner)
        case p.Related(left=left, right=right):
            yield from _certain_slots(left)
            yield from _certain_slots(right)
        case p.Narrowed(pattern=inner):
            yield from _certain_slots(inner)
        case _:
            return


def random_program(rng: Random) -> p.ProgramPlan:
    writer = PatternWriter(rng)
    pattern = writer.pattern(rng.randint(1, 3))
    event = b.event(
        "e",
        pattern,
        within=b.ticks(rng.randint(1, 5)) if rng.random() < 0.3 else None,
        having=writer.having(pattern),
        per=rng.choice(list(p.Per)),
        restart=rng.random() < 0.1,
        keep=b.ticks(rng.randint(1, 5)) if rng.random() < 0.2 else None,
    )
    event = replace(event, slots=tuple(sorted((*event.slots, *_named(pattern)), key=lambda s: s.number)))
    order_by = "n" if rng.random() < 0.4 else None
    columns = {**COLUMNS, "n": Type.INTEGER} if order_by else COLUMNS
    streams = tuple(b.stream(name, columns, order_by=order_by) for name in SOURCES)
    # the promises about roles ask for a declared time column
    streams = tuple(_with_time(stream) for stream in streams)
    return b.program(streams, event)


def _with_time(stream: p.StreamPlan) -> p.StreamPlan:
    schema = stream.schema
    return replace(stream, schema=replace(schema, columns=(*schema.columns, b.Column("t", Type.INTEGER))))


def _named(part: p.Part) -> Iterator[p.Slot]:
    if isinstance(part, p.Narrowed) and part.slot is not None:
        yield p.Slot(part.slot, None, (), repeated=False, negated=False, span_only=True)
    for inner in part.parts if isinstance(part, p.Sequence) else p.sub_patterns(part):
        yield from _named(inner)


def random_rows(rng: Random, n_rows: int) -> dict[str, list[dict[str, object]]]:
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in SOURCES}
    for number in range(n_rows):
        rows[rng.choice(SOURCES)].append(
            {"id": f"e{number}", "x": rng.randint(0, 2), "t": rng.randint(0, 6), "n": number}
        )
    return rows


@pytest.mark.parametrize("rules", [*[(rule,) for rule in RULES], RULES], ids=lambda rules: rules[-1].__name__)
@given(seed=st.integers(0, 2**32 - 1))
def test_rewriting_keeps_promises_and_meaning(rules: tuple[Rule, ...], seed: int) -> None:
    rng = Random(seed)
    program = random_program(rng)
    assert violations(program) == ()
    rewritten = rewrite(program, rules).plan
    assert violations(rewritten) == ()
    rows = random_rows(rng, 7)
    assert as_sets(oracle(rewritten, rows)) == as_sets(oracle(program, rows))


def as_sets(results: dict[str, tuple[object, ...]]) -> dict[str, set[object]]:
    return {name: set(some) for name, some in results.items()}


@given(seed=st.integers(0, 2**32 - 1))
def test_rewriting_twice_changes_nothing_more(seed: int) -> None:
    once = rewrite(random_program(Random(seed))).plan
    assert rewrite(once).applied == ()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_rule_has_something_to_do(rule: Rule) -> None:
    changed = 0
    for seed in range(300):
        program = random_program(Random(seed))
        changed += rewrite(program, (rule,)).plan is not program
    assert changed >= 5


def both_ways(change: Callable[[p.EventPlan], p.EventPlan], event: p.EventPlan) -> p.Pattern:
    changed = change(event)
    assert changed is not event
    return changed.pattern


def test_next_in_next_stays_nested() -> None:
    inner = b.nearest(b.leaf(1, "B"), b.leaf(2, "C"))
    event = b.event("e", b.nearest(b.leaf(0, "A"), inner))
    assert flatten_sequences(event) is event


def test_strict_in_strict_becomes_one_sequence() -> None:
    inner = b.strict(b.leaf(1, "B"), b.leaf(2, "C"))
    event = b.event("e", b.strict(b.leaf(0, "A"), inner))
    assert both_ways(flatten_sequences, event) == b.strict(b.leaf(0, "A"), b.leaf(1, "B"), b.leaf(2, "C"))


def test_having_on_a_later_part_of_next_stays() -> None:
    """The event that HAVING rejects still stands in the way: `a1 b2 c3` has no match."""
    condition = b.compare(b.column(1, "room"), "=", "c")
    event = b.event("e", b.nearest(b.leaf(0, "A"), b.leaf(1, "A")), having=(condition,))
    assert push_having_into_candidates(event) is event


def test_having_on_the_first_part_of_next_moves() -> None:
    condition = b.compare(b.column(0, "room"), "=", "c")
    event = b.event("e", b.nearest(b.leaf(0, "A"), b.leaf(1, "A")), having=(condition,))
    moved = push_having_into_candidates(event)
    assert moved.having == ()
    assert moved.pattern == b.nearest(b.leaf(0, "A", conditions=(condition,)), b.leaf(1, "A"))
