"""The files of tables of current matches: a list of files per micro-batch, of which the newest is valid.

A table is a sequence of pieces, oldest first, like a log-structured merge tree. A piece has the changes of some
micro-batches, with one row per result; the newest piece with a result is valid for it. A piece absorbs older ones of
about its size, so a table of n rows has about log n pieces, and a micro-batch costs about what it changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from inkling.errors import InputError
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.stored import Stored
from inkling.whole_files import file_name

HIDDEN = "_current"
"""The folder inside the folder of results; Spark skips names that begin with an underscore."""

KEPT_VERSIONS = 5
FOLDED = 2
"""A piece absorbs older ones that are at most this many times as large."""


@dataclass(frozen=True, slots=True)
class TablePiece:
    """A folder of Parquet files, relative to the folder of pieces."""

    folder: str
    rows: int


@dataclass(frozen=True, slots=True)
class CurrentTable:
    """The matches of one event."""

    columns: Mapping[str, object]  # as JSON of Spark
    pieces: tuple[TablePiece, ...] = ()

    @property
    def schema(self) -> StructType:
        return StructType.fromJson(dict(self.columns))

    def folded(self, rows: int) -> tuple[tuple[TablePiece, ...], tuple[TablePiece, ...]]:
        """The pieces that stay, and those that are merged with this many new rows."""
        n_stay = len(self.pieces)
        while n_stay and self.pieces[n_stay - 1].rows <= FOLDED * rows:
            n_stay -= 1
            rows += self.pieces[n_stay].rows
        return self.pieces[:n_stay], self.pieces[n_stay:]


@dataclass(frozen=True, slots=True)
class TablesVersion:
    """All tables after a micro-batch, and the times of dropped pieces, which only earlier readers need."""

    batch: int = -1
    tables: Mapping[str, CurrentTable] = field(default_factory=dict)
    dropped: Mapping[str, float] = field(default_factory=dict)

    @property
    def folders(self) -> set[str]:
        return {piece.folder for table in self.tables.values() for piece in table.pieces} | self.dropped.keys()

    def with_table(self, name: str, table: CurrentTable, now: float) -> TablesVersion:
        old = self.tables[name].pieces if name in self.tables else ()
        gone = {piece.folder: now for piece in old if piece not in table.pieces}
        return replace(self, tables={**self.tables, name: table}, dropped={**self.dropped, **gone})

    def dumped(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def of(cls, data: bytes) -> TablesVersion:
        found = json.loads(data)
        tables = {
            name: CurrentTable(one["columns"], tuple(TablePiece(**piece) for piece in one["pieces"]))
            for name, one in found["tables"].items()
        }
        return cls(found["batch"], tables, found["dropped"])


@dataclass(frozen=True, slots=True)
class TablesVersions:
    """The lists and the pieces below a folder of results."""

    spark: SparkSession
    path: str

    @property
    def lists(self) -> CheckpointFolder:
        return CheckpointFolder(self.spark, f"{self.path.rstrip('/')}/{HIDDEN}/versions")

    @property
    def pieces(self) -> CheckpointFolder:
        return CheckpointFolder(self.spark, f"{self.path.rstrip('/')}/{HIDDEN}/pieces")

    def newest(self) -> TablesVersion:
        names = self.lists.names()
        data = self.lists.get(names[-1], Stored.MATCHES) if names else None
        return TablesVersion() if data is None else TablesVersion.of(data)

    def put(self, version: TablesVersion) -> None:
        """Write the newest version; until then nothing changes for readers."""
        self.lists.put(f"{version.batch:012d}.json", version.dumped(), Stored.MATCHES)
        for name in self.lists.names()[:-KEPT_VERSIONS]:
            self.lists.remove(name)

    def new_folder(self, table: str, name: str) -> str:
        return f"{file_name(table)}/{name}"

    def remove_all_but(self, folders: set[str]) -> None:
        """Delete pieces that a killed run left."""
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
