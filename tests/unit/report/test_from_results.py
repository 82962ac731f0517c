"""From the results of a run to report data: counts, selections, keys, and the events behind the ids."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import inkling
from inkling.report import ReportData, build_report, report_data
from inkling.report.data import MatchRow, ReportTable
from inkling.report.from_results import in_stretches

PROGRAM = inkling.parse(
    """
    STREAM Door(id STRING, person STRING, room STRING, t BIGINT) ID id KEY person TIME t;
    STREAM Badge(id STRING, person STRING, t BIGINT) ID id KEY person TIME t;

    EVENT pair(d.person AS who) AS
      PATTERN SEQ(Door d, Badge b[person = d.person]);

    EVENT twice(person) AS
      PATTERN SEQ NEXT(Door x, Door y)
      PARTITION BY person;

    EVENT any_door AS
      PATTERN Door d;
    """,
    name="doors.ink",
)
DOORS = [
    {"id": "d1", "person": "ada", "room": "lab", "t": 1},
    {"id": "d2", "person": "bob", "room": "lab", "t": 2},
    {"id": "7", "person": "ada", "room": None, "t": 5},
    {"id": "d9", "person": None, "room": "lab", "t": 6},
]
BADGES = [{"id": "b1", "person": "ada", "t": 4}, {"id": "7", "person": "ada", "t": 6}]


def report(**changes: object) -> ReportData:
    inputs = {"Door": DOORS, "Badge": BADGES}
    return report_data(PROGRAM, PROGRAM.run_local(inputs), inputs, **changes)  # type: ignore[arg-type]


def of(data: ReportData, event: str) -> list[MatchRow]:
    return [match for match in data.matches if match.event == event]


def test_the_frame_of_a_report() -> None:
    data = report(runner="here", seconds=1.5)
    assert (data.title, data.runner, data.seconds, data.time_kind) == ("doors.ink", "here", 1.5, "ticks")
    assert data.program_text == PROGRAM.text
    assert [title for title, _ in data.plan_sections] == ["logical", "rewritten", "verdicts", "physical"]
    assert [(one.stream, one.rows, one.rejected) for one in data.inputs] == [("Door", 4, 1), ("Badge", 2, 0)]
    assert [(one.stream, one.count) for one in data.rejects] == [("Door", 1)]
    assert '"d9"' in data.rejects[0].sample


def test_counts_are_those_of_all_results_and_matches_a_selection() -> None:
    data = report(max_matches=4)
    assert [(one.event, one.results) for one in data.counts] == [("pair", 3), ("twice", 1), ("any_door", 3)]
    assert sum(one.shown for one in data.counts) == len(data.matches) == 4
    assert {one.event: one.shown for one in data.counts}["twice"] == 1


def test_keys_come_from_the_head() -> None:
    data = report()
    assert {match.key for match in of(data, "pair")} == {"ada"}
    assert {match.key for match in of(data, "twice")} == {"ada"}
    assert {match.key for match in of(data, "any_door")} == {""}


def test_members_are_the_events_behind_the_lineage() -> None:
    (match,) = [match for match in of(report(), "pair") if match.lineage == ("d1", "b1")]
    door, badge = match.members
    assert (door.id, door.stream, door.start, door.end) == ("d1", "Door", 1, 1)
    assert door.values == {"person": "ada", "room": "lab"}
    assert (badge.id, badge.stream, badge.start) == ("b1", "Badge", 4)
    assert (match.values, match.start, match.end, match.detected_at) == ({"who": "ada"}, 1, 4, 4)


def test_an_id_of_two_streams_is_told_apart_by_time_or_not_at_all() -> None:
    by_lineage = {match.lineage: match for match in of(report(), "pair")}
    assert [member.id for member in by_lineage["d1", "7"].members] == ["d1"]
    (only_door,) = [match for match in of(report(), "any_door") if match.lineage == ("7",)]
    assert [(member.stream, member.values) for member in only_door.members] == [
        ("Door", {"person": "ada", "room": None})
    ]


def test_members_are_found_in_parquet_files(tmp_path: Path) -> None:
    paths = {"Door": tmp_path / "Door.parquet", "Badge": tmp_path / "Badge.parquet"}
    for name, rows in (("Door", DOORS), ("Badge", BADGES)):
        pa.parquet.write_table(pa.Table.from_pylist(rows), paths[name])
    data = report_data(PROGRAM, PROGRAM.run_local(paths), paths)
    assert data.matches == report().matches


def test_rows_without_an_id_are_found_by_their_number() -> None:
    program = inkling.parse("STREAM A(x BIGINT, t BIGINT) TIME t; EVENT e AS PATTERN A a[x > 1];")
    rows = {"A": [{"x": 1, "t": 10}, {"x": 5, "t": 11}]}
    (match,) = report_data(program, program.run_local(rows), rows).matches
    assert (match.lineage, match.members[0].values) == ((2,), {"x": 5})


def test_timestamps_become_microseconds() -> None:
    program = inkling.parse("STREAM A(x BIGINT, t TIMESTAMP) TIME t; EVENT e(a.t AS at) AS PATTERN A a;")
    rows = {"A": [{"x": 1, "t": "1970-01-01T00:00:02Z"}]}
    data = report_data(program, program.run_local(rows), rows)
    assert data.time_kind == "timestamp"
    assert (data.matches[0].start, data.matches[0].values) == (2_000_000, {"at": "1970-01-01T00:00:02Z"})


@pytest.mark.parametrize("inputs", [{}, {"Badge": BADGES}])
def test_a_report_does_without_the_inputs(inputs: dict[str, object]) -> None:
    results = PROGRAM.run_local({"Door": DOORS, "Badge": BADGES})
    data = report_data(PROGRAM, results, inputs)
    assert len(data.matches) == 7
    assert build_report(data).startswith("<!doctype html>")


UNCERTAIN = inkling.parse(
    """
    STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t PROBABILITY p;
    STREAM Call(id STRING, who STRING, lo BIGINT, hi BIGINT) ID id KEY who TIME BETWEEN lo AND hi;

    EVENT called(who) AS
      PATTERN SEQ(Seen a[room = 'hall'], Call c)
      PARTITION BY who;
    """
)
UNCERTAIN_INPUTS = {
    "Seen": [
        {"id": "s1", "who": "ada", "room": "hall", "t": 3, "p": 0.5},
        {"id": "s1", "who": "ada", "room": "lab", "t": 3, "p": 0.25},
    ],
    "Call": [{"id": "c1", "who": "ada", "lo": 1, "hi": 4}, {"id": "c2", "who": "ada", "lo": 5, "hi": 6}],
}


def test_results_in_uncertainty_are_looked_at_more_closely() -> None:
    data = report_data(UNCERTAIN, UNCERTAIN.run_local(UNCERTAIN_INPUTS), UNCERTAIN_INPUTS)
    assert data.worlds == "1 part enumerated (24 worlds)"
    assert data.has_uncertainty
    sure, unlikely = sorted(data.matches, key=lambda match: -match.probability)
    assert (sure.probability, unlikely.probability) == pytest.approx((0.5, 0.125))
    assert [(one.low, one.high, one.share) for one in sure.ends] == [(5, 5, 0.5), (6, 6, 0.5)]
    assert {(one.stream, one.id, one.share) for one in sure.influences} == {("Seen", "s1", 1.0), ("Call", "c2", 1.0)}
    room, called = sure.members
    assert room.values["room"] == "hall | lab"
    assert (called.start, called.end) == (5, 6)
    assert [member.id for member in unlikely.members] == ["s1", "c1"]


def test_hidden_events_in_uncertainty_are_not_shown() -> None:
    text = UNCERTAIN.text.replace("PARTITION BY who;", "PARTITION BY who HIDDEN;")
    program = inkling.parse(f"{text} EVENT told(c.who AS who) AS PATTERN called c;")
    data = report_data(program, program.run_local(UNCERTAIN_INPUTS), UNCERTAIN_INPUTS)
    assert {match.event for match in data.matches} == {"told"}
    assert sorted(match.probability for match in data.matches) == pytest.approx([0.125, 0.5])
    assert all(match.influences for match in data.matches)


IMPRECISE = inkling.parse(
    """
    STREAM A(id STRING, lo BIGINT, hi BIGINT) ID id TIME BETWEEN lo AND hi WEIGHTS w;
    STREAM B(id STRING, t BIGINT) ID id TIME t;

    EVENT ab AS PATTERN SEQ(A a, B b);
    EVENT before AS PATTERN B b[t < 5];
    """
)


def test_events_are_drawn_with_the_times_they_may_have() -> None:
    inputs = {
        "A": [{"id": "a1", "lo": 1, "hi": 3, "w": [1, 2, 1]}, {"id": "a2", "lo": 5, "hi": 9, "w": [1] * 5}],
        "B": [{"id": "b1", "t": 3}, {"id": "b2", "t": 4}],
    }
    results = IMPRECISE.run_local(inputs)
    data = report_data(IMPRECISE, results, inputs)
    found = {match.lineage: match for match in data.matches}
    assert {ids: match.probability for ids, match in found.items()} == {
        ("a1", "b1"): 0.75,
        ("a1", "b2"): 1.0,
        ("b1",): 1.0,
        ("b2",): 1.0,
    }
    imprecise, exact = found["a1", "b1"].members
    assert (imprecise.imprecise, imprecise.start, imprecise.end) == (True, 1, 3)
    assert [weight / sum(imprecise.weights) for weight in imprecise.weights] == [0.25, 0.5, 0.25]
    assert "w" not in imprecise.values
    assert (exact.imprecise, exact.weights) == (False, ())
    assert {count.event: (count.results, count.certain) for count in data.counts} == {"ab": (2, 1), "before": (2, 2)}


def test_many_weights_become_few_shades() -> None:
    shades = in_stretches([1.0] * 100 + [3.0] * 50)
    assert len(shades) <= 60
    assert shades[0] * 3 == shades[-1], "the last stretch is shorter, not fainter"


def test_certain_results_are_not_looked_at_again() -> None:
    data = report()
    assert data.worlds is None
    assert not data.has_uncertainty
    assert all(match.starts == () and match.influences == () for match in data.matches)


def test_tables_of_ones_own_are_carried() -> None:
    table = ReportTable("Compared", ("event", "n"), (("pair", 3), ("twice", None)), "what else was counted")
    assert report(extra=(table,)).tables == (table,)
    with pytest.raises(ValueError, match="do not fit"):
        ReportTable("Compared", ("event",), (("pair", 3),))


def test_forecasts_are_summed_up_and_not_listed() -> None:
    program = inkling.parse(
        """
        STREAM V(k STRING, s STRING, t BIGINT) KEY k TIME t ORDER BY t;
        EVENT ab AS PATTERN SEQ STRICT(V[s = 'a'], V[s = 'b']) PARTITION BY k PER END;
        FORECAST soon OF ab WITHIN 2 EVENTS;
        """
    )
    inputs = {"V": [{"k": "k", "s": letter, "t": t} for t, letter in enumerate("abcababcca")]}
    results = program.run_local(inputs, program.fit(inputs, settings=inkling.FitSettings(order=1)))
    data = report_data(program, results, inputs)
    chances = results.tables["soon"]["chance"].to_pylist()
    assert {match.event for match in data.matches} == {"ab"}
    assert [(one.event, one.results, one.shown) for one in data.counts] == [("ab", 3, 3), ("soon", len(chances), 0)]
    (table,) = data.tables
    ((name, of, made, least, mean, most, versions),) = table.rows
    assert (name, of, made, versions) == ("soon", "ab", len(chances), "1")
    assert (least, mean, most) == pytest.approx((min(chances), sum(chances) / len(chances), max(chances)), abs=1e-4)


def test_values_that_are_missing_are_left_out() -> None:
    program = inkling.parse("STREAM V(s STRING, t BIGINT) TIME t; EVENT any_v(v.s AS said) AS PATTERN V v;")
    inputs = {"V": [{"s": "x", "t": 1}, {"s": None, "t": 2}]}
    data = report_data(program, program.run_local(inputs), inputs)
    assert [dict(match.values) for match in data.matches] == [{"said": "x"}, {}]


def test_withdrawn_results_are_shown_and_do_not_count() -> None:
    found = PROGRAM.run_local({"Door": DOORS, "Badge": BADGES})
    doors = found.tables["any_door"]
    gone = doors.slice(1, 1).set_column(doors.column_names.index("op"), "op", pa.array(["-"]))
    # told, taken back, told again, taken back again
    changes = pa.concat_tables([doors, gone, doors.slice(1, 1), gone])
    data = report_data(PROGRAM, replace(found, tables={**found.tables, "any_door": changes}), {})
    assert [(one.event, one.results, one.withdrawn, one.shown) for one in data.counts] == [
        ("pair", 3, 0, 3),
        ("twice", 1, 0, 1),
        ("any_door", 2, 2, 4),
    ]
    assert sorted((match.op, match.lineage) for match in of(data, "any_door")) == [
        ("+", ("7",)),
        ("+", ("d1",)),
        ("-", ("d2",)),
        ("-", ("d2",)),
    ]
    page = build_report(data)
    assert "Withdrawn</th>" in page
    assert "Withdrawn</th>" not in build_report(report())
