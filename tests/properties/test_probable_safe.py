"""Operators on intervals of time answer queries as the sum over all worlds does, in fractions, cut anywhere."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from inkling.analysis.probable.normal_form import query_of
from inkling.analysis.probable.plans import Chain, NoPlan, Plan, Project, plan_of
from inkling.analysis.probable.query import Query
from inkling.evaluators.probable.ground import ground_of
from inkling.evaluators.probable.safe import COMPILED, Safe, SafeState, interval_table
from inkling.evaluators.probable.words import words_of
from inkling.io.normalize import START
from inkling.logical import plan as p
from inkling.logical.plan import Per
from inkling.model.time import Clock
from inkling.testing.arrow import arrow_streams
from inkling.testing.exact_kernels import uncompiled
from inkling.testing.oracle import bound, probable_oracle, surroundings
from inkling.testing.rows import Rows
from inkling.testing.safe_queries import PATTERNS, safe_program, safe_rows

IN_FRACTIONS = SimpleNamespace(**{name: uncompiled(kernel) for name, kernel in vars(COMPILED).items()})
N_CASES = 48
PIECES = ((1, 1), (2, 3), (32, 256))


@dataclass(frozen=True)
class Asked:
    """A program with one query that operators on intervals answer."""

    program: p.ProgramPlan
    query: Query
    plan: Plan

    @classmethod
    def of(cls, text: str) -> Asked | None:
        program = bound(text)
        query = query_of(program.events[0], program).conclusion
        assert query is not None
        plan = plan_of(query)
        inner = plan
        while isinstance(inner, Project):
            inner = inner.child
        return None if isinstance(inner, Chain | NoPlan) else cls(program, query, plan)

    @property
    def kinds(self) -> dict[str, str]:
        """Of its streams."""
        return {
            name: "certain" if one.certain else "chain" if one.markov else "independent"
            for name, one in self.query.sources.items()
        }

    def safe(self, pieces: tuple[int, int] = PIECES[-1], *, exact: bool = True, spare: float = 0.0) -> Safe:
        kernels = IN_FRACTIONS if exact else COMPILED
        return Safe(self.query, self.plan, self.query.per is Per.VALUES, spare, pieces, kernels)

    def blocks(self, rows: Rows, cuts: Sequence[int], *, exact: bool = True) -> Iterator[tuple[Any, Any]]:
        schemas = {stream.schema.name: stream.schema for stream in self.program.streams}
        around = surroundings(self.program, {}, Clock.TICKS)
        before = 0
        for cut in (*cuts, 10**9):
            some = {name: [row for row in mine if before < row["t"] <= cut] for name, mine in rows.items()}
            tables = {name: one.append_column(START, one["t"]) for name, one in arrow_streams(self.program, some).items()}
            ground = ground_of(self.query, schemas, tables, exact_numbers=exact)
            yield ground, words_of(self.query, ground, tables, around)
            before = cut

    def found(self, safe: Safe, rows: Rows, cuts: Sequence[int] = (), *, exact: bool = True) -> dict[int, Any]:
        """The chance at each time, or ever as that at time 0, over all units."""
        state, by_unit = safe.start(), {}
        for ground, words in self.blocks(rows, cuts, exact=exact):
            state, answers = safe.advance(state, ground, words)
            if not exact:
                state = SafeState.of(state.arrays())
            for unit, time, chance in zip(answers.unit, answers.time, answers.chance, strict=True):
                one = int(unit), 0 if safe.ever else int(time)
                by_unit[one] = by_unit.get(one, 0) + chance
        left: dict[int, Any] = {}
        for (_, time), chance in by_unit.items():
            left[time] = left.get(time, 1) * (1 - chance)
        return {time: 1 - one for time, one in left.items()}

    def wanted(self, rows: Rows) -> dict[int, Fraction]:
        results = probable_oracle(self.program, rows)["q"]
        ever = self.query.per is Per.VALUES
        return {0 if ever else one.end: one.probability for one in results if one.probability}


def asked(rng: random.Random, shape: str, per: str) -> Asked:
    """A program of a shape; streams are drawn until operators on intervals answer it."""
    for _ in range(30):
        one = Asked.of(safe_program(rng, PATTERNS[shape], per))
        if one is not None:
            return one
    pytest.skip("never answered by intervals")


ONLY_AT_END = {shape for shape in PATTERNS if "reject" in shape or "shared" in shape or "covered" in shape} | {
    "repeated twice"
}


@pytest.mark.parametrize("shape", PATTERNS)
def test_points_are_sums_over_worlds(shape: str) -> None:
    rng = random.Random(shape)
    met: Counter[bool] = Counter()
    for _ in range(3):
        one = asked(rng, shape, "END")
        for _ in range(N_CASES // 3):
            rows = safe_rows(rng, one.kinds, 10)
            cuts = sorted(rng.sample(range(1, 6), rng.choice((0, 0, 1, 3))))
            wanted = one.wanted(rows)
            assert one.found(one.safe(rng.choice(PIECES)), rows, cuts) == wanted, (one.program, rows, cuts)
            met[bool(wanted)] += 1
    assert met[True] > 3
