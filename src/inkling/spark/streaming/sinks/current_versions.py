"""Which files hold the matches of now: a list per micro-batch, of which the newest counts.

A table is a row of pieces, oldest first. Each has the changes of some micro-batches, with one row per result; what a
later piece says of a result counts. Pieces are merged when a newer one is about as large, so a table of n rows has
about log n of them, and a micro-batch costs what it changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from urllib.parse import quote

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from inkling.errors import InputError
from inkling.spark.streaming.checkpoint.storage import Folder

HIDDEN = "_current"
"""Inside the folder of results, under a name that readers of all files pass over."""

KEPT_VERSIONS = 5
FOLDED = 2
"""A piece absorbs older ones that are at most this many times as large."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A folder of Parquet files, by its place among the pieces."""

    folder: str
    rows: int


@dataclass(frozen=True, slots=True)
class Table:
    """The matches of one event."""

    columns: Mapping[str, object]  # as Spark writes them down
    pieces: tuple[Piece, ...] = ()

    @property
    def schema(self) -> StructType:
        return StructType.fromJson(dict(self.columns))

    def folded(self, rows: int) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
        """The pieces that stay, and those that become one with this many new rows."""
        n_stay = len(self.pieces)
        while n_stay and self.pieces[n_stay - 1].rows <= FOLDED * rows:
            n_stay -= 1
            rows += self.pieces[n_stay].rows
        return self.pieces[:n_stay], self.pieces[n_stay:]


@dataclass(frozen=True, slots=True)
class Version:
    """All tables after a micro-batch, and the pieces that only readers of earlier versions need, since when."""

    batch: int = -1
    tables: Mapping[str, Table] = field(default_factory=dict)
    dropped: Mapping[str, float] = field(default_factory=dict)

    @property
    def folders(self) -> set[str]:
        return {piece.folder for table in self.tables.values() for piece in table.pieces} | self.dropped.keys()

    def with_table(self, name: str, table: Table, now: float) -> Version:
        old = self.tables[name].pieces if name in self.tables else ()
        gone = {piece.folder: now for piece in old if piece not in table.pieces}
        return replace(self, tables={**self.tables, name: table}, dropped={**self.dropped, **gone})

    def dumped(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def of(cls, data: bytes) -> Version:
        found = json.loads(data)
        tables = {
            name: Table(one["columns"], tuple(Piece(**piece) for piece in one["pieces"]))
            for name, one in found["tables"].items()
        }
        return cls(found["batch"], tables, found["dropped"])


@dataclass(frozen=True, slots=True)
class Versions:
    """The lists and the pieces below a folder of results."""

    spark: SparkSession
    path: str

    @property
    def lists(self) -> Folder:
        return Folder(self.spark, f"{self.path.rstrip('/')}/{HIDDEN}/versions")

    @property
    def pieces(self) -> Folder:
        return Folder(self.spark, f"{self.path.rstrip('/')}/{HIDDEN}/pieces")

    def newest(self) -> Version:
        names = self.lists.names()
        data = self.lists.read(names[-1]) if names else None
        return Version() if data is None else Version.of(data)

    def put(self, version: Version) -> None:
        """Make it the newest; until then nothing has changed for readers."""
        self.lists.write(f"{version.batch:012d}.json", version.dumped())
        for name in self.lists.names()[:-KEPT_VERSIONS]:
            self.lists.remove(name)

    def new_folder(self, table: str, name: str) -> str:
        return f"{quote(table, safe='')}/{name}"

    def remove_all_but(self, folders: set[str]) -> None:
        """Do away with what a killed run left."""
        for table in self.pieces.names():
            for name in self.pieces.inside(table).names():
                if f"{table}/{name}" not in folders:
                    self.pieces.inside(table).remove_all(name)


def require_same_columns(name: str, place: str, found: StructType, wanted: StructType) -> None:
    """Reject a table that was made for an event with other columns."""
    has, needs = _kinds(found), _kinds(wanted)
    if has != needs:
        raise other_shape(name, place, has, needs)


def other_shape(name: str, place: str, has: Mapping[str, str], needs: Mapping[str, str]) -> InputError:
    differing = [column for column in dict.fromkeys([*needs, *has]) if has.get(column) != needs.get(column)]
    notes = [
        f"`{one}` is {has.get(one, 'missing')}, and results have it as {needs[one]}"
        for one in differing
        if one in needs
    ]
    notes += [f"`{one}` is {has[one]}, and results do not have it" for one in differing if one not in needs]
    return InputError.of(
        "INK0572",
        f"the table of `{name}` in {place} has other columns than its results",
        notes=tuple(notes or ["the columns are in another order"]),
        helps=("the event has changed; rename it, or use another output",),
    )


def _kinds(columns: StructType) -> dict[str, str]:
    return {column.name: column.dataType.simpleString() for column in columns}
