"""What becomes of events when another program takes the place of theirs."""

from __future__ import annotations

import pytest

import inkling
from inkling.errors import InputError
from inkling.runtime.replacement import Changes, changes, planned_after

STREAM = "STREAM Car(id INT, road STRING, speed INT) ID id TIME t LATENESS 5 TICKS;"
TABLE = "TABLE limits(road STRING, top INT) FROM 'limits.csv';"
FAST = "EVENT fast(a.road AS road) AS PATTERN Car a[speed > 100];"
TWICE = "EVENT twice AS PATTERN SEQ(fast a, fast b[road = a.road]) WITHIN 9 TICKS;"
SLOW = "EVENT slow AS PATTERN Car a[speed < 10] PARTITION BY road;"
KNOWN = "EVENT known AS PATTERN Car a[limits(road, 50)];"


def _changes(old: list[str], new: list[str]) -> Changes:
    plans = [inkling.parse("\n".join(statements)).physical.program for statements in (old, new)]
    return changes(*plans)


def test_layout_and_comments_change_nothing() -> None:
    moved = [STREAM, "-- cars that are too fast", FAST.replace(" ", "\n  "), TWICE]
    assert not _changes([STREAM, FAST, TWICE], moved)


def test_each_event_has_one_fate() -> None:
    edited = FAST.replace("100", "120")
    said = _changes([STREAM, FAST, SLOW], [STREAM, edited, TWICE])
    assert said == Changes(kept=(), started=("twice",), restarted=("fast",), stopped=("slow",))
    assert str(said) == "started: twice; started anew: fast; stopped: slow"


def test_an_event_changes_with_what_it_reads() -> None:
    edited = FAST.replace("100", "120")
    assert _changes([STREAM, FAST, TWICE, SLOW], [STREAM, edited, TWICE, SLOW]).restarted == ("fast", "twice")


def test_events_that_use_themselves_have_a_fate() -> None:
    text = """STREAM S(k STRING, t INT) TIME t;
    EVENT x(a.k AS k) AS PATTERN S a PER INTERVAL;
    EVENT x(b.k AS k) AS PATTERN SEQ(y b, S c[k = b.k]) PER INTERVAL;
    EVENT y(b.k AS k) AS PATTERN SEQ(x b, S c) PER INTERVAL;"""
    old = inkling.parse(text).plan
    assert not changes(old, inkling.parse(text).plan)
    assert changes(old, inkling.parse(text.replace("x b, S c", "x b, S c[k <> b.k]")).plan).restarted == ("x", "y")


def test_a_stream_with_another_column_starts_its_events_anew() -> None:
    assert _changes([STREAM, SLOW], [STREAM.replace("INT)", "INT, lane INT)"), SLOW]).restarted == ("slow",)


def test_lateness_alone_keeps_events() -> None:
    said = _changes([STREAM, SLOW], [STREAM.replace("5 TICKS", "9 TICKS"), SLOW])
    assert (said.kept, said.lateness) == (("slow",), ("Car",))
    assert said


def test_a_table_with_other_columns_starts_its_events_anew() -> None:
    other = TABLE.replace("top INT", "top DOUBLE")
    assert _changes([STREAM, TABLE, KNOWN, SLOW], [STREAM, other, KNOWN, SLOW]).restarted == ("known",)


def test_kept_events_stay_in_their_stage() -> None:
    old = inkling.parse("\n".join([STREAM, FAST, SLOW])).physical
    new = inkling.parse("\n".join([STREAM, SLOW])).physical
    assert [[step.event.name for step in stage.steps] for stage in old.stages] == [["fast"], ["slow"]]
    plan = planned_after(old, new.program)
    assert [[step.event.name for step in stage.steps] for stage in plan.stages] == [[], ["slow"]]


def test_a_new_key_without_a_stage_is_rejected() -> None:
    old = inkling.parse("\n".join([STREAM, SLOW])).physical
    new = inkling.parse("\n".join([STREAM, SLOW, "EVENT twin AS PATTERN SEQ(Car a, Car b) PARTITION BY speed;"]))
    with pytest.raises(InputError) as caught:
        planned_after(old, new.physical.program)
    assert str(caught.value) == (
        "error[INK0606]: `twin` needs another partition key than the running program has\n"
        "   = note: a query keeps the number of its stages, one per partition key, as long as it has its checkpoint\n"
        "   = help: start the program with a new checkpoint\n"
        "   = help: the running program continues"
    )
