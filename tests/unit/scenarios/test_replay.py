"""Rows of files come once more: when they are due, in their order, as they were."""

from __future__ import annotations

import bz2
import gzip
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from inkling.cli.app import app
from inkling.errors import InputError
from inkling.scenarios.recording import Recording
from inkling.scenarios.replay import PATIENCE, Piece, pieces, replay


@dataclass
class Told:
    """Time that passes only while somebody sleeps."""

    at: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


def test_rows_are_due_after_their_gaps_divided_by_the_speed() -> None:
    times = np.array([5.0, 65.0, 66.0, 125.0, 305.0])
    assert list(pieces(times, speed=60, every=0)) == [
        Piece(0, 1, 0.0),
        Piece(1, 2, 1.0),
        Piece(2, 3, 61 / 60),
        Piece(3, 4, 2.0),
        Piece(4, 5, 5.0),
    ]
    assert list(pieces(times, speed=60, every=1)) == [Piece(0, 2, 1.0), Piece(2, 4, 2.0), Piece(4, 5, 5.0)]


def test_rows_out_of_order_or_without_a_time_do_not_wait() -> None:
    times = np.array([np.nan, 10.0, 4.0, np.nan, 20.0, 10.5])
    assert list(pieces(times, speed=1, every=0)) == [Piece(0, 4, 0.0), Piece(4, 6, 10.0)]
    assert list(pieces(np.full(3, np.nan), speed=1, every=1)) == [Piece(0, 3, 0.0)]
    assert list(pieces(np.empty(0), speed=1, every=1)) == []


def test_random_times_are_cut_into_all_their_rows() -> None:
    random = np.random.default_rng(43)
    for _ in range(100):
        times = random.exponential(5, 200).cumsum() + random.normal(0, 3, 200)
        every, speed, most = random.random() * 3, random.choice([0.5, 2, 60]), int(random.integers(1, 50))
        cut = list(pieces(times, speed=speed, every=every, most_rows=most))
        assert [piece.first for piece in cut] == [0, *(piece.stop for piece in cut[:-1])]
        assert cut[-1].stop == 200
        due = (np.maximum.accumulate(times) - times[0]) / speed
        for piece in cut:
            assert piece.stop - piece.first <= most
            assert (due[piece.first : piece.stop] <= piece.due).all()
            assert piece.due - due[piece.first] <= every + 1e-9


def test_as_fast_as_possible_is_at_once_in_files_of_some_size() -> None:
    assert list(pieces(np.arange(5.0), speed=0, every=1, most_rows=2)) == [
        Piece(0, 2, 0.0),
        Piece(2, 4, 0.0),
        Piece(4, 5, 0.0),
    ]
    with pytest.raises(ValueError, match="speed and every are at least 0, got speed=-1"):
        list(pieces(np.arange(5.0), speed=-1, every=1))


CSV = 'id,t,text\n1,2026-03-02T10:00:00Z,"a\nb"\n2,2026-03-02T10:01:00Z,plain\n3,noon,x\n4,2026-03-02T10:05:00Z\n'


