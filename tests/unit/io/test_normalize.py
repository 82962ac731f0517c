"""Rows that keep the declaration of their stream are typed, the others set aside with a reason."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from inkling.errors import InputError
from inkling.io import Normalized, normalize, read_table
from inkling.io.duplicates import without_duplicates
from inkling.io.normalize import Normalizer, stored_columns
from inkling.model.schema import Column, StreamSchema
from inkling.model.time import Clock, Duration
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue, Uncertainty

POINTS = StreamSchema(
    "Trip",
    (Column("id", Type.STRING), Column("bus", Type.STRING), Column("speed", Type.DOUBLE), Column("t", Type.TIME)),
    id="id",
    key=("bus",),
    start="t",
    end="t",
)
INTERVALS = StreamSchema(
    "Shift",
    (Column("worker", Type.INTEGER), Column("a", Type.TIME), Column("z", Type.TIME), Column("seq", Type.INTEGER)),
    id=None,
    key=("worker",),
    start="a",
    end="z",
    order_by="seq",
)


def read(rows: list[dict[str, object]], schema: StreamSchema = POINTS) -> Normalized:
    return normalize(read_table(rows, what=schema.name), schema)


def reasons(found: Normalized) -> list[tuple[str, str]]:
    return [(row["reason"], row["detail"]) for row in found.rejects.to_pylist()]


def test_good_rows_have_declared_types_and_times() -> None:
    found = read([{"id": 1, "bus": "a", "speed": 3, "t": "1970-01-01T00:00:01Z", "extra": 0}])
    assert found.rows.to_pylist() == [
        {
            "id": "1",
            "bus": "a",
            "speed": 3.0,
            "t": 1_000_000,
            "@start": 1_000_000,
            "@end": 1_000_000,
            "@place": None,
            "@id": "1",
        }
    ]
    assert (found.clock, found.n_read, found.rejects.num_rows) == (Clock.TIMESTAMP, 1, 0)


def test_each_fault_has_its_reason() -> None:
    good = {"id": "1", "bus": "a", "speed": "1.5", "t": "7"}
    faults = [{"id": None}, {"bus": None}, {"t": None}, {"t": "soon"}, {"speed": "fast"}, {"t": "x", "bus": None}]
    found = read([good, *({**good, **fault} for fault in faults)])
    assert found.clock is Clock.TICKS
    assert found.rows.num_rows == 1
    assert reasons(found) == [
        ("null id", "`id` is missing"),
        ("null key", "`bus` is missing"),
        ("null time", "`t` is missing"),
        ("bad time", "`t` is 'soon', expected an integer"),
        ("bad value", "`speed` is 'fast', expected DOUBLE"),
        ("bad time", "`t` is 'x', expected an integer"),
    ]


def test_missing_values_and_not_a_number_are_no_faults() -> None:
    nan = float("nan")
    found = read([{"id": "1", "bus": "a", "speed": nan, "t": 1}, {"id": "2", "bus": "a", "speed": None, "t": 2}])
    assert found.rows["speed"].to_pylist() == [None, None]
    assert found.rejects.num_rows == 0


def test_intervals_end_after_they_start_and_have_a_place() -> None:
    rows = [
        {"worker": 1, "a": 1, "z": 1, "seq": 5},
        {"worker": 1, "a": 3, "z": 2, "seq": 5},
        {"worker": 1, "a": 3, "z": 4, "seq": None},
    ]
    found = read(rows, INTERVALS)
    assert found.rows.select(["@start", "@end", "@place", "@id"]).to_pylist() == [
        {"@start": 1, "@end": 1, "@place": 5, "@id": 1}
    ]
    assert reasons(found) == [
        ("ends before it starts", "`a` is 3, after `z`, which is 2"),
        ("null order", "`seq` is missing"),
    ]
    assert found.rejects["id"].to_pylist() == ["2", "3"]


def test_rejects_carry_the_row_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,bus,speed,t\n1,"a ""b""",fast,5\n2,c\n3,é,1,6\n')
    found = normalize(read_table(tmp_path / "a.csv", what="Trip"), POINTS)
    assert found.rejects.select(["stream", "reason", "row", "id"]).to_pylist() == [
        {
            "stream": "Trip",
            "reason": "bad value",
            "row": json.dumps({"id": "1", "bus": 'a "b"', "speed": "fast", "t": "5"}),
            "id": "1",
        },
        {"stream": "Trip", "reason": "malformed", "row": '"2,c"', "id": None},
    ]
    assert found.rows["id"].to_pylist() == ["3"]
    assert found.n_read == 3


