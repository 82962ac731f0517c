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
from tests.kit.arrow import arrow_streams
from tests.kit.exact_kernels import uncompiled
from tests.kit.interval_table import interval_table
from tests.kit.oracle import bound, expression_context, probable_oracle
from tests.kit.probable_oracle import summed_over, with_names
from tests.kit.rows import Rows
from tests.kit.safe_queries import PATTERNS, safe_program, safe_rows

from inkling.analysis.query.normal_form import query_of
from inkling.analysis.query.plans import NoSafePlan, ProjectPlan, RegPlan, SafePlan, plan_of
from inkling.analysis.query.query import Query
from inkling.analysis.query.strategy import ONE_BY_ONE, unbounded
from inkling.evaluators.query.event import predicates_of
from inkling.evaluators.query.probable_events import probable_events_of
from inkling.evaluators.query.safe.joint_states import TooManyValues
from inkling.evaluators.query.safe.plan import COMPILED, Safe, SafeState
from inkling.evaluators.state import from_bytes, to_bytes
from inkling.io.normalize import START
from inkling.logical import plan as p
from inkling.logical.plan import Per
from inkling.meaning.worlds import joint_worlds
from inkling.model.time import Clock

pytestmark = pytest.mark.long

IN_FRACTIONS = SimpleNamespace(**{name: uncompiled(kernel) for name, kernel in vars(COMPILED).items()})
N_CASES = 36
PIECES = ((1, 1), (2, 3), (32, 256))


@dataclass(frozen=True)
class Asked:
    """A program with one query that operators on intervals answer."""

    program: p.ProgramPlan
    query: Query
    plan: SafePlan

    @classmethod
    def of(cls, text: str) -> Asked | None:
        program = bound(text)
        query = query_of(program.events[0], program).conclusion
        assert query is not None
        plan = plan_of(query)
        inner = plan
        while isinstance(inner, ProjectPlan):
            inner = inner.child
        return None if isinstance(inner, RegPlan | NoSafePlan) else cls(program, query, plan)

    @property
    def kinds(self) -> dict[str, str]:
        """Of its streams."""
        return {
            name: "certain" if one.certain else "chain" if one.markov else "independent"
            for name, one in self.query.sources.items()
        }

    def safe(
        self, pieces: tuple[int, int] = PIECES[-1], *, exact: bool = True, tolerance: float = 0.0, n_rows: int = 10**6
    ) -> Safe:
        kernels = IN_FRACTIONS if exact else COMPILED
        return Safe(self.query, self.plan, self.query.per is Per.VALUES, tolerance, pieces, n_rows, kernels)

    def blocks(self, rows: Rows, cuts: Sequence[int], *, exact: bool = True) -> Iterator[tuple[Any, Any]]:
        schemas = {stream.schema.name: stream.schema for stream in self.program.streams}
        context = expression_context(self.program, {}, Clock.TICKS)
        before = 0
        for cut in (*cuts, 10**9):
            some = {name: [row for row in mine if before < row["t"] <= cut] for name, mine in rows.items()}
            tables = {
                name: one.append_column(START, one["t"]) for name, one in arrow_streams(self.program, some).items()
            }
            events = probable_events_of(self.query, schemas, tables, exact_numbers=exact)
            yield events, predicates_of(self.query, events, tables, context)
            before = cut

    def found(self, safe: Safe, rows: Rows, cuts: Sequence[int] = (), *, exact: bool = True) -> dict[int, Any]:
        """The chance at each time, or ever as that at time 0, over all units."""
        state, by_unit = safe.start(), {}
        for events, predicates in self.blocks(rows, cuts, exact=exact):
            state, answers = safe.advance(state, events, predicates)
            if not exact:
                state = from_bytes(to_bytes(state), SafeState)
            for unit, time, chance in zip(answers.grounding, answers.time, answers.chance, strict=True):
                one = int(unit), 0 if safe.ever else int(time)
                by_unit[one] = by_unit.get(one, 0) + chance
        left: dict[int, Any] = {}
        for (_, time), chance in by_unit.items():
            left[time] = left.get(time, 1) * (1 - chance)
        return {time: 1 - one for time, one in left.items()}

    def told(self, rows: Rows, cuts: Sequence[int]) -> set[int]:
        """Times at which something can end."""
        safe = self.safe()
        state, times = safe.start(), set()
        for events, predicates in self.blocks(rows, cuts):
            state, answers = safe.advance(state, events, predicates)
            times |= set(answers.time.tolist())
        return times

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
    raise AssertionError(f"{shape} is never answered by intervals")


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


