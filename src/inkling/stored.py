"""The container of everything that inkling stores to read again: what it is, the version that wrote it, a checksum.

A container is 16 bytes and the contents:

    bytes 0-3    89 49 4E 4B, which is no text
    byte  4      what is stored, a number of `Stored`
    bytes 5-7    the format of the contents, major and minor version of the writer
    bytes 8-11   CRC-32 of the other bytes
    bytes 12-15  the length of the contents, modulo 2^32

Every change of a single bit is noticed, and of up to 32 adjacent ones; of other damage all but one in 2^32. So nothing
that was damaged reaches a parser or compiled code. A checksum does not protect from somebody who changes it, too.

>>> opened(sealed(b"contents", Stored.SNAPSHOT), Stored.SNAPSHOT).tobytes()
b'contents'
>>> opened(sealed(b"contents", Stored.SNAPSHOT)[:-1], Stored.SNAPSHOT)
Traceback (most recent call last):
    ...
inkling.errors.StoredError: error[INK0566]: this snapshot is damaged
   = note: its end is missing: 7 of 8 bytes are left
   = help: use an intact copy, or begin anew
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from importlib import import_module
from zlib import crc32

from inkling.errors import StoredError

FORMAT = 12
"""The format of all contents. It changes only with the minor version, so patch versions read each other's bytes."""

_MAGIC = b"\x89INK"
_HEADER = struct.Struct("<4sBBBBII")
_WHOLE = 2**32
_WITHOUT_CONTAINER = (b"INKSTRM", b'{"format":')


class Stored(Enum):
    """What a container holds; `words` name it in messages."""

    SNAPSHOT = 1, "snapshot"
    STATE = 2, "state of a running program"
    TABLE = 3, "stored table"
    DEFINITION = 4, "definition of a running program"
    MODEL = 5, "learned model"
    TOPICS = 6, "list of topics"
    MATCHES = 7, "list of current matches"
    FILTER = 8, "saved filter"

    def __init__(self, number: int, words: str) -> None:
        self.number, self.words = number, words


def sealed(contents: bytes | memoryview, what: Stored, *others: bytes | memoryview) -> bytes:
    """The container of the contents, which may be given in parts."""
    parts = (contents, *others)
    length = sum(len(part) for part in parts) % _WHOLE
    head = _HEADER.pack(_MAGIC, what.number, FORMAT, *_version(), 0, length)
    return b"".join([head[:8], _checksum(head, parts).to_bytes(4, "little"), head[12:], *parts])


def opened(data: bytes | memoryview, what: Stored, place: str | None = None) -> memoryview:
    """The contents of a container; `place` says in messages where the bytes are.

    Raises `StoredError` if the bytes are damaged, something else, or of another version.
    """
    view = memoryview(data)
    if len(view) < _HEADER.size or bytes(view[:4]) != _MAGIC:
        raise _no_container(bytes(view[:32]), what, place)
    _, kind, layout, major, minor, checksum, length = _HEADER.unpack_from(view)
    contents = view[_HEADER.size :]
    head = bytes(view[:8]) + b"\0\0\0\0" + bytes(view[12:16])
    if _checksum(head, (contents,)) != checksum:
        if len(contents) < length:
            raise damaged(what, place, f"its end is missing: {len(contents)} of {length} bytes are left")
        raise damaged(what, place, "its checksum does not fit its contents")
    if kind != what.number:
        found = next((one.words for one in Stored if one.number == kind), f"something of the kind {kind}")
        raise _not_a(what, place, f"it is a {found}")
    if layout != FORMAT:
        raise _other_version(what, place, f"inkling {major}.{minor}", layout)
    return contents


@contextmanager
def readable(what: Stored, place: str | None = None) -> Iterator[None]:
    """Contents with a valid checksum that cannot be read are reported like damaged ones."""
    try:
        yield
    except (
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        OverflowError,
        OSError,
        struct.error,
    ) as problem:
        reason = next(iter(str(problem).splitlines()), "") or type(problem).__name__
        raise damaged(what, place, f"its contents cannot be read: {reason[:200]}") from problem


def damaged(what: Stored, place: str | None, reason: str) -> StoredError:
    return StoredError.of(
        "INK0566", f"{_subject(what, place)} is damaged", notes=(reason,), helps=("use an intact copy, or begin anew",)
    )


def _no_container(begin: bytes, what: Stored, place: str | None) -> StoredError:
    if any(sign in begin for sign in _WITHOUT_CONTAINER):
        return _other_version(what, place, "an early inkling 0.1", None)
    if _MAGIC.startswith(begin[:4]):
        return damaged(what, place, f"its end is missing: only {len(begin)} bytes are left")
    return _not_a(what, place, "it does not begin like anything that inkling stores")


def _not_a(what: Stored, place: str | None, reason: str) -> StoredError:
    return StoredError.of(
        "INK0566",
        f"{'these bytes are' if place is None else f'`{place}` is'} no {what.words}",
        notes=(reason,),
        helps=("if it was one, it is damaged: use an intact copy, or begin anew",),
    )


def _other_version(what: Stored, place: str | None, writer: str, layout: int | None) -> StoredError:
    mine = ".".join(map(str, _version()))
    formats = f"the format {FORMAT}" if layout is None else f"the format {FORMAT}, not {layout}"
    return StoredError.of(
        "INK0567",
        f"{_subject(what, place)} was written by {writer}, and this is inkling {mine}",
        notes=(f"inkling {mine} reads {formats}; formats change only with the minor version",),
        helps=("continue with the version that wrote it, or begin anew",),
    )


def _subject(what: Stored, place: str | None) -> str:
    return f"this {what.words}" if place is None else f"the {what.words} in `{place}`"


def _checksum(head: bytes, parts: tuple[bytes | memoryview, ...]) -> int:
    found = crc32(head)
    for part in parts:
        found = crc32(part, found)
    return found


def _version() -> tuple[int, int]:
    major, minor, *_ = str(import_module("inkling").__version__).split(".")  # the package imports all its layers
    return int(major), int(minor)