def test_malformed_records_count_as_records(tmp_path: Path) -> None:
    unnamed = replace(POINTS, id=None)
    (tmp_path / "a.jsonl").write_text(
        '{"id":1,"bus":"a","t":1,"speed":1}\n{"id":\n{"id":2,"bus":"a","t":1,"speed":1}\n'
    )
    found = normalize(read_table(tmp_path / "a.jsonl", what="Trip"), unnamed)
    assert found.rows["@id"].to_pylist() == [1, 3]
    assert found.rejects.select(["id", "row"]).to_pylist() == [{"id": "2", "row": json.dumps('{"id":')}]


def test_a_tick_makes_times_integers() -> None:
    ticking = replace(POINTS, tick=Duration(Fraction(1), "SECONDS"))
    stamped = [{"id": "1", "bus": "a", "speed": 1, "t": "2024-01-01"}]
    assert reasons(read(stamped, ticking)) == [("bad time", "`t` is '2024-01-01', expected an integer")]
    dated = pa.table({"id": ["1"], "bus": ["a"], "speed": [1.0], "t": pa.array([1], pa.date32())})
    with pytest.raises(InputError, match="INK0511"):
        normalize(dated, ticking)


def test_missing_and_doubled_columns_are_errors() -> None:
    with pytest.raises(InputError, match="INK0504") as caught:
        read([{"id": "1", "bus": "a", "sped": 1.0, "t": 1}])
    assert "`sped`" in str(caught.value)
    doubled = pa.table([["1"], ["a"], [1.0], [1], [2]], names=["id", "bus", "speed", "t", "t"])
    with pytest.raises(InputError, match="INK0510"):
        normalize(doubled, POINTS)
    with pytest.raises(InputError, match="INK0511"):
        read([{"id": "1", "bus": "a", "speed": [1.0], "t": 1}])


def test_derived_columns_are_not_expected() -> None:
    assert normalize(read_table([{"id": "1", "bus": "a", "t": 1}], what="Trip"), POINTS, ["speed"]).rows.num_rows == 1


def test_of_rows_with_one_id_the_least_stays_whatever_their_order() -> None:
    rows = [
        {"id": "1", "bus": "a", "speed": 2.0, "t": 1},
        {"id": "1", "bus": "a", "speed": 1.0, "t": 1},
        {"id": "1", "bus": "a", "speed": 3.0, "t": 2},
        {"id": "1", "bus": "b", "speed": 4.0, "t": 1},
        {"id": "1", "bus": "a", "speed": None, "t": 1},
    ]
    for order in (rows, rows[::-1]):
        kept, rejects = without_duplicates(POINTS, read(order).rows)
        assert sorted(kept["speed"].to_pylist()) == [1.0, 3.0, 4.0]
        assert rejects["reason"].to_pylist() == ["duplicate id"] * 2
        assert rejects["id"].to_pylist() == ["1", "1"]


def declared(uncertainty: Uncertainty, *columns: Column) -> StreamSchema:
    start, end = (uncertainty.lo, uncertainty.hi) if isinstance(uncertainty, ImpreciseTime) else ("t", "t")
    return StreamSchema(
        "Seen", (Column("who", Type.STRING), *columns), None, ("who",), start, end, uncertainty=uncertainty
    )


ROOM, FLOOR = Column("room", Type.STRING), Column("floor", Type.INTEGER)


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        (declared(ImpreciseTime("lo", "hi", "w")), {"w": Type.WEIGHTS}),
        (declared(ProbableValue("p"), ROOM), {"p": Type.DOUBLE}),
        (declared(ProbableValue("p"), Column("p", Type.INTEGER)), {"p": Type.INTEGER}),
        (
            declared(ProbableValue("p", ("a", "b")), ROOM, FLOOR),
            {"p": Type.DOUBLE, "a": Type.STRING, "b": Type.INTEGER},
        ),
        (
            declared(LostEvents("n", "role", "total", ("lo", "hi"))),
            {"n": Type.INTEGER, "role": Type.STRING, "total": Type.INTEGER, "lo": Type.TIME, "hi": Type.TIME},
        ),
    ],
    ids=["when", "what", "declared", "given", "whether"],
)
def test_columns_that_tell_of_uncertainty_are_read(schema: StreamSchema, told: dict[str, Type]) -> None:
    found = {column.name: column.type for column in stored_columns(schema)}
    assert {name: found[name] for name in told} == told
    assert set(found) == {*(column.name for column in schema.columns), schema.start, schema.end, *told}


def test_what_follows_what_may_be_missing() -> None:
    rows = [{"who": "a", "t": 1, "room": "x", "p": "0.5", "before": None}, {"who": "a", "t": 2, "p": 1, "before": "x"}]
    found = read(rows, declared(ProbableValue("p", ("before",)), ROOM))
    assert not len(found.rejects)
    assert found.rows.select(["room", "p", "before"]).to_pylist() == [
        {"room": "x", "p": 0.5, "before": None},
        {"room": None, "p": 1.0, "before": "x"},
    ]


