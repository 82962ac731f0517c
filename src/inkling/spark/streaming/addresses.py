"""Addresses of streams and outputs: a path, or `kind://place`, with options after `?`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from inkling.errors import InputError, nearest

KINDS = ("kafka", "postgresql", "rate", "table")
_KIND = re.compile(rf"({'|'.join(KINDS)})://(.*)", re.DOTALL)
_OPTIONS = re.compile(r"(.*?)\?([\w.]+=[^&?]*(?:&[\w.]+=[^&?]*)*)", re.DOTALL)

_PASSWORD = re.compile(r"(?<=://)([^:/@?]*):.*@", re.DOTALL)  # up to the last @, which a password may contain
_PASSWORD_OPTION = re.compile(r"((?:ssl)?password=)[^&]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of an address; `kind` is empty for a path. Only `text` has no password and may be shown."""

    text: str
    kind: str
    place: str = field(repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def taken(self, *names: str) -> tuple[dict[str, str], dict[str, str]]:
        """The options of these names, and the others."""
        mine = {name: value for name, value in self.options.items() if name in names}
        return mine, {name: value for name, value in self.options.items() if name not in names}


def address_of(text: str) -> Address:
    """The parts of an address.

    >>> address_of("incoming?format=csv&maxFilesPerTrigger=1").options["format"]
    'csv'
    >>> address_of("kafka://localhost:9092/traffic").place
    'localhost:9092/traffic'
    """
    found = _OPTIONS.fullmatch(text)
    place, options = (text, "") if found is None else (found[1], found[2])
    kind = _KIND.fullmatch(place)
    pairs = [pair.partition("=") for pair in options.split("&")] if options else []
    settings = {name: value for name, _, value in pairs}
    text = without_secrets(text)
    return Address(text, kind[1], kind[2], settings) if kind else Address(text, "", place, settings)


def without_secrets(text: str) -> str:
    """An address without passwords.

    >>> without_secrets("postgresql://ada:secret@db:5432/found?schema=x&password=secret")
    'postgresql://ada:…@db:5432/found?schema=x&password=…'
    """
    if not text.startswith("postgresql://"):
        return text
    return _PASSWORD_OPTION.sub(r"\1…", _PASSWORD.sub(r"\1:…@", text))


def absolute(place: str | Path) -> str:
    """A path as an absolute one, because Spark may run in another folder; other places as they are."""
    return str(place) if "://" in str(place) else str(Path(place).absolute())


def one_of(value: str, choices: Iterable[str], *, option: str, address: Address) -> str:
    """The value, if it is among the choices."""
    known = list(choices)
    if value in known:
        return value
    close = nearest(value, known, n=1)
    raise InputError.of(
        "INK0515",
        f"`{value}` is not a valid {option} for `{address.text}`",
        notes=(f"choices are {', '.join(known)}",),
        helps=tuple(f"write `{option}={one}`" for one in close),
    )


def servers_and_topic(address: Address) -> tuple[str, str]:
    """The brokers and the topic of `kafka://host:port/topic`; several of either are divided by commas."""
    servers, slash, topic = address.place.partition("/")
    if servers and slash and topic and "/" not in topic:
        return servers, topic
    raise InputError.of(
        "INK0515", f"`{address.text}` does not name a broker and a topic", helps=("write `kafka://host:port/topic`",)
    )
