"""How addresses of PostgreSQL are read, and what is shown of them."""

import pickle

import pytest

from inkling.masking import without_secrets
from inkling.spark.streaming.addresses import address_of
from inkling.spark.streaming.sinks.postgres import PostgresSink, name_of
from inkling.spark.streaming.sinks.protocol import sink_of


def sink(address: str) -> PostgresSink:
    return PostgresSink.at(address_of(address))


@pytest.mark.parametrize(
    ("address", "uri"),
    [
        ("ada:se%2Fcret@db:5432/found", "postgresql://ada:se%2Fcret@db:5432/found?connect_timeout=10"),
        ("ada:a@b@db/found?schema=s&prefix=p_", "postgresql://ada:a%40b@db/found?connect_timeout=10"),
        ("[::1]:5433/x?connect_timeout=3", "postgresql://[::1]:5433/x?connect_timeout=3"),
        ("/x?host=%2Ftmp&sslmode=disable", "postgresql:///x?connect_timeout=10&host=%2Ftmp&sslmode=disable"),
    ],
)
def test_what_the_driver_is_told(address: str, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    assert sink(f"postgresql://{address}").server.uri == uri


def test_schema_and_prefix() -> None:
    found = sink("postgresql://db/found?schema=s&prefix=p_")
    assert (found.schema, found.prefix) == ("s", "p_")
    found = sink("postgresql://db/found")
    assert (found.schema, found.prefix) == ("public", "")


def test_the_password_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers may run elsewhere, so it travels to them; a password in the address goes before it."""
    monkeypatch.setenv("PGPASSWORD", "from outside")
    server = sink("postgresql://ada@db/found").server
    assert server.uri.startswith("postgresql://ada:from%20outside@db/")
    assert pickle.loads(pickle.dumps(server)) == server
    assert sink("postgresql://ada:K7-of-ada@db/found").server.uri.startswith("postgresql://ada:K7-of-ada@db/")
    assert "outside" not in repr(server)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:secret@db:5432/found",
        "postgresql://ada:se:c@re/t-secret@db:5432/found?schema=x",
        "postgresql://db/found?password=secret&schema=x",
        "postgresql://db/found?sslpassword=secret",
    ],
)
def test_passwords_are_left_out(address: str) -> None:
    assert "secret" not in without_secrets(address)
    assert "secret" not in repr(address_of(address))
    assert without_secrets(address).endswith(("/found", "schema=x", "sslpassword=…"))


def test_passwords_are_taken_out_of_what_a_driver_says() -> None:
    server = sink("postgresql://ada:se%2Fcret@db/found").server
    assert server.without_secrets("no\n user se/cret or se%2Fcret") == "no user … or …"
    assert "cret" not in repr(sink_of("postgresql://ada:se%2Fcret@db/found"))


def test_a_password_of_the_environment_named_in_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOUND_PASSWORD", "se/cret&more")
    server = sink("postgresql://ada@db/found?password=env:FOUND_PASSWORD").server
    assert "password=se%2Fcret%26more" in server.uri
    assert server.shown.endswith("?password=env:FOUND_PASSWORD")
    assert server.without_secrets("no login with se/cret&more") == "no login with …"


def test_long_names_stay_apart() -> None:
    one, other = name_of("x" * 80 + "1"), name_of("x" * 80 + "2")
    assert one != other
    assert len(name_of("ü" * 80).encode()) <= 63
