"""Results to PostgreSQL: a table per event of the matches that hold now, corrected by one transaction per batch.

Workers write their rows into tables that nobody reads; the driver takes them over. The number of the last micro-batch
is part of the same transaction, so a batch counts whole or not at all, and once.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from inkling.spark.streaming.addresses import Address
from inkling.spark.streaming.outputs import Output
from inkling.spark.streaming.postgres_server import Server
from inkling.spark.streaming.postgres_stage import Stage
from inkling.spark.streaming.postgres_tables import (
    ResultTable,
    columns_in,
    name_of,
    quoted,
    storable,
    tables_like,
)
from inkling.spark.streaming.result_id import with_result_id
from inkling.spark.streaming.sinks import Beginning, in_few_files, lost_results, other_results

BATCHES = "inkling_batches"
STAGED = "inkling_staged"
RUN_DIGITS = 12


@dataclass(slots=True)
class PostgresSink:
    """Tables called `<prefix><output>` in a schema; those of `late`, `rejects` and ON RETRACT only grow."""

    server: Server
    schema: str = "public"
    prefix: str = ""
    _beginning: Beginning | None = field(default=None, repr=False)

    @classmethod
    def at(cls, address: Address) -> PostgresSink:
        mine, others = address.taken("schema", "prefix")
        return cls(Server.of(address, others), mine.get("schema", "public"), mine.get("prefix", ""))

    @property
    def path(self) -> str:
        """What it is called in messages."""
        return self.server.shown

    def begin(self, beginning: Beginning) -> None:
        self._beginning = beginning
        with self.server.connected() as connection, connection.cursor() as cursor:
            self._make_schema(cursor)
            if beginning.is_new:
                for name in beginning.outputs:
                    self._require_empty(cursor, name)
            else:
                if beginning.columns and not any(self._has_table(cursor, name) for name in beginning.columns):
                    raise lost_results(f"`{self.path}`")
                for name in tables_like(cursor, self.schema, f"{STAGED}_{self._run()[:RUN_DIGITS]}_"):
                    cursor.execute(f"DROP TABLE {quoted(self.schema)}.{quoted(name)}")
            for name, columns in beginning.columns.items():
                self._table(name, columns).make(cursor, name, f"`{self.path}`")
            connection.commit()

    def require_columns(self, spark: SparkSession, columns: Mapping[str, StructType]) -> None:
        with self.server.connected() as connection, connection.cursor() as cursor:
            for name, kinds in columns.items():
                self._table(name, kinds).require_fitting(cursor, name, f"`{self.path}`")

    def deliver(self, outputs: Iterable[Output], batch: int) -> None:
        rest = iter(outputs)
        first = next(rest, None)
        if first is not None:
            self._deliver(chain((first,), rest), batch)

    def _deliver(self, outputs: Iterable[Output], batch: int) -> None:
        run = self._run()
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

    def _staged(self, output: Output, name: str) -> _Staged:
        frame = in_few_files(output)
        frame = storable(frame if output.only_grows else with_result_id(frame))
        table = self._table(output.name, frame.schema, is_keyed=not output.only_grows)
        return _Staged(output.name, table, name, frame)

    def _table(self, output: str, columns: StructType, *, is_keyed: bool = True) -> ResultTable:
        return ResultTable.of(self.schema, f"{self.prefix}{output}", columns, is_keyed=is_keyed)

    def _written(self, staged: _Staged) -> list[int]:
        """Have the workers write; the attempts that came to an end."""
        ended = staged.frame.mapInArrow(Stage(self.server, self.schema, staged.name), "attempt bigint").collect()
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
        """Write the batch down; whether nobody has before. Who else tries waits until this transaction has ended."""
        cursor.execute(
            f"INSERT INTO {self._batches} AS known (run, batch) VALUES ($1, $2) ON CONFLICT (run)"
            " DO UPDATE SET batch = EXCLUDED.batch WHERE known.batch < EXCLUDED.batch RETURNING batch",
            (run, batch),
        )
        return bool(cursor.fetchall())

    @property
    def _batches(self) -> str:
        return f"{quoted(self.schema)}.{quoted(name_of(f'{self.prefix}{BATCHES}'))}"

    def _run(self) -> str:
        """A name that all restarts with one checkpoint share."""
        assert self._beginning is not None
        told = self._beginning.checkpoint.inside("spark").read("metadata")
        return str(json.loads(told)["id"]) if told else ""


@dataclass(frozen=True, slots=True)
class _Staged:
    """Rows of an output on their way to its table, by way of a table of this name."""

    output: str
    table: ResultTable
    name: str
    frame: DataFrame
