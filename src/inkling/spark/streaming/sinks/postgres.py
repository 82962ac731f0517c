"""Results in PostgreSQL: a table per event of the currently valid matches, updated in one transaction per batch.

Workers write their rows into staging tables, and the driver moves them into the tables of events. The number of the
last micro-batch is written in the same transaction, so a batch takes effect as a whole, and once.
Passwords are never shown in messages.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StringType, StructType

from inkling.errors import InputError
from inkling.extras import require
from inkling.spark.stage_frame import named
from inkling.spark.streaming.addresses import Address
from inkling.spark.streaming.sinks.current_versions import other_shape
from inkling.spark.streaming.sinks.outputs import SinkOutput
from inkling.spark.streaming.sinks.protocol import SinkStart, in_few_files, lost_results, other_results
from inkling.spark.streaming.sinks.result_id import CHANGEABLE, RESULT_ID, with_result_id

SECONDS_TO_CONNECT = "10"


@dataclass(frozen=True, slots=True)
class Server:
    """The address of a database; workers connect to it as well."""

    shown: str
    uri: str = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, address: Address, options: dict[str, str]) -> Server:
        """The server of `postgresql://user:password@host:port/database`; options are those of libpq."""
        try:
            parts = urlsplit(f"postgresql://{address.place}")
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise _unclear(address, "write / and @ in a password as %2F and %40") from None
        database = parts.path.removeprefix("/")
        if not database or "/" in database:
            raise _unclear(address, "write `postgresql://user@host:port/database?password=env:NAME`")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        password = password or ("" if "password" in options else os.environ.get("PGPASSWORD", ""))
        who = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
        place = (f"[{host}]" if ":" in host else host) + ("" if port is None else f":{port}")
        settings = {"connect_timeout": SECONDS_TO_CONNECT, **options}
        more = "&".join(f"{name}={value}" for name, value in settings.items())
        uri = f"postgresql://{who}{'@' if who else ''}{place}/{quote(unquote(database), safe='')}?{more}"
        secrets = [password, quote(password, safe="")]
        for name in ("password", "sslpassword"):
            secrets += [options.get(name, ""), unquote(options.get(name, ""))]
        return cls(address.text, uri, tuple(dict.fromkeys(one for one in secrets if one)))

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """A connection in a transaction, which is rolled back unless it is committed."""
        dbapi = _driver()
        try:
            connection = dbapi.connect(self.uri)
        except dbapi.Error as problem:
            raise InputError.of(
                "INK0571",
                f"`{self.shown}` cannot be reached",
                notes=(self.without_secrets(str(problem)),),
                helps=("check that the server runs, and check user, password and database",),
            ) from None
        try:
            yield connection
        except dbapi.Error as problem:
            raise RuntimeError(self.without_secrets(str(problem))) from None
        finally:
            connection.close()

    def without_secrets(self, text: str) -> str:
        """The message of the driver in one line, without passwords."""
        line = " ".join(text.partition("Query was:")[0].split()).removeprefix("IO: [libpq] Failed to connect: ")
        for secret in self.secrets:
            line = line.replace(secret, "…")
        return line


def _driver() -> Any:
    require("adbc_driver_postgresql", "INK0570")
    from adbc_driver_postgresql import dbapi

    return dbapi


def _unclear(address: Address, help: str) -> InputError:
    return InputError.of("INK0515", f"`{address.text}` does not name a database", helps=(help,))


ATTEMPT = "inkling_attempt"
"""The column with the attempt of a worker that wrote a staged row; rows of incomplete attempts are ignored."""


@dataclass(frozen=True, slots=True)
class StagingTask:
    """Writes the rows of a partition into a staging table, all or none; returns the number of the attempt."""

    server: Server
    schema: str
    table: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return
        task = TaskContext.get()
        assert task is not None, "rows are written by workers"
        attempt = task.taskAttemptId()

        def marked() -> Iterator[pa.RecordBatch]:
            for batch in (first, *filled):
                yield batch.append_column(ATTEMPT, pa.repeat(pa.scalar(attempt, pa.int64()), batch.num_rows))

        schema = first.schema.append(pa.field(ATTEMPT, pa.int64()))
        with self.server.connected() as connection, connection.cursor() as cursor:
            rows = pa.RecordBatchReader.from_batches(schema, marked())
            cursor.adbc_ingest(self.table, rows, mode="append", db_schema_name=self.schema)
            connection.commit()
        yield pa.RecordBatch.from_pydict({"attempt": pa.array([attempt], pa.int64())})


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
"""Text in PostgreSQL cannot contain the character 0, which is replaced."""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The table of one output; `result_id` is its key if rows can be withdrawn."""

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
        """Create the table, or check its columns."""
        if not self.require_fitting(cursor, event, place):
            key = f", PRIMARY KEY ({quoted(RESULT_ID)})" if self.is_keyed else ""
            cursor.execute(f"CREATE TABLE {self.full_name} ({listed(self.columns)}{key})")

    def require_fitting(self, cursor: Any, event: str, place: str) -> bool:
        """Whether the table exists; raises an error if it lacks columns. It may have further columns."""
        found = columns_in(cursor, self.schema, self.name)
        has = {name: found[name] for name in self.columns if name in found}
        if found and has != self.columns:
            raise other_shape(event, place, has, self.columns)
        return bool(found)

    def stage(self, cursor: Any, name: str) -> None:
        """Create a staging table of this name, without write-ahead logging."""
        kinds = {**self.columns, ATTEMPT: "bigint"}
        cursor.execute(f"CREATE UNLOGGED TABLE {quoted(self.schema)}.{quoted(name)} ({listed(kinds)})")

    def apply(self, cursor: Any, staged: str, attempts: Sequence[int]) -> None:
        """Apply staged rows: delete withdrawn rows, add emitted ones, and replace the rows that these correct."""
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
    """The rows with values that PostgreSQL can store."""
    changed = {
        column.name: stored
        for column in frame.schema
        if (stored := _stored(named(column.name), column.dataType)) is not None
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
    """The PostgreSQL type of a column; other types are stored as JSON text."""
    if isinstance(kind, ArrayType) and kind.elementType.simpleString() in TYPES:
        return f"{TYPES[kind.elementType.simpleString()]}[]"
    return TYPES.get(kind.simpleString(), "text")


def name_of(wanted: str) -> str:
    """A table name that PostgreSQL does not truncate, which could make two names equal.

    >>> name_of("theft"), len(name_of("x" * 100))
    ('theft', 63)
    """
    if len(wanted.encode()) <= NAME_BYTES:
        return wanted
    digest = hashlib.sha256(wanted.encode()).hexdigest()[:10]
    return f"{wanted.encode()[: NAME_BYTES - 11].decode(errors='ignore')}_{digest}"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def listed(columns: dict[str, str]) -> str:
    return ", ".join(f"{quoted(name)} {kind}" for name, kind in columns.items())


def columns_in(cursor: Any, schema: str, table: str) -> dict[str, str]:
    """The columns of a table with their types; none if it does not exist."""
    cursor.execute(
        "SELECT a.attname::text, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a"
        " JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
        (schema, table),
    )
    return dict(cursor.fetchall())


def tables_like(cursor: Any, schema: str, beginning: str) -> Sequence[str]:
    """The tables whose names begin with `beginning`."""
    cursor.execute(
        "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 AND starts_with(tablename, $2)",
        (schema, beginning),
    )
    return [name for (name,) in cursor.fetchall()]


BATCHES = "inkling_batches"
STAGED = "inkling_staged"
RUN_DIGITS = 12


@dataclass(slots=True)
class PostgresSink:
    """Tables called `<prefix><output>` in a schema; those of `late`, `rejects` and ON RETRACT only grow."""

    server: Server
    schema: str = "public"
    prefix: str = ""
    _start: SinkStart | None = field(default=None, repr=False)

    @classmethod
    def at(cls, address: Address) -> PostgresSink:
        mine, others = address.taken("schema", "prefix")
        return cls(Server.of(address, others), mine.get("schema", "public"), mine.get("prefix", ""))

    @property
    def path(self) -> str:
        """The name of the sink in messages."""
        return self.server.shown

    def begin(self, start: SinkStart) -> None:
        self._start = start
        with self.server.connected() as connection, connection.cursor() as cursor:
            self._make_schema(cursor)
            if start.is_new:
                for name in start.outputs:
                    self._require_empty(cursor, name)
            else:
                if start.columns and not any(self._has_table(cursor, name) for name in start.columns):
                    raise lost_results(f"`{self.path}`")
                for name in tables_like(cursor, self.schema, f"{STAGED}_{start.run_id[:RUN_DIGITS]}_"):
                    cursor.execute(f"DROP TABLE {quoted(self.schema)}.{quoted(name)}")
            for name, columns in start.columns.items():
                self._table(name, columns).make(cursor, name, f"`{self.path}`")
            connection.commit()

    def require_columns(self, spark: SparkSession, columns: Mapping[str, StructType]) -> None:
        with self.server.connected() as connection, connection.cursor() as cursor:
            for name, kinds in columns.items():
                self._table(name, kinds).require_fitting(cursor, name, f"`{self.path}`")

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        rest = iter(outputs)
        first = next(rest, None)
        if first is not None:
            self._deliver(chain((first,), rest), batch)

    def _deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        assert self._start is not None
        run = self._start.run_id
        with self.server.connected() as connection, connection.cursor() as cursor:
            if self._last_batch(cursor, run) >= batch:
                return
            staged = []
            for output in outputs:
                one = self._staged(output, f"{STAGED}_{run[:RUN_DIGITS]}_{batch}_{uuid.uuid4().hex[:8]}")
                one.table.stage(cursor, one.name)
                connection.commit()
                staged.append((one, self._written(one)))
            if self._is_first(cursor, run, batch):
                for one, attempts in staged:
                    one.table.make(cursor, one.output, f"`{self.path}`")
                    one.table.apply(cursor, one.name, attempts)
            for one, _ in staged:
                cursor.execute(f"DROP TABLE {quoted(self.schema)}.{quoted(one.name)}")
            connection.commit()

    def _staged(self, output: SinkOutput, name: str) -> _Staged:
        frame = in_few_files(output)
        frame = storable(frame if output.only_grows else with_result_id(frame))
        table = self._table(output.name, frame.schema, is_keyed=not output.only_grows)
        return _Staged(output.name, table, name, frame)

    def _table(self, output: str, columns: StructType, *, is_keyed: bool = True) -> ResultTable:
        return ResultTable.of(self.schema, f"{self.prefix}{output}", columns, is_keyed=is_keyed)

    def _written(self, staged: _Staged) -> list[int]:
        """Let workers write staged rows; returns the attempts that were completed."""
        ended = staged.frame.mapInArrow(StagingTask(self.server, self.schema, staged.name), "attempt bigint").collect()
        return [row["attempt"] for row in ended]

    def _make_schema(self, cursor: Any) -> None:
        cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = $1", (self.schema,))
        if not cursor.fetchall():
            cursor.execute(f"CREATE SCHEMA {quoted(self.schema)}")
        if not columns_in(cursor, self.schema, name_of(f"{self.prefix}{BATCHES}")):
            cursor.execute(f"CREATE TABLE {self._batches} (run text PRIMARY KEY, batch bigint NOT NULL)")

    def _require_empty(self, cursor: Any, output: str) -> None:
        name = name_of(f"{self.prefix}{output}")
        if columns_in(cursor, self.schema, name):
            cursor.execute(f"SELECT 1 FROM {quoted(self.schema)}.{quoted(name)} LIMIT 1")
            if cursor.fetchall():
                raise other_results(f"the table `{name}` holds rows", "the tables")

    def _has_table(self, cursor: Any, output: str) -> bool:
        return bool(columns_in(cursor, self.schema, name_of(f"{self.prefix}{output}")))

    def _last_batch(self, cursor: Any, run: str) -> int:
        cursor.execute(f"SELECT batch FROM {self._batches} WHERE run = $1", (run,))
        return max((number for (number,) in cursor.fetchall()), default=-1)

    def _is_first(self, cursor: Any, run: str, batch: int) -> bool:
        """Record the batch; returns whether it is new. A concurrent transaction waits until this one has ended."""
        cursor.execute(
            f"INSERT INTO {self._batches} AS known (run, batch) VALUES ($1, $2) ON CONFLICT (run)"
            " DO UPDATE SET batch = EXCLUDED.batch WHERE known.batch < EXCLUDED.batch RETURNING batch",
            (run, batch),
        )
        return bool(cursor.fetchall())

    @property
    def _batches(self) -> str:
        return f"{quoted(self.schema)}.{quoted(name_of(f'{self.prefix}{BATCHES}'))}"


@dataclass(frozen=True, slots=True)
class _Staged:
    """The rows of an output, and the staging table through which they reach their table."""

    output: str
    table: ResultTable
    name: str
    frame: DataFrame
