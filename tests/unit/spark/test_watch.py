"""A watched program: when its files change, and when that counts."""

from __future__ import annotations

from pathlib import Path

import inkling
from inkling.errors import InklingError
from inkling.query import Program
from inkling.runtime.replacement import Changes
from inkling.spark.streaming.checkpoint.versions import Replaceable
from inkling.spark.streaming.watch import Watcher, files_of

TEXT = """STREAM Car(id INT, road STRING) ID id TIME t;
TABLE bad(road STRING) FROM 'bad.csv';
EVENT seen AS PATTERN Car a[bad(road)] WITHIN 5 TICKS;
"""


class Taken:
    """Stands for a query: notes what it is given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def replace(self, program: Replaceable) -> Changes:
        self.texts.append(program.text)
        return Changes(kept=("seen",), tables=("bad",))


class Bench:
    def __init__(self, folder: Path) -> None:
        self.path, self.table = folder / "cars.ink", folder / "bad.csv"
        self.path.write_text(TEXT)
        self.table.write_text("road\nA1\n")
        self.taken, self.told = Taken(), list[Changes | Exception]()
        loaded: Program = inkling.load(self.path)
        self.watcher = Watcher(
            self.taken,
            lambda: inkling.load(self.path),
            lambda program: files_of(self.path, program, {}),
            self.told.append,
            self.told.append,
            loaded,
        )

    def look_twice(self) -> None:
        self.watcher.look()
        self.watcher.look()


def test_nothing_happens_without_a_change(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.look_twice()
    assert not bench.taken.texts


def test_a_change_counts_once_it_is_at_rest(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.path.write_text(TEXT + "-- more\n")
    bench.watcher.look()
    assert not bench.taken.texts
    bench.look_twice()
    assert bench.taken.texts == [TEXT + "-- more\n"]
    assert [str(said) for said in bench.told] == ["kept: seen; re-read: bad"]


def test_tables_are_watched_too(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.table.write_text("road\nA1\nB2\n")
    bench.look_twice()
    assert bench.taken.texts == [TEXT]


def test_a_program_with_errors_is_rejected_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.path.write_text("STREAM Car(")
    bench.look_twice()
    bench.look_twice()
    assert not bench.taken.texts
    assert [isinstance(said, InklingError) for said in bench.told] == [True]


def test_a_file_that_is_being_replaced_is_waited_for(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.path.rename(tmp_path / "old.ink")
    bench.look_twice()
    assert not bench.told
    bench.path.write_text(TEXT.replace("5 TICKS", "6 TICKS"))
    bench.look_twice()
    assert len(bench.taken.texts) == 1
