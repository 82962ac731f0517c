"""Readings as people have them: files, frames, timestamps, values, several readers and several keys."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from inkling import infer
from inkling.infer.model import Model

MOVEMENT = [{"previous": a, "state": b, "p": 0.9 if a == b else 0.1} for a in "xy" for b in "xy"]
READERS = [{"reader": "r", "state": "y", "p": 0.5}, {"reader": "q", "state": "x", "p": 0.25}]
MODEL = Model.of(MOVEMENT, READERS)


def believed(rows: pa.Table, state: str = "y") -> dict[object, float]:
    return {row["t"]: round(row["p"], 6) for row in rows.to_pylist() if row["state"] == state}


def test_steps_without_rows_are_steps_without_readings() -> None:
    rows = [{"key": "k", "t": 1, "reader": "r"}, {"key": "k", "t": 3, "reader": "r"}]
    found = believed(infer.filtered(rows, MODEL))
    # unread: x has 3/4 for q's silence, y has 1/2 for r's; y after y is 9/10
    assert found == {1: 1.0, 2: round(0.9 * 0.5 / (0.9 * 0.5 + 0.1 * 0.75), 6), 3: 1.0}


def test_readings_of_one_step_count_together_and_once() -> None:
    movement = [{"previous": a, "state": b, "p": 0.5} for a in "xy" for b in "xy"]
    both = [
        {"reader": r, "state": s, "p": p}
        for r, s, p in (("r", "y", 0.5), ("r", "x", 0.2), ("q", "x", 0.25), ("q", "y", 0.1))
    ]
    rows = [
        {"key": "k", "t": 10, "reader": "r"},
        {"key": "k", "t": 14, "reader": "q"},
        {"key": "k", "t": 12, "reader": "r"},
    ]
    found = believed(infer.filtered(rows, Model.of(movement, both), every=5))
    assert found == {10: round(0.5 * 0.1 / (0.5 * 0.1 + 0.2 * 0.25), 6)}


def test_before_zero_steps_begin_below() -> None:
    rows = [{"key": "k", "t": -1, "reader": "r"}, {"key": "k", "t": 0, "reader": "r"}]
    assert list(believed(infer.filtered(rows, MODEL, every=5))) == [-5, 0]


def test_start_and_stop_are_for_all_keys() -> None:
    rows = [
        {"key": "k", "t": 3, "reader": "r"},
        {"key": "l", "t": 5, "reader": "r"},
        {"key": "l", "t": 9, "reader": "q"},
    ]
    found = infer.filtered(rows, MODEL, start=2, stop=6).to_pandas()
    assert found.groupby("key")["t"].agg(["min", "max"]).to_numpy().tolist() == [[2, 6], [2, 6]]
    unread = believed(infer.filtered([{"key": "k", "t": 2, "reader": None}], MODEL))
    assert unread == {2: round(0.5 / (0.5 + 0.75), 6)}


def test_timestamps_from_files_and_frames_are_the_same(tmp_path: Path) -> None:
    moments = [datetime(2026, 3, 1, 12, 0, second, tzinfo=UTC) for second in (0, 19, 31)]
    frame = pd.DataFrame({"who": ["k"] * 3, "when": moments, "by": ["r", "q", "r"]})
    file = tmp_path / "readings.csv"
    file.write_text("who,when,by\n" + "".join(f"k,{m.isoformat()},{b}\n" for m, b in zip(moments, "rqr", strict=True)))
    options = {"key": "who", "time": "when", "reader": "by", "state": "room"}
    one = infer.smoothed(frame, MODEL, every=timedelta(seconds=10), **options)
    assert one.schema.names == ["who", "when", "previous", "room", "p"]
    assert one["when"].to_pylist()[-1] == datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)
    assert infer.smoothed(file, MODEL, every="10 seconds", **options).equals(one)


def test_readers_may_report_values() -> None:
    strength = [("near", "strong", 0.6), ("near", "weak", 0.3), ("far", "weak", 0.2)]
    readers = [{"reader": "r", "value": v, "state": s, "p": p} for s, v, p in strength]
    movement = [{"previous": a, "state": b, "p": 0.5} for a in ("near", "far") for b in ("near", "far")]
    model = Model.of(movement, readers)
    rows = [
        {"key": "k", "t": t, "reader": r, "value": v}
        for t, r, v in ((1, "r", "weak"), (2, None, None), (3, "r", "strong"))
    ]
    found = believed(infer.filtered(rows, model), "near")
    assert found == {1: 0.6, 2: round(0.1 / 0.9, 6), 3: 1.0}


def test_several_key_columns() -> None:
    rows = [{"a": a, "b": b, "t": 1, "reader": r} for a, b, r in ((1, "u", "r"), (1, "v", "q"), (2, "u", "q"))]
    found = infer.mle(rows, MODEL, key=["a", "b"]).to_pylist()
    assert [(row["a"], row["b"], row["state"]) for row in found] == [(1, "u", "y"), (1, "v", "x"), (2, "u", "x")]


def test_no_readings_give_no_rows() -> None:
    empty = pa.table(
        {"key": pa.array([], pa.string()), "t": pa.array([], pa.int64()), "reader": pa.array([], pa.string())}
    )
    for make in (infer.filtered, infer.smoothed, infer.viterbi, infer.mle, infer.particles):
        found = make(empty, MODEL)
        assert len(found) == 0
        assert found.schema.equals(make([{"key": "k", "t": 1, "reader": "r"}], MODEL).schema)


def test_a_state_may_mean_that_nothing_is_there() -> None:
    moves = [("out", "out", 0.5), ("out", "in", 0.5), ("in", "out", 1.0)]
    model = Model.of(
        [{"previous": a, "state": b, "p": p} for a, b, p in moves],
        [{"reader": "r", "state": "in", "p": 0.5}],
        [{"state": "out", "p": 0.5}, {"state": "in", "p": 0.5}],
        nothing="out",
    )
    rows = [{"key": "k", "t": 1, "reader": None}, {"key": "k", "t": 2, "reader": None}]
    # paths: out out 1/4, out in 1/4 * 1/2, in out 1/2 * 1/2: of 5/8
    assert [(row["t"], round(row["p"], 6)) for row in infer.filtered(rows, model).to_pylist()] == [
        (1, round(1 / 3, 6)),
        (2, 0.2),
    ]
    chain = [
        (row["t"], row["previous"], row["state"], round(row["p"], 6)) for row in infer.smoothed(rows, model).to_pylist()
    ]
    assert chain == [(1, None, "in", 0.4), (2, None, "in", round(1 / 3, 6)), (2, "in", "in", 0.0)]


def test_unknown_options_are_rejected() -> None:
    with pytest.raises(TypeError, match="everi"):
        infer.filtered([], MODEL, everi=3)