@pytest.mark.parametrize("shape", [shape for shape in PATTERNS if shape not in ONLY_AT_END])
def test_ever_is_a_sum_over_worlds(shape: str) -> None:
    rng = random.Random(f"ever {shape}")
    one = asked(rng, shape, "VALUES")
    for _ in range(10):
        rows = safe_rows(rng, one.kinds, 10)
        cuts = sorted(rng.sample(range(1, 6), rng.choice((0, 0, 1, 3))))
        assert one.found(one.safe(rng.choice(PIECES)), rows, cuts) == one.wanted(rows), (one.program, rows, cuts)
        ends = [result.end for result in probable_oracle(one.program, rows)["q"] if result.probability]
        assert max(one.told(rows, cuts), default=None) == max(ends, default=None), (one.program, rows, cuts)


@pytest.mark.parametrize("shape", ["rejects", "repeated with rejects", "covered", "shared"])
def test_whether_it_ever_holds_is_not_known_from_points(shape: str) -> None:
    text = safe_program(random.Random(0), PATTERNS[shape], "VALUES").replace(" GIVEN g", "")
    lines = [
        line if "PROBABILITY" in line or "STREAM" not in line else line[:-1] + " PROBABILITY p;"
        for line in text.split("\n")
    ]
    assert Asked.of("\n".join(lines)) is None


@pytest.mark.parametrize("shape", PATTERNS)
def test_compiled_numbers_are_close_and_states_can_be_stored(shape: str) -> None:
    rng = random.Random(f"floats {shape}")
    one = asked(rng, shape, "END")
    for _ in range(4):
        rows = safe_rows(rng, one.kinds, 10**6, 7)
        exact = {time: float(chance) for time, chance in one.found(one.safe(), rows).items()}
        cuts = sorted(rng.sample(range(1, 8), rng.choice((0, 2, 7))))
        safe = one.safe(rng.choice(PIECES), exact=False, n_rows=rng.choice((1, 9, 10**6)))
        found = one.found(safe, rows, cuts, exact=False)
        assert found == pytest.approx({time: exact[time] for time in found}, abs=1e-12)
        assert all(exact[time] < 1e-12 for time in exact.keys() - found.keys())


@pytest.mark.parametrize("shape", ["next", "next with a filter", "repeated", "two after", "values of values"])
def test_tables_are_sums_over_worlds(shape: str) -> None:
    rng = random.Random(f"tables {shape}")
    for uncertainty in (" PROBABILITY p;", " PROBABILITY p GIVEN g;"):
        text = safe_program(rng, PATTERNS[shape], "END")
        lines = [
            line.split(" PROB")[0].rstrip(";") + uncertainty if " T(" in line else line for line in text.split("\n")
        ]
        one = Asked.of("\n".join(lines))
        assert one is not None
        for _ in range(5):
            rows = safe_rows(rng, one.kinds, 12)
            ((events, predicates),) = one.blocks(rows, ())
            found = interval_table(one.query, one.plan, events, predicates, IN_FRACTIONS)
            wanted = dict.fromkeys(found, Fraction(0))
            schemas = [stream.schema for stream in one.program.streams]
            for weight, world in joint_worlds(with_names(one.program, rows), schemas):
                ends = {result.end for result in summed_over([(Fraction(1), world)], one.program)["q"]}
                for start, end in wanted:
                    if any(start <= time <= end for time in ends):
                        wanted[start, end] += weight
            assert found == wanted, (one.program, rows)


LONG = """
STREAM R(t BIGINT, k BIGINT, v BIGINT) KEY k TIME t PROBABILITY p;
STREAM T(t BIGINT, k BIGINT, v BIGINT) KEY k TIME t PROBABILITY p;
STREAM W(t BIGINT, k BIGINT, v BIGINT) KEY k TIME t PROBABILITY p;
EVENT q AS PATTERN SEQ NEXT(R x0, R x1[k = x0.k], {last}) PER END;
"""


CHAINED = "T(t BIGINT, k BIGINT, v BIGINT) KEY k TIME t PROBABILITY p GIVEN g"


