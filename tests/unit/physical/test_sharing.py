"""Which events share what, and what explain says of it."""

from __future__ import annotations

import pyarrow as pa
import pytest

import inkling
from inkling.physical.plan import Sharing

STREAMS = """
STREAM A(id STRING, k STRING, t INT) ID id TIME t;
STREAM B(id STRING, k STRING, t INT) ID id TIME t;
STREAM V(id STRING, k STRING, s STRING, t INT) ID id TIME t ORDER BY id;
"""


def sharing(events: str) -> Sharing:
    (stage,) = inkling.parse(STREAMS + events).physical.stages
    return stage.sharing


def test_events_that_differ_in_names_only_are_twins() -> None:
    found = sharing(
        "EVENT e(a.k AS key) AS PATTERN SEQ(A a, B b[k = a.k]);\nEVENT f(x.k AS kk) AS PATTERN SEQ(A x, B y[k = x.k]);"
    )
    assert found.twins == (("f", "e"),)


@pytest.mark.parametrize(
    "other",
    [
        "SEQ(A a, B b[k < a.k]) PARTITION BY k",
        "SEQ NEXT(A a, B b) PARTITION BY k",
        "SEQ(A a, B b) WITHIN 5 TICKS PARTITION BY k",
        "SEQ(B b, A a) PARTITION BY k",
    ],
)
def test_what_is_looked_for_otherwise_is_not_shared(other: str) -> None:
    found = sharing(f"EVENT e AS PATTERN SEQ(A a, B b) PARTITION BY k; EVENT f AS PATTERN {other};")
    assert found == Sharing()


def test_first_parts_are_shared_and_the_whole_of_one_may_be_the_beginning_of_another() -> None:
    found = sharing(
        """
        EVENT e AS PATTERN SEQ(A a, B b) PARTITION BY k;
        EVENT f AS PATTERN SEQ(A x, B y, A z) PARTITION BY k;
        EVENT g AS PATTERN SEQ(A x, B y, NOT A, B z) PARTITION BY k PER INTERVAL;
        """
    )
    assert [(part.n_parts, part.events) for part in found.parts] == [(2, ("e", "f", "g"))]


def test_where_an_eager_repetition_stops_depends_on_the_next_part() -> None:
    """So the first parts up to it are nobody else's, but those up to the next part are."""
    found = sharing(
        """
        EVENT e AS PATTERN SEQ NEXT(A a, B b+ EAGER, V v) PARTITION BY k;
        EVENT f AS PATTERN SEQ NEXT(A a, B b+ EAGER, A x) PARTITION BY k;
        EVENT g AS PATTERN SEQ NEXT(A a, B b+, V v) PARTITION BY k;
        EVENT h AS PATTERN SEQ NEXT(A a, B b+ EAGER, V v, B w) PARTITION BY k;
        """
    )
    assert found.twins == ()
    assert [(part.n_parts, part.events) for part in found.parts] == [(3, ("e", "h"))]


def test_other_results_of_one_pattern_share_the_pattern() -> None:
    found = sharing(
        "EVENT e AS PATTERN A a AND B b PARTITION BY k; EVENT f AS PATTERN A a AND B b PARTITION BY k PER END;"
    )
    assert found.twins == ()
    assert (0, ("e", "f")) in [(part.n_parts, part.events) for part in found.parts]


def test_explain_says_who_shares_what() -> None:
    program = inkling.parse(
        STREAMS
        + """
        EVENT e AS PATTERN SEQ(A a, B b) PARTITION BY k;
        EVENT f AS PATTERN SEQ(A x, B y, A z) PARTITION BY k;
        EVENT g AS PATTERN SEQ(A p, B q) PARTITION BY k;
        """
    )
    verdicts = program.explain("verdicts")
    assert "shares     all its work with g; its first 2 parts with f" in verdicts
    assert "shares     all its work with e" in verdicts
    physical = program.explain("physical")
    assert "(first 2 parts of e, f)" in physical
    assert "Renamed g[" in physical


def test_automata_of_twins_run_once_on_complete_data() -> None:
    program = inkling.parse(
        STREAMS
        + """
        EVENT e AS PATTERN SEQ STRICT(V a[s = 'A'], V b[s = 'B']) PARTITION BY k PER END;
        EVENT f AS PATTERN SEQ STRICT(V c[s = 'A'], V d[s = 'B']) PARTITION BY k PER END RETURN d.s AS last;
        EVENT g AS PATTERN SEQ STRICT(V x[s = 'A'], V y[s = 'B']) PARTITION BY k PER END;
        """
    )
    (stage,) = program.physical.stages
    assert stage.sharing.twins == (("g", "e"),)
    rows = [{"id": f"v{i}", "k": "p", "s": s, "t": i} for i, s in enumerate("ABXAAB")]
    found: dict[str, pa.Table] = program.run_local({"A": [], "B": [], "V": rows}).tables
    ends = {name: [(row["end"], row["lineage"]) for row in table.to_pylist()] for name, table in found.items()}
    assert ends["e"] == ends["f"] == ends["g"] == [(1, ["v0", "v1"]), (5, ["v4", "v5"])]
    assert found["f"]["last"].to_pylist() == ["B", "B"]


def test_times_of_shared_slots_are_those_of_each_event() -> None:
    """One event names a nested pattern with the slot that is a single event in another one."""
    program = inkling.parse(
        STREAMS
        + """
        EVENT e(START(b) AS s) AS PATTERN (SEQ(A a[k = 'x']?, A b) WITHIN 8 TICKS) c;
        EVENT f AS PATTERN (SEQ(A a[k = 'x']?) WITHIN 8 TICKS) c;
        """
    )
    assert [part.events for part in program.physical.stages[0].sharing.parts] == [("e", "f")]
    rows = [{"id": f"a{time}", "k": "y", "t": time} for time in (1, 9)]
    found = program.run_local({"A": rows}).tables["e"]
    assert found["s"].to_pylist() == [1, 9]
