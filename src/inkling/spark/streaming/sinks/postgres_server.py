"""The connection to a PostgreSQL database, and the task of workers that writes rows into a staging table.

Passwords are never shown in messages.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pyarrow as pa
from pyspark import TaskContext

from inkling.errors import InputError
from inkling.spark.streaming.addresses import Address

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
            raise _unclear(address, "write `postgresql://user:password@host:port/database`")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        password = password or ("" if "password" in options else os.environ.get("PGPASSWORD", ""))
        who = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
        place = (f"[{host}]" if ":" in host else host) + ("" if port is None else f":{port}")
        settings = {"connect_timeout": SECONDS_TO_CONNECT, **options}
        more = "&".join(f"{name}={value}" for name, value in settings.items())
        uri = f"postgresql://{who}{'@' if who else ''}{place}/{quote(unquote(database), safe='')}?{more}"
        secrets = [password, quote(password, safe=""), options.get("password", ""), options.get("sslpassword", "")]
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
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise InputError.of(
            "INK0570",
            "the PostgreSQL driver is not installed",
            helps=("install it with `pip install 'inkling[postgres]'`",),
        ) from None
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