@pytest.mark.parametrize("last", ["T x2", "T x2, W x3", "R x2[v = 1]", "T x2, T x3", "CHAIN T x2", "CHAIN T x2[k = 1]"])
def test_neglected_starts_make_answers_lower_by_no_more_than_told(last: str) -> None:
    text = LONG.format(last=last.removeprefix("CHAIN "))
    if "CHAIN" in last:
        text = text.replace(CHAINED.removesuffix(" GIVEN g"), CHAINED)
    one = Asked.of(text)
    assert one is not None
    rng = random.Random(last)
    rows: Rows = {
        name: [
            {"t": t, "k": k, "v": 1, "p": rng.uniform(0.2, 0.7), "g": before}
            for t in range(1, 120)
            for k in (1, 2)
            for before in ((None, 1) if kind == "chain" else (None,))
        ]
        for name, kind in one.kinds.items()
    }
    ((events, predicates),) = one.blocks(rows, (), exact=False)
    _, exact = one.safe(exact=False).advance(SafeState({}), events, predicates)
    tolerance = 1e-5
    state, lower = one.safe((8, 8), exact=False, tolerance=tolerance).advance(SafeState({}), events, predicates)
    all_kept, _ = one.safe((8, 8), exact=False).advance(SafeState({}), events, predicates)
    assert state.n_states < all_kept.n_states / 2
    missing = exact.chance - lower.chance
    assert (missing > -1e-12).all()
    assert (missing <= lower.error + 1e-12).all()
    assert 0 < lower.error.max() <= 60 * tolerance


def test_certain_events_make_earlier_starts_irrelevant() -> None:
    one = Asked.of(LONG.format(last="T x2"))
    assert one is not None
    rng = random.Random(1)
    rows: Rows = {
        name: [
            {"t": t, "k": 1, "v": 1, "p": 1.0 if name == "T" and t % 10 == 0 else rng.uniform(0.1, 0.6)}
            for t in range(1, 200)
        ]
        for name in one.kinds
    }
    ((events, predicates),) = one.blocks(rows, (), exact=False)
    state, answers = one.safe((5, 5), exact=False).advance(SafeState({}), events, predicates)
    assert state.groundings[0]["run"]["starts"].size <= 15
    assert not answers.error.any()
    _, all_at_once = one.safe((1000, 1000), exact=False).advance(SafeState({}), events, predicates)
    assert answers.chance == pytest.approx(all_at_once.chance, abs=1e-13)


@pytest.mark.parametrize("shape", ["next", "two after", "repeated inside", "values of values", "two after, of one key"])
def test_chances_grow_with_the_interval(shape: str) -> None:
    rng = random.Random(f"growth {shape}")
    for _ in range(4):
        one = asked(rng, shape, "END")
        ((events, predicates),) = one.blocks(safe_rows(rng, one.kinds, 10**6), ())
        table = interval_table(one.query, one.plan, events, predicates, IN_FRACTIONS)
        times = sorted({start for start, _ in table})
        for start, end in table:
            assert 0 <= table[start, end] <= 1
            later, earlier = [t for t in times if start < t <= end], [t for t in times if start <= t < end]
            assert all(table[t, end] <= table[start, end] for t in later)
            assert all(table[start, t] <= table[start, end] for t in earlier)


def test_too_many_joint_values_are_rejected() -> None:
    text = LONG.format(last="T x2+").replace(CHAINED.removesuffix(" GIVEN g"), CHAINED)
    one = Asked.of(text)
    assert one is not None
    rows: Rows = {
        "R": [{"t": 1, "k": 1, "v": 1, "p": 0.5}],
        "T": [{"t": 1, "k": k, "v": v, "p": 0.25, "g": None} for k in range(7) for v in range(3)],
        "W": [],
    }
    ((events, predicates),) = one.blocks(rows, (), exact=False)
    with pytest.raises(TooManyValues, match="16384 joint states, the limit is 1024"):
        one.safe(exact=False).advance(SafeState({}), events, predicates)


@pytest.mark.parametrize(
    ("last", "per", "said"),
    [
        ("T x2", "END", None),
        ("T x2", "VALUES", "part 3 reads several values of `k` of T, " + ONE_BY_ONE),
        ("T x2[k = 1]", "VALUES", None),
        ("T x2+", "END", "part 3 reads several values of `k` of T, " + ONE_BY_ONE),
        ("T x2, W x3", "END", "part 3 reads several values of `k` of T, " + ONE_BY_ONE),
    ],
)
def test_streams_that_have_to_be_followed_together(last: str, per: str, said: str | None) -> None:
    text = LONG.format(last=last).replace(CHAINED.removesuffix(" GIVEN g"), CHAINED).replace("PER END", f"PER {per}")
    one = Asked.of(text)
    assert one is not None
    assert unbounded(one.query, one.plan, frozenset(), within=per == "VALUES") == said