def test_bounds_are_times_like_those_of_the_stream() -> None:
    schema = declared(LostEvents("n", bounds=("lo", "hi")))
    found = read([{"who": "a", "t": "1970-01-01T00:00:02Z", "n": 1, "lo": "1970-01-01T00:00:01Z", "hi": None}], schema)
    assert found.rows.select(["lo", "hi"]).to_pylist() == [{"lo": 1_000_000, "hi": None}]
    found = read([{"who": "a", "t": 2, "n": 1, "lo": "soon", "hi": 9}], schema)
    assert reasons(found) == [("bad value", "`lo` is 'soon', expected an integer")]


def test_weights_are_read_from_lists_and_texts(tmp_path: Path) -> None:
    schema = declared(ImpreciseTime("lo", "hi", "w"))
    (tmp_path / "a.csv").write_text('who,lo,hi,w\na,1,2,0.5 0.5\na,1,2,"[1, 2]"\na,1,2,\na,2,1,1\na,1,2,some\n')
    (tmp_path / "a.jsonl").write_text(
        '{"who":"a","lo":1,"hi":2,"w":[0.5,0.5]}\n{"who":"a","lo":1,"hi":2,"w":[1,2]}\n'
        '{"who":"a","lo":1,"hi":2}\n{"who":"a","lo":2,"hi":1,"w":1}\n{"who":"a","lo":1,"hi":2,"w":["some"]}\n'
    )
    for name in ("a.csv", "a.jsonl"):
        found = normalize(read_table(tmp_path / name, what="Seen"), schema)
        assert found.rows["w"].to_pylist() == [[0.5, 0.5], [1.0, 2.0], None]
        assert found.rejects["reason"].to_pylist() == ["ends before it starts", "bad value"]
    listed = read([{"who": "a", "lo": 1, "hi": 2, "w": [1, 2]}, {"who": "a", "lo": 1, "hi": 1}], schema)
    assert listed.rows["w"].to_pylist() == [[1.0, 2.0], None]
    with pytest.raises(InputError, match="a list of numbers"):
        read([{"who": "a", "lo": 1, "hi": 2, "w": 0.5}], schema)


def test_weights_batch_after_batch() -> None:
    schema = declared(ImpreciseTime("lo", "hi", "w"))
    batch = pa.table({"who": ["a"], "lo": [1], "hi": [2], "w": pa.array([[1.0, 2.0]])})
    found = Normalizer(schema, (), Clock.TICKS)(batch)
    assert found.rows.equals(normalize(batch, schema).rows)


def test_of_events_that_differ_in_weights_one_stays_whatever_the_order() -> None:
    schema = replace(declared(ImpreciseTime("lo", "hi", "w"), Column("id", Type.STRING)), id="id")
    rows = [{"id": "x", "who": "a", "lo": 1, "hi": 2, "w": weights} for weights in ([1.0, 2.0], [1.0, 1.0], None)]
    kept = [without_duplicates(schema, read(order, schema).rows) for order in (rows, rows[::-1])]
    assert [good["w"].to_pylist() for good, _ in kept] == [[[1.0, 1.0]], [[1.0, 1.0]]]
    assert [rejects["reason"].to_pylist() for _, rejects in kept] == [["duplicate id"] * 2] * 2


def test_terms_are_read_in_canonical_form_and_others_rejected_with_the_reason() -> None:
    schema = StreamSchema("triple", (Column("o", Type.TERM), Column("t", Type.INTEGER)), None, (), "t", "t")
    texts = ["<http://ex.org/a>", "'x'@EN", "07", "http://ex.org/a", None, "<a>", '"1"^^<http://ex.org/t>']
    found = normalize(pa.table({"o": texts, "t": range(len(texts))}), schema)
    assert found.rows["o"].to_pylist() == [
        "<http://ex.org/a>",
        '"x"@en',
        '"7"^^<http://www.w3.org/2001/XMLSchema#integer>',
        None,
        '"1"^^<http://ex.org/t>',
    ]
    assert found.rejects["detail"].to_pylist() == [
        "`o` is 'http://ex.org/a', expected an RDF term: an IRI stands between `<` and `>`",
        "`o` is '<a>', expected an RDF term: an IRI is absolute, such as `<http://example.org/x>`",
    ]


def test_numbers_are_no_terms() -> None:
    schema = StreamSchema("triple", (Column("o", Type.TERM), Column("t", Type.INTEGER)), None, (), "t", "t")
    with pytest.raises(InputError, match="`o` of the input for `triple` has the type int64, expected an RDF term"):
        normalize(pa.table({"o": [1], "t": [1]}), schema)
