"""One PostgreSQL server for the whole run, and a database of its own for every test."""

from collections.abc import Iterator
from itertools import count

import pytest
from tests.postgres.server import Server, running_server

_numbers = count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as started:
        yield started


@pytest.fixture
def database(server: Server) -> str:
    """The name of an empty database."""
    name = f"database{next(_numbers)}"
    server.run(f"CREATE DATABASE {name}")
    return name
