"""A PostgreSQL database: how it is reached, and what may be said of it. Passwords are never shown."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from inkling.errors import InputError
from inkling.spark.streaming.addresses import Address

SECONDS_TO_CONNECT = "10"


@dataclass(frozen=True, slots=True)
class Server:
    """Travels to the workers, which write their rows themselves."""

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
            raise _unclear(address, "signs such as / and @ in a password are written %2F and %40") from None
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
        """A connection in a transaction, which ends without effect unless it is committed."""
        dbapi = _driver()
        try:
            connection = dbapi.connect(self.uri)
        except dbapi.Error as problem:
            raise InputError.of(
                "INK0571",
                f"`{self.shown}` cannot be reached",
                notes=(self.without_secrets(str(problem)),),
                helps=("see that the server runs, and that user, password and database are right",),
            ) from None
        try:
            yield connection
        except dbapi.Error as problem:
            raise RuntimeError(self.without_secrets(str(problem))) from None
        finally:
            connection.close()

    def without_secrets(self, text: str) -> str:
        """What the driver said, in one line."""
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
            "results cannot go to PostgreSQL, because its driver is not installed",
            helps=("install it by `pip install 'inkling[postgres]'`",),
        ) from None
    return dbapi


def _unclear(address: Address, help: str) -> InputError:
    return InputError.of("INK0515", f"`{address.text}` does not name a database", helps=(help,))
