"""Addresses of streams and outputs: a path, or `kind://place`, with options after `?`."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from inkling.errors import InputError, nearest
from inkling.masking import is_secret, remember, without_secrets

KINDS = ("kafka", "postgresql", "rate", "table")
_KIND = re.compile(rf"({'|'.join(KINDS)})://(.*)", re.DOTALL)
_OPTIONS = re.compile(r"(.*?)\?([\w.]+=[^&?]*(?:&[\w.]+=[^&?]*)*)", re.DOTALL)

_LOGIN = re.compile(r"[\w+.-]+://[^:/@?]*:(.*)@.*", re.DOTALL)


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
    """The parts of an address; options that name another place are read from there.

    >>> address_of("incoming?format=csv&maxFilesPerTrigger=1").options["format"]
    'csv'
    >>> address_of("kafka://localhost:9092/traffic").place
    'localhost:9092/traffic'
    """
    found = _OPTIONS.fullmatch(text)
    place, options = (text, "") if found is None else (found[1], found[2])
    kind = _KIND.fullmatch(place)
    shown = without_secrets(text)
    if login := _LOGIN.fullmatch(place):
        remember(login[1])
    settings: dict[str, str] = {}
    for pair in options.split("&") if options else ():
        name, _, given = pair.partition("=")
        value = _read(name, given, shown)
        if is_secret(name):
            remember(value)
        is_escaped = kind is not None and kind[1] == "postgresql" and value != given
        settings[name] = quote(value, safe="") if is_escaped else value
    return Address(shown, kind[1], kind[2], settings) if kind else Address(shown, "", place, settings)


def _read(name: str, value: str, address: str) -> str:
    """The value of an option, which `env:NAME` reads from the environment, and `file:PATH` from a file."""
    where, _, place = value.partition(":")
    match where:
        case "env" if place in os.environ:
            return os.environ[place]
        case "file":
            try:
                return Path(place).read_text(encoding="utf-8").rstrip("\r\n")
            except (OSError, UnicodeDecodeError) as problem:
                reason = getattr(problem, "strerror", None) or str(problem)
                raise _no_value(name, address, f"the file `{place}` cannot be read: {reason}") from None
        case "env":
            raise _no_value(name, address, f"there is no environment variable `{place}`")
        case _:
            return value


def _no_value(name: str, address: str, reason: str) -> InputError:
    return InputError.of(
        "INK0517",
        f"the option `{name}` of `{address}` has no value",
        notes=(reason,),
        helps=("`env:NAME` reads an option from the environment, and `file:PATH` from a file",),
    )


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
