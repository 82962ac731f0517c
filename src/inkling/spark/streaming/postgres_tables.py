"""Tables of PostgreSQL for results: their columns, and the statements that bring them up to date."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StringType, StructType

from inkling.spark.streaming.current_versions import other_shape
from inkling.spark.streaming.postgres_stage import ATTEMPT
from inkling.spark.streaming.result_id import CHANGEABLE, RESULT_ID

NAME_BYTES = 63
TYPES = {
    "string": "text",
    "bigint": "bigint",
    "int": "integer",
    "double": "double precision",
    "float": "real",
    "boolean": "boolean",
    "timestamp": "timestamp with time zone",
}
NUL, INSTEAD = "\0", "\ufffd"
"""Text in PostgreSQL has no character 0."""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A table for one output; with `result_id` as its key where rows can be withdrawn."""

    schema: str
    name: str
    columns: dict[str, str]

    @classmethod
    def of(cls, schema: str, name: str, columns: StructType, *, is_keyed: bool) -> ResultTable:
        kinds = {column.name: type_of(column.dataType) for column in columns if column.name != RESULT_ID}
        return cls(schema, name_of(name), {**kinds, RESULT_ID: "text"} if is_keyed else kinds)

    @property
    def is_keyed(self) -> bool:
        return RESULT_ID in self.columns

    @property
    def full_name(self) -> str:
        return f"{quoted(self.schema)}.{quoted(self.name)}"

    def make(self, cursor: Any, event: str, place: str) -> None:
        """Create the table, or see that it fits."""
        if not self.require_fitting(cursor, event, place):
            key = f", PRIMARY KEY ({quoted(RESULT_ID)})" if self.is_keyed else ""
            cursor.execute(f"CREATE TABLE {self.full_name} ({listed(self.columns)}{key})")

    def require_fitting(self, cursor: Any, event: str, place: str) -> bool:
        """Whether the table is there; refuses one of another shape. It may have more columns than results have."""
        found = columns_in(cursor, self.schema, self.name)
        has = {name: found[name] for name in self.columns if name in found}
        if found and has != self.columns:
            raise other_shape(event, place, has, self.columns)
        return bool(found)

    def stage(self, cursor: Any, name: str) -> None:
        """A table of this name for rows on their way, without the cost of a journal."""
        kinds = {**self.columns, ATTEMPT: "bigint"}
        cursor.execute(f"CREATE UNLOGGED TABLE {quoted(self.schema)}.{quoted(name)} ({listed(kinds)})")

    def apply(self, cursor: Any, staged: str, attempts: Sequence[int]) -> None:
        """Take staged rows over: what is withdrawn goes, what is told comes, or takes the place of what it corrects."""
        if not attempts:
            return
        source = f"{quoted(self.schema)}.{quoted(staged)}"
        counts = f"{quoted(ATTEMPT)} IN ({', '.join(map(str, attempts))})"
        names = ", ".join(map(quoted, self.columns))
        if not self.is_keyed:
            cursor.execute(f"INSERT INTO {self.full_name} ({names}) SELECT {names} FROM {source} WHERE {counts}")
            return
        key = quoted(RESULT_ID)
        cursor.execute(f"ANALYZE {source}")
        again = f"SELECT FROM {source} a WHERE a.{key} = s.{key} AND a.op = '+' AND a.{counts}"
        cursor.execute(
            f"DELETE FROM {self.full_name} t USING {source} s WHERE t.{key} = s.{key} AND s.op = '-' AND s.{counts}"
            f" AND NOT EXISTS ({again})"
        )
        order = ", ".join(f"{quoted(name)} DESC" for name in CHANGEABLE if name != "op")
        corrected = ", ".join(f"{quoted(one)} = EXCLUDED.{quoted(one)}" for one in self.columns if one != RESULT_ID)
        cursor.execute(
            f"INSERT INTO {self.full_name} ({names}) SELECT DISTINCT ON ({key}) {names} FROM {source}"
            f" WHERE op = '+' AND {counts} ORDER BY {key}, {order}"
            f" ON CONFLICT ({key}) DO UPDATE SET {corrected}"
        )


def storable(frame: DataFrame) -> DataFrame:
    """The same rows as PostgreSQL can hold them."""
    changed = {
        column.name: stored
        for column in frame.schema
        if (stored := _stored(frame["`" + column.name.replace("`", "``") + "`"], column.dataType)) is not None
    }
    return frame.withColumns(changed) if changed else frame


def _stored(value: Column, kind: DataType) -> Column | None:
    match kind:
        case StringType():
            return F.translate(value, NUL, INSTEAD)
        case ArrayType(elementType=StringType()):
            return F.transform(value, lambda one: F.translate(one, NUL, INSTEAD))
        case ArrayType() if kind.elementType.simpleString() in TYPES:
            return None
        case _:
            return None if kind.simpleString() in TYPES else F.to_json(value)


def type_of(kind: DataType) -> str:
    """The type of a column; what has no type of its own is JSON in text."""
    if isinstance(kind, ArrayType) and kind.elementType.simpleString() in TYPES:
        return f"{TYPES[kind.elementType.simpleString()]}[]"
    return TYPES.get(kind.simpleString(), "text")


def name_of(wanted: str) -> str:
    """A name that is not cut off, which might make two names one.

    >>> name_of("theft"), len(name_of("x" * 100))
    ('theft', 63)
    """
    if len(wanted.encode()) <= NAME_BYTES:
        return wanted
    digest = hashlib.sha256(wanted.encode()).hexdigest()[:10]
    return f"{wanted.encode()[: NAME_BYTES - 11].decode(errors='ignore')}_{digest}"


def quoted(name: str) -> str:
    """A name as it stands in a statement."""
    return '"' + name.replace('"', '""') + '"'


def listed(columns: dict[str, str]) -> str:
    return ", ".join(f"{quoted(name)} {kind}" for name, kind in columns.items())


def columns_in(cursor: Any, schema: str, table: str) -> dict[str, str]:
    """The columns that a table has, nothing without one."""
    cursor.execute(
        "SELECT a.attname::text, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a"
        " JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
        (schema, table),
    )
    return dict(cursor.fetchall())


def tables_like(cursor: Any, schema: str, beginning: str) -> Sequence[str]:
    """The tables whose names begin so."""
    cursor.execute(
        "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 AND starts_with(tablename, $2)",
        (schema, beginning),
    )
    return [name for (name,) in cursor.fetchall()]
