"""The operators of a streaming query with revision, without Spark: intake, changelogs, stages, bucket by bucket.

After every micro-batch they have told what one process tells that is given the same rows.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pytest
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.programs import Options, random_program
from tests.kit.revised_streams import Reference
from tests.kit.revisions import Mode, Step, random_modes, random_script, revising
from tests.kit.rows import Rows as TestRows
from tests.kit.streams import pack, random_rows, random_tables
from tests.kit.uncertain_revisions import Net, Revision, difference
from tests.kit.uncertain_revisions import random_modes as uncertain_modes
from tests.kit.uncertain_revisions import random_script as uncertain_script
from tests.kit.universe import Declared, Kind
from tests.properties.test_uncertain_revisions import KINDS
from tests.streaming import corrected_doors as doors
from tests.streaming.in_process import InProcess, Rows, job_of
from tests.streaming.packed_program import packed_program
from tests.streaming.revised_query import Outcomes, late_and_rejected, n_withdrawn, net, regrouped

import inkling
from inkling.errors import InklingError, InputError
from inkling.forecasting.adaptation.online import OnlineLearning
from inkling.model.watermarks import NEVER
from inkling.query import Program
from inkling.runtime.replacement import changes, require_same_past

N_PROGRAMS, SCRIPTS_PER_PROGRAM, DATASETS = 12, 2, 8
UNCERTAIN_PROGRAMS = 4
OTHERS = ("late", "rejects")
STREAMS = (
    [Declared(name, Kind.POINTS, True, "seq", "") for name in "AB"],
    [Declared("V", Kind.ORDERED, True, "seq", "SINCE_CHANGE(s)"), Declared("W", Kind.ORDERED, True, "seq", "")],
    [Declared("A", Kind.POINTS, True, "seq", "x - PREV(x)"), Declared("L", Kind.INTERVALS, True, "seq", "")],
)


def test_operators_tell_what_one_process_tells() -> None:
    rng = random.Random("operators")
    n_programs = 0
    while n_programs < N_PROGRAMS:
        streams = rng.choice(STREAMS)
        options = Options(n_events=rng.choice((2, 3)), without=frozenset({"ties with order"}))
        text = random_program(rng, streams, options)
        try:
            plan = inkling.parse(text).plan
        except InklingError:
            continue
        n_programs += 1
        for _ in range(SCRIPTS_PER_PROGRAM):
            _check(rng, text, random_modes(rng, plan), random_rows(rng, streams, n_events=8, bad_rows=False))


@pytest.mark.parametrize("number", range(len(STREAMS)))
def test_operators_keep_many_keys_apart(number: int) -> None:
    rng = random.Random(f"many keys {number}")
    streams = STREAMS[number]
    text = packed_program(rng, streams, 8, 0).text
    modes = {one.name: Mode(rng.choice((2, 5)), speculative=True, window=20) for one in streams}
    rows = pack([random_rows(rng, streams, n_events=8, bad_rows=False) for _ in range(DATASETS)])
    assert _check(rng, text, modes, rows) > 10


def _check(rng: random.Random, text: str, modes: Mapping[str, Mode], rows: TestRows) -> int:
    """How many results were taken back."""
    program = inkling.parse(revising(text, modes))
    tables = arrow_tables(program.plan, random_tables(rng))
    script = [step for step in random_script(rng, program.plan, rows, modes) if not step.idle]
    if len(script) > 8:
        script = regrouped(script, 8, modes)
    query = InProcess(job_of(program.physical, tables, rng.choice((1, 2, 5))), seed=len(script))
    return _same_at_every_step(program, query, tables, script)


def _same_at_every_step(
    program: Program, query: InProcess, tables: Mapping[str, pa.Table], script: Sequence[Step]
) -> int:
    """How many results were taken back."""
    local, n = program.open(tables, unbounded=True), 0
    for step in [*script, None]:
        if step is None:
            expected, found = local.finish(), query.finish()
        else:
            given = arrow_streams(program.plan, step.rows)
            given = {name: given[name] for name in step.rows}
            expected, found = local.push(given), query.push(given)
        assert query.watermark == (NEVER if local.watermark is None else local.watermark)
        for name, table in {**expected.tables, "late": expected.late, "rejects": expected.rejects}.items():
            assert _bag(found.get(name, [])) == _bag(table.to_pylist()), name
        n += n_withdrawn(found)
    return n


def _bag(rows: Iterable[Mapping[str, object]]) -> Counter[str]:
    return Counter(repr(sorted(row.items())) for row in rows)


@pytest.mark.parametrize("seed", range(3))
def test_every_evaluator_with_other_windows_on_the_way(seed: int) -> None:
    rng = random.Random(seed)
    plain = inkling.parse(doors.PROGRAM)
    other = doors.MODES | {"Door": replace(doors.MODES["Door"], window=rng.choice((6, 20, 40)))}
    first, second = (inkling.parse(revising(doors.PROGRAM, modes)) for modes in (doors.MODES, other))
    require_same_past(first.plan, second.plan, changes(first.plan, second.plan))
    models, steps = doors.models(rng, plain), doors.steps(rng, first, 8)
    outcomes = Outcomes(Reference(first.plan, doors.MODES))
    query = InProcess(job_of(first.physical, models, 3), seed)
    found: Rows = {}
    for number, step in enumerate(steps):
        if number == len(steps) // 2:
            query.go_on_as(job_of(second.physical, models, 3, number=1))
            for time in outcomes.reference.times:
                time.streams = {**time.streams, "Door": other["Door"]}
        outcomes.take(step)
        _add(found, query.push(arrow_streams(first.plan, step.rows)))
        assert late_and_rejected(found) == outcomes.late_and_rejected
    outcomes.finish()
    _add(found, query.finish())
    assert late_and_rejected(found) == outcomes.late_and_rejected
    assert n_withdrawn(found) > 10
    expected = plain.run_local(arrow_streams(plain.plan, outcomes.reference.corrected()), models).tables
    for name, table in expected.items():
        assert doors.bag(net(found.get(name, []))) == doors.bag(table.to_pylist()), name


def test_uncertain_streams_tell_what_one_process_tells() -> None:
    rng = random.Random("one process")
    n_taken_back = 0
    for kind in [*KINDS] * UNCERTAIN_PROGRAMS:
        question = KINDS[kind][0](rng)
        local = Revision(question, uncertain_modes(rng, question.plan))
        physical = local.revising.physical
        query = InProcess(job_of(physical, question.tables, 3, sampling=question.sampling))
        told = Net()
        for push in [*uncertain_script(rng, question, local.modes), None]:
            if push is None:
                local.finish()
                found = query.finish()
            else:
                local.push(push)
                given = arrow_streams(physical.program, push)
                found = query.push({name: given[name] for name in push})
            told.take({name: pa.Table.from_pylist(rows) for name, rows in found.items() if name not in OTHERS})
            assert not difference(local.net.said, told.said)
        n_taken_back += told.n_withdrawn
    assert n_taken_back > 10


def _add(found: Rows, more: Rows) -> None:
    for name, rows in more.items():
        found.setdefault(name, []).extend(rows)


STREAM = "STREAM A(id STRING, x INT, t INT) ID id KEY x TIME t LATENESS 2 TICKS OP op FOR 5 TICKS;"
EVENT = "EVENT pair(x) AS PATTERN SEQ(A a, A b) WITHIN 9 TICKS PARTITION BY x;"


def _pushed(query: InProcess, *rows: tuple[str, int | None, str]) -> Rows:
    given = [{"id": name, "x": 1, "t": t, "op": op} for name, t, op in rows]
    return query.push({"A": arrow_streams(query.job.plan.program, {"A": given})["A"]})


def _said(found: Rows, output: str, *columns: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row[name] for name in columns) for row in found.get(output, []))


def test_withdrawals_that_withdraw_nothing() -> None:
    query = InProcess(job_of(inkling.parse(f"{STREAM}\n{EVENT}").physical, n_buckets=4))
    first = _pushed(query, ("one", 1, "+"), ("two", 2, "+"), ("early", None, "-"), ("nobody", 1, "-"), ("bad", 1, "*"))
    assert _said(first, "rejects", "id", "reason") == [("bad", "bad op")]
    second = _pushed(query, ("early", 3, "+"), ("five", 5, "+"))
    assert _said(second, "pair", "op", "start", "end") == [("+", 1, 2)]
    third = _pushed(query, ("one", None, "-"), ("one", None, "-"))
    assert _said(third, "pair", "op", "start", "end") == [("-", 1, 2)]
    assert _said(third, "rejects", "id", "reason") == [("one", "withdrawn twice")]
    # no row comes to the bucket of `nobody`, which hears that its time is over all the same
    fourth = _pushed(query, ("ten", 10, "+"))
    assert _said(fourth, "rejects", "id", "reason") == [("nobody", "nothing to withdraw")]
    assert _said(fourth, "pair", "op", "start", "end") == [("+", 2, 5)]
    fifth = _pushed(query, ("two", None, "-"), ("late", 7, "+"))
    assert _said(fifth, "late", "stream", "id", "time", "delay") == [("A", "late", 7, 3), ("A", "two", 2, 8)]
    assert not fifth.get("pair")
    assert not fifth.get("rejects")
    last = query.finish()
    assert _said(last, "pair", "op", "start", "end") == [("+", 2, 10), ("+", 5, 10)]
    assert not last.get("rejects")


def test_withdrawals_before_all_rows_wait() -> None:
    query = InProcess(job_of(inkling.parse(f"{STREAM}\n{EVENT}").physical))
    assert not _pushed(query, ("one", None, "-"), ("nobody", None, "-"))
    assert _said(_pushed(query, ("one", None, "-")), "rejects", "id", "reason") == [("one", "withdrawn twice")]
    assert not _pushed(query, ("one", 1, "+"), ("two", 2, "+"), ("three", 3, "+"))
    last = query.finish()
    assert _said(last, "pair", "op", "start", "end") == [("+", 2, 3)]
    assert _said(last, "rejects", "id", "reason") == [("nobody", "nothing to withdraw")]


def test_withdrawals_alone_reach_rows_of_other_buckets() -> None:
    program = inkling.parse(f"{STREAM.replace('2 TICKS', '2 TICKS SPECULATIVE')}\n{EVENT}")
    query = InProcess(job_of(program.physical))
    told = _pushed(query, ("one", 1, "+"), ("two", 2, "+"))
    assert _said(told, "pair", "op", "lineage") == [("+", ["one", "two"])]
    taken_back = _pushed(query, ("two", None, "-"))
    assert _said(taken_back, "pair", "op", "lineage") == [("-", ["one", "two"])]


@pytest.mark.parametrize(
    "other",
    [
        f"{STREAM}\n{EVENT}".replace("9 TICKS", "8 TICKS"),
        f"{STREAM}\n{EVENT}\nEVENT more AS PATTERN A a;",
        f"{STREAM}\n{EVENT}".replace("2 TICKS", "2 TICKS SPECULATIVE"),
        f"{STREAM}\n{EVENT}".replace(" OP op FOR 5 TICKS", ""),
        f"{STREAM}\nSTREAM B(id INT, t INT) ID id TIME t OP op FOR 5 TICKS;\n{EVENT}",
    ],
    ids=["event", "more", "speculative", "without", "stream"],
)
def test_other_programs_do_not_take_over(other: str) -> None:
    old, new = (inkling.parse(text).plan for text in (f"{STREAM}\n{EVENT}", other))
    for one, two in ((old, new), (new, old)):
        with pytest.raises(InputError, match="cannot continue from another one whose results can still change"):
            require_same_past(one, two, changes(one, two))


def test_windows_are_all_that_changes() -> None:
    old = inkling.parse(f"{STREAM}\n{EVENT}").plan
    for text in (STREAM.replace("5 TICKS", "50 TICKS"), STREAM.replace("2 TICKS", "1 TICKS")):
        said = changes(old, inkling.parse(f"{text}\n{EVENT}").plan)
        assert str(said) == "kept: pair; other windows: A"


def test_what_is_settled_is_not_kept() -> None:
    program = inkling.parse(f"{STREAM}\n{EVENT}")
    query = InProcess(job_of(program.physical, n_buckets=2))
    n_kept = []
    for first in range(0, 60_000, 6_000):
        rows = [{"id": str(t), "x": t % 7, "t": t, "op": "+"} for t in range(first, first + 6_000)]
        query.push(arrow_streams(program.plan, {"A": rows}))
        n_kept.append(sum(state["rows"] for state in query.states))
    assert max(n_kept) < 4 * 6_000
    assert max(n_kept[5:]) <= 1.1 * max(n_kept[:5])


def test_models_do_not_go_on_learning_from_what_may_be_withdrawn() -> None:
    program = inkling.parse(revising(doors.PROGRAM, doors.MODES))
    models = doors.models(random.Random(1), inkling.parse(doors.PROGRAM))
    with pytest.raises(InputError, match="INK0623"):
        program.open(models, unbounded=True, learn=OnlineLearning())
