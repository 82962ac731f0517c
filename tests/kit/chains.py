"""Random chains over imprecise times: patterns of single events, and small streams for many keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.kit.plans import column, compare, event, leaf, plus, program

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.schema import Column, StreamSchema
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime

STREAMS = ("A", "B", "C", "N")
KEY = {"k": Type.INTEGER}
MOST_WORLDS = 24

Rows = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class ChainCase:
    """A program with a chain `x`, and rows of several keys."""

    plan: p.ProgramPlan
    keys: tuple[Rows, ...]

    @property
    def chain(self) -> p.EventPlan:
        found = self.plan.event("x")
        assert found is not None
        return found


def chain_cases(seed: int, n_programs: int, n_keys: int) -> Iterator[ChainCase]:
    """Programs, each with small streams for so many keys."""
    random = Random(seed)
    for _ in range(n_programs):
        case = _Maker(random)
        plan = case.plan()
        names = [one.schema.name for one in plan.streams]
        yield ChainCase(plan, tuple(case.rows(key, names) for key in range(n_keys)))


class _Maker:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._certain = random.choice([None, None, "A", "B", "C"])
        self._weighted = random.random() < 0.3
        self._slot = 0
        self._repeated: set[int] = set()

    def plan(self) -> p.ProgramPlan:
        random = self._random
        policy = random.choice([p.Policy.ANY, p.Policy.NEXT, p.Policy.NEXT, p.Policy.STRICT])
        within = random.choice([None, *(p.Points(n) for n in (1, 2, 3, 4, 5, 6, 7, 9, 12))])
        parts = self._parts(policy, bordered=within is not None)
        pattern = p.Sequence(policy, parts, within)
        named = {source for one in p.leaves(pattern) for source in one.sources}
        streams = tuple(self._stream(name) for name in STREAMS if name in named or random.random() < 0.2)
        scope = tuple(one.schema.name for one in streams) if policy is p.Policy.STRICT else tuple(sorted(named))
        read = {one.schema.name: one for one in streams}
        if all(read[name].schema.uncertainty is None for name in named):
            return _Maker(random)._replacing(self)
        return program(
            tuple(one for one in streams if one.schema.name in {*named, *scope}),
            event("x", pattern, within=within, partition=KEY, over=scope, having=self._having(parts)),
        )

    def _replacing(self, other: _Maker) -> p.ProgramPlan:
        plan = self.plan()
        other._certain, other._weighted = self._certain, self._weighted
        return plan

    def _parts(self, policy: p.Policy, *, bordered: bool) -> tuple[p.Part, ...]:
        random = self._random
        n = random.choice([1, 2, 2, 2, 3, 3, 3, 4])
        repeated = random.randrange(n) if random.random() < 0.35 else None
        parts: list[p.Part] = []
        before: list[int] = []
        for place in range(n):
            if random.random() < 0.2 and (place > 0 or bordered):
                parts.append(p.Absent(self._leaf(before, absent=True)))
            one = self._leaf(before, repeats=place == repeated)
            before.append(one.slot)
            parts.append(
                one if place != repeated else self._repetition(one, policy, last=place == n - 1, optional=bordered)
            )
        if bordered and random.random() < 0.2:
            parts.append(p.Absent(self._leaf(before, absent=True)))
        return tuple(parts)

    def _repetition(self, one: p.Leaf, policy: p.Policy, *, last: bool, optional: bool) -> p.Repetition:
        low, high = self._random.choice([(1, None), (1, None), (1, 2), (2, 3), (2, 2), (0 if optional else 1, 1)])
        found = plus(one, low, high)
        eager = policy is p.Policy.NEXT and low > 0 and not last and self._random.random() < 0.5
        return replace(found, eager=True) if eager else found

    def _leaf(self, before: list[int], *, absent: bool = False, repeats: bool = False) -> p.Leaf:
        random, slot = self._random, self._slot
        self._slot += 1
        if repeats:
            self._repeated.add(slot)
        sources = tuple(random.sample(STREAMS[:3], random.choice([1, 1, 1, 2])))
        if absent and random.random() < 0.6:
            sources = ("N",)
        conditions: list[e.Expr] = []
        own = column(slot, "v", Type.INTEGER)
        if random.random() < 0.2:
            conditions.append(compare(own, random.choice(["<", "=", "<>"]), random.randrange(3)))
        if before and random.random() < 0.3:
            chosen = random.choice(before)
            many = chosen in self._repeated
            other = e.ListColumn(e.Which.LAST, chosen, "v", Type.INTEGER) if many else column(chosen, "v", Type.INTEGER)
            conditions.append(e.Compare(random.choice(["=", "<=", "<>"]), own, other))
        if repeats and random.random() < 0.4:
            previous = e.ListColumn(e.Which.LAST, slot, "v", Type.INTEGER, own=True)
            conditions.append(e.Compare(random.choice([">=", "<>"]), own, previous))
        return leaf(slot, *sources, conditions=tuple(conditions))

    def _having(self, parts: tuple[p.Part, ...]) -> tuple[e.Expr, ...]:
        slots = [one.slot for one in parts if isinstance(one, p.Leaf)]
        if len(slots) < 2 or self._random.random() > 0.2:
            return ()
        first, last = (column(slot, "v", Type.INTEGER) for slot in (slots[0], slots[-1]))
        return (e.Compare("<>", first, last),)

    def _stream(self, name: str) -> p.StreamPlan:
        certain = name == self._certain
        schema = StreamSchema(
            name,
            (Column("id", Type.STRING), Column("k", Type.INTEGER), Column("v", Type.INTEGER)),
            id="id",
            key=("k",),
            start="t" if certain else "lo",
            end="t" if certain else "hi",
            time_type=Type.INTEGER,
            uncertainty=None if certain else ImpreciseTime("lo", "hi", "weights" if self._weighted else None),
        )
        return p.StreamPlan(schema)

    def rows(self, key: int, names: list[str]) -> Rows:
        random = self._random
        rows: Rows = {name: [] for name in STREAMS}
        n_worlds = 1
        for number in range(random.choice([3, 4, 5, 5, 6, 7])):
            name = random.choice([one for one in names if one != "N" or len(names) == 1 or random.random() < 0.4])
            row: dict[str, Any] = {"id": f"{key}-{number}", "k": key, "v": random.randrange(3)}
            at, width = random.randrange(7), random.choice([1, 1, 2, 2, 3, 4])
            if name == self._certain:
                rows[name].append({**row, "t": at})
                continue
            width = min(width, max(1, MOST_WORLDS // n_worlds))
            n_worlds *= width
            row |= {"lo": at, "hi": at + width - 1}
            if self._weighted:
                row["weights"] = self._weights(width)
            rows[name].append(row)
        return rows

    def _weights(self, width: int) -> list[float] | None:
        if self._random.random() < 0.4:
            return None
        weights = [float(self._random.choice([0, 1, 1, 2, 5])) for _ in range(width)]
        return weights if any(weights) else None