def test_csv_appears_when_it_is_due(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(CSV)
    clock, out = Told(), tmp_path / "out"
    seen: list[tuple[int, float, list[str]]] = []

    def progress(done: int, total: int) -> None:
        assert total == 4
        seen.append((done, clock.at - 1000.0, sorted(one.name for one in out.iterdir())))

    recording = Recording.of([tmp_path / "in.csv"], "t")
    assert replay(recording, out, speed=60, every=0.5, clock=clock, progress=progress) == 4
    assert seen == [
        (1, 0.0, ["00000001.csv"]),
        (3, 1.0, ["00000001.csv", "00000002.csv"]),
        (4, 5.0, ["00000001.csv", "00000002.csv", "00000003.csv"]),
    ]
    assert max(clock.slept) <= PATIENCE
    header, *_ = CSV.splitlines()
    texts = [(out / f"0000000{n}.csv").read_text() for n in (1, 2, 3)]
    assert [text.splitlines()[0] for text in texts] == [header] * 3
    assert header + "\n" + "".join(text.removeprefix(header + "\n") for text in texts) == CSV
    times = [one.stat().st_mtime for one in sorted(out.iterdir())]
    assert times == sorted(set(times))


@pytest.mark.parametrize("name", ["in.tsv.bz2", "in.csv.bz2?sep=tab&header=no&columns=id,t"])
def test_tabs_and_compression(name: str, tmp_path: Path) -> None:
    rows = "1\t10\n2\t11\n"
    path = tmp_path / name.partition("?")[0]
    path.write_bytes(bz2.compress((rows if "?" in name else f"id\tt\n{rows}").encode()))
    recording = Recording.of([tmp_path / name], "t")
    replay(recording, tmp_path / "out", speed=2, every=1, clock=Told())
    assert (tmp_path / "out" / "00000001.csv").read_text() == "id,t\n1,10\n2,11\n"


def test_json_lines_and_a_second_replay_behind_the_first(tmp_path: Path) -> None:
    lines = ['{"id": 1, "t": 10}', "not json", '{"t": "11", "id": 2}', '{"id": 3, "t": 30}']
    with gzip.open(tmp_path / "in.jsonl.gz", "wt") as file:
        file.write("\n".join(lines))
    recording = Recording.of([tmp_path / "in.jsonl.gz"], "t")
    for _ in range(2):
        clock = Told()
        replay(recording, tmp_path / "out", speed=2, every=1, clock=clock)
        assert clock.at == pytest.approx(1010.0)
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == [f"0000000{n}.jsonl" for n in (1, 2, 3, 4)]
    assert [file.read_text().splitlines() for file in files] == [lines[:3], lines[3:]] * 2


def test_parquet_of_several_files(tmp_path: Path) -> None:
    whole = pa.table({"t": pa.array([0, 1, 2, 3, 4, 5], pa.int32()), "x": [0.5, None, 1.5, 2.0, 2.5, 3.0]})
    pq.write_table(whole.slice(0, 3), tmp_path / "1.parquet")
    pq.write_table(whole.slice(3), tmp_path / "2.parquet")
    recording = Recording.of([tmp_path / "1.parquet", tmp_path / "2.parquet"], "t")
    replay(recording, tmp_path / "out", speed=1, every=1, clock=Told())
    parts = [pq.read_table(file) for file in sorted((tmp_path / "out").iterdir())]
    assert [part.num_rows for part in parts] == [2, 2, 2]
    assert pa.concat_tables(parts).equals(whole)


def test_timestamps_keep_their_microseconds(tmp_path: Path) -> None:
    start = 1_772_445_600_000_000
    times = pa.array([start, start + 3, start + 1_000_003], pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"t": times}), tmp_path / "in.parquet")
    assert Recording.of([tmp_path / "in.parquet"], "t").seconds.tolist() == [0, 3e-6, 1.000003]


def test_a_wish_to_stop_is_heard_between_rows(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("t\n0\n10\n20\n")
    clock = Told()
    recording = Recording.of([tmp_path / "in.csv"], "t")
    n_sent = replay(recording, tmp_path / "out", speed=1, every=1, clock=clock, stopped=lambda: clock.at > 1012)
    assert n_sent == 2
    assert 1012 < clock.at <= 1012 + PATIENCE
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["00000001.csv", "00000002.csv"]


def test_nothing_is_left_of_a_piece_that_could_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in.csv").write_text("t\n0\n")
    recording = Recording.of([tmp_path / "in.csv"], "t")

    def fail(_self: Recording, _first: int, _stop: int, path: Path) -> None:
        path.write_text("half")
        raise OSError("no space left")

    monkeypatch.setattr(Recording, "write", fail)
    with pytest.raises(OSError, match="no space"):
        replay(recording, tmp_path / "out", clock=Told())
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("files", "time", "message"),
    [
        ({"a.csv": "id,when\n1,2\n"}, "whem", "the rows have no column `whem`"),
        ({"a.csv": "t\n1\n", "b.jsonl": '{"t": 1}\n'}, "t", "the files mix formats: CSV and JSON lines"),
        ({"a.csv": "t\n1\n", "b.csv": "u\n1\n"}, "t", "has another header than the file before it"),
        ({"a.csv": ""}, "t", "has no header"),
        ({"a.parquet": "t"}, "t", "the Parquet files cannot be read"),
    ],
)
def test_files_that_cannot_be_replayed(tmp_path: Path, files: dict[str, str], time: str, message: str) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        Recording.of([tmp_path / name for name in files], time)


def test_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("t,x\n0,a\n1,b\n2,c\n")
    out = tmp_path / "out"
    said = CliRunner().invoke(app, ["replay", f"{tmp_path}/in.csv", "--to", str(out), "--time", "t", "--speed", "0"])
    assert said.exit_code == 0, said.output
    assert said.stderr.endswith("3 rows sent\n")
    assert (out / "00000001.csv").read_text() == "t,x\n0,a\n1,b\n2,c\n"
    rejected = CliRunner().invoke(app, ["replay", f"{tmp_path}/in.csv", "--to", "table://topic", "--time", "t"])
    assert rejected.exit_code == 2
    assert "--to must be a folder" in rejected.stderr


