"""Laws that the definition must obey on random programs and streams, whatever they mean."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from tests.kit.oracle import bound, oracle
from tests.kit.plans import event, leaf, plus, program, seq
from tests.kit.programs import Case, Options, seeded_cases
from tests.kit.rows import Rows
from tests.kit.streams import is_packable, pack, random_rows
from tests.kit.universe import Declared, Kind

from inkling.logical import plan as p
from inkling.meaning.semantics import Result

pytestmark = pytest.mark.slow

TIME_COLUMNS = ("t", "begun", "ended")


def lineages(results: Iterable[Result]) -> Counter[tuple[object, ...]]:
    return Counter((result.values, result.lineage) for result in results)


def rerun(case: Case, change: p.EventPlan) -> tuple[Result, ...]:
    """Results of a single event after it was changed."""
    return oracle(replace(case.plan, events=(change,)), case.rows, case.tables)[change.name]


CONSUMING = frozenset({"CONSUME RESTART", "CONSUME RECENT", "CONSUME CHRONOLOGICAL"})
ONE_EVENT = Options(n_events=1, without=CONSUMING)


def single_events(seed: int, n: int, options: Options = ONE_EVENT) -> list[tuple[Case, p.EventPlan]]:
    """Cases of one event, PER MATCH and without RETURN, so that results are matches."""
    return [
        (case, replace(case.plan.events[0], per=p.Per.MATCH, returns=())) for case in seeded_cases(seed, n, options)
    ]


def test_the_order_of_rows_changes_nothing() -> None:
    for case in seeded_cases(101, 60, Options(without=frozenset({"row numbers as ids"}))):
        shuffled = {name: random.Random(1).sample(rows, len(rows)) for name, rows in case.rows.items()}
        assert oracle(case.plan, shuffled, case.tables) == case.expected(), str(case)


def test_a_later_clock_shifts_every_result() -> None:
    def shift(rows: Rows, by: int) -> Rows:
        return {
            name: [
                {
                    column: value + by if column in TIME_COLUMNS and isinstance(value, int) else value
                    for column, value in row.items()
                }
                for row in some
            ]
            for name, some in rows.items()
        }

    for case in seeded_cases(102, 60, Options(without=frozenset({"START or END", "AT a time"}))):
        moved = oracle(case.plan, shift(case.rows, 1000), case.tables)
        back = {
            name: tuple(
                replace(one, start=one.start - 1000, end=one.end - 1000, detected_at=one.detected_at - 1000)
                for one in results
            )
            for name, results in moved.items()
        }
        assert back == case.expected(), str(case)


def test_keys_side_by_side_do_not_disturb_each_other() -> None:
    for case in seeded_cases(103, 40, Options(partitioned=True)):
        if not is_packable(case.plan):
            continue
        packed = oracle(case.plan, pack([case.rows] * 3), case.tables)
        for name, results in case.expected().items():
            assert len(packed[name]) == 3 * len(results), str(case)
            assert Counter((one.start, one.end) for one in packed[name]) == Counter(
                {span: 3 * n for span, n in Counter((one.start, one.end) for one in results).items()}
            )


def test_policies_only_narrow() -> None:
    narrowed = 0
    for case, wanted in single_events(104, 100):
        if not isinstance(wanted.pattern, p.Sequence) or set(wanted.scope) < set(wanted.sources):
            continue
        by_policy = {
            policy: set(lineages(rerun(case, replace(wanted, pattern=replace(wanted.pattern, policy=policy)))))
            for policy in p.Policy
            if policy is p.Policy.STRICT or not any(isinstance(x, p.OtherRun) for x in wanted.pattern.parts)
        }
        if len(by_policy) == 3:
            assert by_policy[p.Policy.STRICT] <= by_policy[p.Policy.NEXT] <= by_policy[p.Policy.ANY], str(case)
            narrowed += by_policy[p.Policy.STRICT] < by_policy[p.Policy.ANY]
    assert narrowed > 3


@pytest.mark.long
def test_a_limit_only_removes() -> None:
    removed = 0
    for case, wanted in single_events(105, 160, replace(ONE_EVENT, without=CONSUMING | {"NOT first", "NOT last"})):
        if wanted.within is None:
            continue
        limited = lineages(rerun(case, wanted))
        unlimited = lineages(rerun(case, replace(wanted, within=None)))
        assert limited <= unlimited, str(case)
        removed += limited < unlimited
    assert removed > 5


@pytest.mark.long
def test_keeping_less_only_removes() -> None:
    removed = 0
    options = Options(n_events=1, without=ONE_EVENT.without | {"AT START"}, needing=frozenset({"KEEP FOR"}))
    for case, wanted in single_events(113, 60, options):
        kept = lineages(rerun(case, wanted))
        everything = lineages(rerun(case, replace(wanted, keep=None)))
        assert kept <= everything, str(case)
        removed += kept < everything
    assert removed > 5


def test_coarser_results_are_projections_of_matches() -> None:
    for case, wanted in single_events(106, 60):
        matches = rerun(case, wanted)
        for per, project in (
            (p.Per.INTERVAL, lambda one: (one.values, one.start, one.end)),
            (p.Per.END, lambda one: (one.values, one.end)),
            (p.Per.VALUES, lambda one: (one.values,)),
        ):
            coarse = rerun(case, replace(wanted, per=per))
            assert {project(one) for one in coarse} == {project(one) for one in matches}, str(case)
            assert {one.lineage for one in coarse} <= {one.lineage for one in matches}, str(case)


@pytest.mark.long
def test_an_absence_only_removes() -> None:
    def without_absences(part: p.Pattern) -> p.Pattern:
        assert isinstance(part, p.Sequence)
        kept = tuple(x for x in part.parts if not isinstance(x, p.Absent | p.StreamStart))
        return replace(part, parts=kept)

    removed = 0
    for case, wanted in single_events(107, 50, replace(ONE_EVENT, needing=frozenset({"NOT between"}))):
        if not isinstance(wanted.pattern, p.Sequence):
            continue
        strict = lineages(rerun(case, wanted))
        free = lineages(rerun(case, replace(wanted, pattern=without_absences(wanted.pattern))))
        assert strict <= free, str(case)
        removed += strict < free
    assert removed > 1


def letter_streams(kind: Kind, seed: int) -> tuple[tuple[p.StreamPlan, ...], Rows]:
    """Three streams with random rows and their plans."""
    names = {Kind.POINTS: "ABC", Kind.ORDERED: "VWU", Kind.INTERVALS: "LMN"}[kind]
    declared = [Declared(name, kind, True, "seq") for name in names]
    rows = random_rows(random.Random(seed), declared, n_events=7)
    text = "\n".join(str(one) for one in declared)
    return bound(f"{text} EVENT e AS PATTERN {names[0]};").streams, rows


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("seed", range(5))
def test_sequences_that_skip_freely_are_associative(kind: Kind, seed: int) -> None:
    streams, rows = letter_streams(kind, seed)
    one, two, three = (leaf(slot, stream.schema.name) for slot, stream in enumerate(streams))

    def found(pattern: p.Pattern) -> Counter[tuple[object, ...]]:
        return lineages(oracle(program(streams, event("x", pattern)), rows)["x"])

    flat = found(seq(one, two, three))
    assert flat == found(seq(seq(one, two), three)) == found(seq(one, seq(two, three)))


@pytest.mark.parametrize("policy", list(p.Policy))
@pytest.mark.parametrize("seed", range(5))
def test_a_repetition_is_the_union_of_its_unfoldings(policy: p.Policy, seed: int) -> None:
    streams, rows = letter_streams(Kind.POINTS, seed)
    names = [stream.schema.name for stream in streams]

    def found(*parts: p.Part) -> set[tuple[object, ...]]:
        pattern = p.Sequence(policy, parts)
        return set(lineages(oracle(program(streams, event("x", pattern, over=tuple(names))), rows)["x"]))

    first, last = leaf(0, names[0]), leaf(9, names[2])
    repeated = found(first, plus(leaf(1, names[1]), 1, 3), last)
    unfolded = [found(first, *(leaf(slot, names[1]) for slot in range(1, n + 1)), last) for n in (1, 2, 3)]
    assert repeated == set().union(*unfolded)


@pytest.mark.parametrize("seed", range(5))
def test_AND_does_not_depend_on_its_order(seed: int) -> None:
    streams, rows = letter_streams(Kind.INTERVALS, seed)
    one, two = (leaf(slot, stream.schema.name) for slot, stream in enumerate(streams[:2]))

    def found(pattern: p.Pattern) -> Counter[object]:
        results = oracle(program(streams, event("x", pattern)), rows)["x"]
        return Counter((one.start, one.end, frozenset(one.lineage)) for one in results)

    assert found(p.Conjunction((one, two))) == found(p.Conjunction((two, one)))
    assert found(p.Related(one, ("DURING",), two)) == found(p.Related(two, ("CONTAINS",), one))
