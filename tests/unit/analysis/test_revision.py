"""How long results can change, and what is kept for that."""

from __future__ import annotations

import pytest

import inkling
from inkling.analysis.bounds.revision import memory_text, pushed_windows, replay_text, revision_of, revision_text
from inkling.errors import ProgramError
from inkling.logical.printing.text import span_text, window_text

STREAMS = """
    STREAM Told(id STRING, k STRING, t INT) ID id KEY k TIME t LATENESS 5 TICKS;
    STREAM Quick(id STRING, k STRING, t INT) ID id KEY k TIME t LATENESS 30 TICKS SPECULATIVE;
    STREAM Wrong(id STRING, k STRING, t INT) ID id KEY k TIME t LATENESS 5 TICKS OP op FOR 60 TICKS;
    STREAM Both(id STRING, k STRING, t INT) ID id KEY k TIME t LATENESS 30 TICKS SPECULATIVE OP op FOR 40 TICKS;
    STREAM Ever(id STRING, k STRING, t INT) ID id KEY k TIME t OP op;
"""


def program(*events: str) -> inkling.Program:
    return inkling.parse("\n".join([STREAMS, *(f"EVENT e{n} AS PATTERN {text};" for n, text in enumerate(events))]))


def said(pattern: str) -> str | None:
    one = program(pattern)
    revision = revision_of(one.plan.events[0], one.plan).conclusion
    return None if revision is None else revision_text(revision)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("Told x", None),
        ("Quick x", "results can change until they are 30 TICKS old"),
        ("Wrong x", "results can change until they are 60 TICKS old"),
        ("Both x", "results can change until they are 40 TICKS old"),
        ("SEQ(Quick x, Both y) WITHIN 9 TICKS", "results can change until they are 40 TICKS old"),
        ("SEQ(Wrong x, NOT Quick z, Told y) WITHIN 9 TICKS", "results can change until they are 60 TICKS old"),
        ("SEQ(Wrong x, Ever y) WITHIN 9 TICKS", "results can change forever"),
    ],
)
def test_how_long_results_can_change(pattern: str, text: str | None) -> None:
    assert said(pattern) == text


def test_what_rests_on_a_revised_event_is_revised() -> None:
    one = program("Wrong x", "SEQ(e0 x, Told y) WITHIN 9 TICKS", "Told x")
    spans = [revision_of(event, one.plan).conclusion for event in one.plan.events]
    assert [span and span.window and span_text(span.window) for span in spans] == ["60 TICKS", "60 TICKS", None]


def test_lengths_of_different_units_are_compared() -> None:
    text = """
        STREAM A(id STRING, at TIMESTAMP) ID id TIME at OP op FOR 90 SECONDS;
        STREAM B(id STRING, at TIMESTAMP) ID id TIME at LATENESS 1 MINUTE SPECULATIVE;
        EVENT e AS PATTERN SEQ(A a, B b) WITHIN 10 SECONDS;
    """
    one = inkling.parse(text)
    verdict = revision_of(one.plan.events[0], one.plan)
    assert verdict.conclusion is not None
    assert verdict.conclusion.window is not None
    assert span_text(verdict.conclusion.window) == "90 SECONDS"
    assert verdict.reason == "A has OP FOR 90 SECONDS, B has LATENESS 1 MINUTES SPECULATIVE"


def test_windows_are_pushed_into_joins() -> None:
    one = program("SEQ(Wrong x, (SEQ(Wrong y, Wrong z) WITHIN 4 TICKS)) WITHIN 9 TICKS KEEP FOR 20 TICKS")
    assert [window_text(window) for window in pushed_windows(one.plan.events[0])] == ["9 TICKS", "20 TICKS", "4 TICKS"]


def test_windows_of_events_are_not_pushed() -> None:
    one = program("SEQ(Wrong x, Wrong y) WITHIN 4 EVENTS")
    assert list(pushed_windows(one.plan.events[0])) == []


def test_only_what_can_change_is_explained() -> None:
    assert "revision" not in program("Told x").explain("verdicts")
    explained = program("SEQ(Wrong x, Wrong y) WITHIN 9 TICKS PARTITION BY k").explain("verdicts")
    assert f"  replay     {replay_text('k')}" in explained
    assert "rows, results and intermediate states of the last 60 TICKS" in explained
    assert "partial matches longer than 9 TICKS are dropped" in explained


def test_speculation_holds_nothing_back() -> None:
    explained = program("SEQ(Quick x, Quick y) WITHIN 9 TICKS PARTITION BY k").explain("verdicts")
    assert "the events of the last 9 TICKS: " in explained


def test_columns_that_look_back_along_another_key_bring_all_keys_together() -> None:
    text = """
        STREAM A(id STRING, k STRING, j STRING, t INT, x INT) ID id KEY k TIME t OP op FOR 9 TICKS
          DERIVE d = x - PREV(x);
        EVENT e AS PATTERN SEQ(A a, A b[d > 0]) WITHIN 5 TICKS PARTITION BY j;
    """
    assert f"  replay     {replay_text(None)}" in inkling.parse(text).explain("verdicts")


def test_withdrawals_for_ever_are_rejected_on_streams() -> None:
    endless = program("Ever x")
    with pytest.raises(ProgramError, match="can be withdrawn at any time"):
        endless.require_streamable()
    endless.require_streamable(unbounded=True)


def test_what_is_kept_for_ever_is_never_collected() -> None:
    one = program("Ever x")
    revision = revision_of(one.plan.events[0], one.plan).conclusion
    assert revision is not None
    assert memory_text(revision, ()) == "every row, result and intermediate state; nothing is ever dropped"