def test_rows_as_messages(tmp_path: Path) -> None:
    csv = tmp_path / "in.csv"
    csv.write_text('t,bus,speed\n1,007,1.50\n2,,"fast, ""ß"""\n')
    recording = Recording.of([csv], "t")
    assert [*recording.messages(0, 2, "bus")] == [
        ("007", '{"t": 1, "bus": "007", "speed": 1.50}'),
        (None, '{"t": 2, "bus": null, "speed": "fast, \\"ß\\""}'),
    ]
    lines = tmp_path / "in.jsonl"
    lines.write_text('{"t": 1, "x": [1]}\n{"t": 2}\n')
    assert [*Recording.of([lines], "t").messages(1, 2)] == [(None, '{"t": 2}')]
    stored = tmp_path / "in.parquet"
    at = datetime(2026, 3, 1, 12, 0, 0, 5, UTC)
    pq.write_table(pa.table({"t": [at], "x": [Decimal("1.50")]}), stored)
    assert [*Recording.of([stored], "t").messages(0, 1, "x")] == [
        ("1.50", '{"t": "2026-03-01T12:00:00.000005+00:00", "x": "1.50"}')
    ]


def test_a_key_that_is_no_column(tmp_path: Path) -> None:
    csv = tmp_path / "in.csv"
    csv.write_text("t,bus\n1,a\n")
    with pytest.raises(InputError, match="write `\\?key=bus`"):
        Recording.of([csv], "t").messages(0, 1, "buss")


EX, XSD = "http://ex.org/", "http://www.w3.org/2001/XMLSchema#"
GENERATED = "http://www.w3.org/ns/prov#generatedAtTime"


def observation(graph: str, statements: str, minute: int) -> str:
    time = f'"2026-03-02T10:{minute:02}:00Z"^^<{XSD}dateTime>'
    lines = [f"{line} <{EX}{graph}> ." for line in statements.splitlines()]
    return "\n".join([*lines, f"<{EX}{graph}> <{GENERATED}> {time} .\n"])


def test_graphs_stay_whole_and_keep_their_times(tmp_path: Path) -> None:
    """One graph is one observation: it is sent at its time, with a line that is no statement behind the one before."""
    first = observation("r1", f'_:x <{EX}p> <{EX}o>\n_:x <{EX}q> "1"', 0)
    second = observation("r2", f"<{EX}s> <{EX}p> <{EX}o>", 10)
    file = tmp_path / "readings.nq"
    file.write_text(f"# readings\n{first}nonsense\n\n{second}")
    recording = Recording.of([file], "t")
    clock = Told()
    assert replay(recording, tmp_path / "out", speed=60, every=0, clock=clock) == 2
    assert sum(clock.slept) == pytest.approx(10)
    sent = [one.read_text() for one in sorted((tmp_path / "out").iterdir())]
    assert sent == [f"{first}nonsense\n", second]
    assert list(recording.messages(0, 2, "g")) == [(f"<{EX}r1>", f"{first}nonsense\n"), (f"<{EX}r2>", second)]


def test_graphs_of_trig_are_sent_as_n_quads(tmp_path: Path) -> None:
    file = tmp_path / "readings.trig"
    file.write_text(
        f"@prefix : <{EX}> . @prefix prov: <http://www.w3.org/ns/prov#> . @prefix xsd: <{XSD}> .\n"
        ':r1 prov:generatedAtTime "2026-03-02T10:00:00Z"^^xsd:dateTime . :r1 { :s :p :o }'
    )
    assert replay(Recording.of([file], "t"), tmp_path / "out", speed=0) == 1
    (sent,) = (tmp_path / "out").iterdir()
    assert sent.name == "00000001.nq"
    wanted = observation("r1", f"<{EX}s> <{EX}p> <{EX}o>", 0)
    assert sorted(sent.read_text().splitlines()) == sorted(wanted.splitlines())


def test_blank_nodes_of_two_files_stay_different(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.nq").write_text(observation(f"r{number}", f"_:x <{EX}p> <{EX}o>", number))
    recording = Recording.of([tmp_path / "1.nq", tmp_path / "2.nq"], "t")
    subjects = {text.split()[0] for _, text in recording.messages(0, 2)}
    assert len(subjects) == 2


def test_triples_without_graphs_cannot_be_replayed(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text("")
    with pytest.raises(InputError, match="no graph"):
        Recording.of([tmp_path / "a.nq"], "t")
    (tmp_path / "a.nt").write_text(f"<{EX}s> <{EX}p> <{EX}o> .\n")
    with pytest.raises(InputError, match="cannot be replayed"):
        Recording.of([tmp_path / "a.nt"], "t")
