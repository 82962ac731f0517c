"""Results of all runners are read alike."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import inkling
from inkling.event_results import SHOWN_EVENTS, SHOWN_ROWS, EventResults
from inkling.results_html import SHOWN_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = inkling.parse("""
    STREAM Door(id STRING, person STRING, room STRING, t BIGINT) ID id KEY person TIME t;
    EVENT back(person) AS
      PATTERN SEQ NEXT(Door a, Door b[room = a.room]) WITHIN 10 TICKS PARTITION BY person
      RETURN END(b) - START(a) AS away;
    EVENT never(d.person AS person) AS PATTERN Door d[room = 'moon'];
""")
UNCERTAIN = inkling.parse("""
    STREAM At(person STRING, room STRING, t BIGINT, p DOUBLE) KEY person TIME t PROBABILITY p;
    EVENT seen(person) AS PATTERN At a[room = 'lab'] PARTITION BY person PER END;
""")
ROWS = [
    {"id": "d1", "person": "ada", "room": "lab", "t": 1},
    {"id": "d2", "person": "ada", "room": "hall", "t": 3},
    {"id": "d3", "person": "ada", "room": "lab", "t": 7},
    {"id": "d4", "person": None, "room": "lab", "t": 8},
]
# by hand: ada is back in the lab after 6 ticks
BACK = {
    "event": "back",
    "person": "ada",
    "away": 6,
    "start": 1,
    "end": 7,
    "detected_at": 7,
    "probability": 1.0,
    "method": "exact",
    "error": 0.0,
    "op": "+",
    "lineage": ["d1", "d3"],
}


def local(_request: pytest.FixtureRequest) -> EventResults[Any]:
    return PROGRAM.run_local(ROWS)


def pushed(_request: pytest.FixtureRequest) -> EventResults[Any]:
    return PROGRAM.open().push([*ROWS, {"id": "d5", "person": "bob", "room": "lab", "t": 9}])


def on_spark(request: pytest.FixtureRequest) -> EventResults[Any]:
    return PROGRAM.run(request.getfixturevalue("spark"), ROWS)


RUNNERS = [
    pytest.param(local, id="local"),
    pytest.param(pushed, id="pushed"),
    pytest.param(on_spark, id="spark", marks=pytest.mark.spark),
]


@pytest.fixture
def results(request: pytest.FixtureRequest) -> EventResults[Any]:
    made: EventResults[Any] = request.param(request)
    return made


@pytest.mark.parametrize("results", RUNNERS, indirect=True)
def test_results_of_every_runner_are_read_alike(results: EventResults[Any]) -> None:
    assert isinstance(results, EventResults)
    assert list(results) == list(results.keys()) == list(results.tables) == ["back", "never"]
    assert len(results) == 2
    assert "back" in results
    assert "moon" not in results
    assert results.get("moon") is None
    assert [name for name, _ in results.items()] == ["back", "never"]
    assert results["back"] is results.tables["back"]
    with pytest.raises(KeyError, match="unknown event 'moon'; the events are back, never"):
        results["moon"]
    with pytest.raises(KeyError, match="the events are back, never"):
        results.to_pandas("moon")

    assert results.to_arrow("back").to_pylist() == [BACK]
    assert results.to_arrow()["never"].num_rows == 0
    frame = results.to_pandas("back")
    assert [*frame.columns] == [*BACK]
    assert frame["away"].tolist() == [6]
    assert {name: len(one) for name, one in results.to_pandas().items()} == {"back": 1, "never": 0}
    assert results.to_polars("back").to_dicts() == [BACK]
    assert list(results.to_polars()) == ["back", "never"]

    rejects = results.rejects if isinstance(results.rejects, pa.Table) else results.rejects.toArrow()
    assert rejects["reason"].to_pylist() == ["null key"]
    page = results._repr_html_()
    assert "<table>" in page
    assert "back" in page
    assert "never" in page


@pytest.mark.parametrize("make", [local, pushed])
def test_results_in_this_process_are_counted(
    make: Callable[[pytest.FixtureRequest], Any], request: pytest.FixtureRequest
) -> None:
    results = make(request)
    assert results.n_results == 1
    assert bool(results)
    assert repr(results).startswith(f"<{type(results).__name__} back: 1, never: 0, rejects: 1")
    assert not PROGRAM.run_local([])
    assert not PROGRAM.open().push([])


def test_results_on_spark_are_described_without_a_job(spark: Any) -> None:
    results = PROGRAM.run(spark, ROWS)
    spark.sparkContext.setJobGroup("described", "")
    try:
        page, text = results._repr_html_(), repr(results)
        assert results, "like a dict, results are true if there are events"
        assert spark.sparkContext.statusTracker().getJobIdsForGroup("described") == []
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert "person string, away bigint" in page
    assert ".collect()" in page
    assert text == "<SparkResults back, never: not computed yet>"


def test_polars_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="not installed: pip install polars"):
        PROGRAM.run_local(ROWS).to_polars()


def test_html_shows_probabilities_only_where_there_is_uncertainty() -> None:
    certain = PROGRAM.run_local(ROWS)._repr_html_()
    assert "probability" not in certain
    assert "no results: never" in certain
    assert "1 rejected row: <code>.rejects</code>" in certain
    uncertain = UNCERTAIN.run_local([{"person": "ada", "room": "lab", "t": 1, "p": 0.25}])._repr_html_()
    assert "<th>probability</th>" in uncertain
    assert 'transparent 25.0%)">0.25</td>' in uncertain


def test_html_escapes_values_and_cuts_long_ones() -> None:
    rows = [
        {"id": "<script>", "person": "x" * 500, "room": "lab", "t": 1},
        {"id": "b", "person": "x" * 500, "room": "lab", "t": 2},
    ]
    page = PROGRAM.run_local(rows)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;, b" in page
    assert "x" * (SHOWN_CHARACTERS - 1) + "…" in page
    assert "x" * SHOWN_CHARACTERS not in page


def test_html_has_a_bounded_number_of_rows_and_tables() -> None:
    stream = "STREAM A(id BIGINT, t BIGINT) ID id TIME t;"
    program = inkling.parse(stream + "".join(f"EVENT e{n} AS PATTERN A a;" for n in range(SHOWN_EVENTS + 3)))
    page = program.run_local([{"id": n, "t": n} for n in range(1, 1001)])._repr_html_()
    assert page.count("<table>") == SHOWN_EVENTS
    assert page.count("<tr>") == SHOWN_EVENTS * (SHOWN_ROWS + 1)
    assert page.count("990 more rows") == SHOWN_EVENTS
    assert "and results of e20, e21, e22" in page


def test_late_rows_and_withdrawn_results_are_shown() -> None:
    program = inkling.parse("""
        STREAM A(id STRING, t BIGINT) ID id TIME t LATENESS 1 TICKS SPECULATIVE OP op FOR 10 TICKS;
        EVENT e AS PATTERN A a;
    """)
    stream = program.open()
    stream.push([{"id": "a", "t": 1, "op": "+"}])
    page = stream.push([{"id": "a", "op": "-"}, {"id": "b", "t": 90, "op": "+"}])._repr_html_()
    assert "<th>op</th>" in page
    assert "<td>-</td>" in page
    late = stream.push([{"id": "c", "t": 2, "op": "+"}])
    assert "1 late row: <code>.late</code>" in late._repr_html_()
