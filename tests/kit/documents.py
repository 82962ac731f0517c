"""Pages of documentation as things that can be run: their code blocks, and small streams written short.

>>> [(one.language, one.name, one.text) for one in blocks("Text\\n```ink a.ink\\nEVENT e;\\n```\\n")]
[('ink', 'a.ink', 'EVENT e;\\n')]
>>> example("a1{x=3} b2\\n=> a1 b2 on [1,2]\\n").results
(ExpectedResult(lineage=('a1', 'b2'), interval=(1, 2), values={}),)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from inkling.model.event import Value

FENCE = re.compile(r"^```(\w+)(?: +(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EVENT = re.compile(r"([a-z])(?:(\d+)'*|\[(\d+),(\d+)\])(?:\{(.*?)\})?$")
RESULT = re.compile(r"=> (?P<lineage>[^(]*?)(?: on \[(?P<start>\d+),(?P<end>\d+)\])?(?: \((?P<values>.*)\))?")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the file name after it if any, its text and its line."""

    language: str
    name: str | None
    text: str
    line: int


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page in their order."""
    for found in FENCE.finditer(page):
        yield Block(found[1], found[2], found[3], page.count("\n", 0, found.start()) + 1)


@dataclass(frozen=True, slots=True)
class ExpectedResult:
    lineage: tuple[str, ...]
    interval: tuple[int, int] | None = None
    values: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Example:
    """Streams with their rows, the statements that declare them, and the results to be found there."""

    declarations: str
    rows: dict[str, list[dict[str, Value]]]
    results: tuple[ExpectedResult, ...]


def example(text: str) -> Example:
    """`a1 b2`: an event of A at 1 and one of B at 2; `p[0,4]` lasts; `a1{x=3}` has a column x.

    Lines that start with `=>` say what a result depends on, and maybe `on` which interval and (with which values).
    """
    data, expected = _parted(text)
    events = [_event(token) for token in data.split()]
    rows: dict[str, list[dict[str, Value]]] = {}
    for stream, row in events:
        rows.setdefault(stream, []).append(row)
    columns: dict[str, str] = {}
    for _, row in events:
        columns.update({name: _type(value) for name, value in row.items() if name not in ("id", "t", "till")})
    lasting = any("till" in row for _, row in events)
    for one in (row for _, row in events if lasting):
        one.setdefault("till", one["t"])
    listed = ", ".join(["id STRING", *(f"{name} {kind}" for name, kind in columns.items())])
    key = " KEY k" if "k" in columns else ""
    time = "TIME FROM t TO till" if lasting else "TIME t"
    till = ", till BIGINT" if lasting else ""
    declarations = [f"STREAM {stream}({listed}, t BIGINT{till}) ID id{key} {time};" for stream in "ABCDEFGHPQR"]
    for name in (stream for stream in "ABCDEFGHPQR" if stream not in rows):
        rows[name] = []
    return Example("\n".join(declarations), rows, tuple(_result(line) for line in expected))


def word(text: str) -> Example:
    """`A B C`: events of the totally ordered stream V with these values of `s`, at times 1, 2, 3 …"""
    data, expected = _parted(text)
    rows: list[dict[str, Value]] = []
    for number, token in enumerate(data.split(), start=1):
        symbol, _, speed = token.partition(":")
        rows.append({"id": str(number), "k": "v", "s": symbol, "speed": float(speed or 0), "t": number})
    declaration = "STREAM V(id STRING, k STRING, s STRING, speed DOUBLE, t BIGINT) ID id KEY k TIME t ORDER BY t;"
    return Example(declaration, {"V": rows}, tuple(_result(line) for line in expected))


def _parted(text: str) -> tuple[str, list[str]]:
    lines = text.strip().splitlines()
    expected = [line for line in lines if line.startswith("=>")]
    return " ".join(line for line in lines if line not in expected), [line for line in expected if line != "=> none"]


def _event(token: str) -> tuple[str, dict[str, Value]]:
    found = EVENT.match(token)
    assert found is not None, f"{token!r} is no event"
    row: dict[str, Value] = {"id": token.partition("{")[0]}
    for pair in filter(None, (found[5] or "").split(",")):
        name, _, value = pair.partition("=")
        row[name] = _value(value)
    row["t"] = int(found[2] or found[3])
    if found[4] is not None:
        row["till"] = int(found[4])
    return found[1].upper(), row


def _value(text: str) -> Value:
    if text in ("", "NULL"):
        return None
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d+\.\d+", text) else text


def _type(value: Value) -> str:
    if isinstance(value, str):
        return "STRING"
    return "DOUBLE" if isinstance(value, float) else "BIGINT"


def _result(line: str) -> ExpectedResult:
    found = RESULT.fullmatch(line)
    assert found is not None, f"{line!r} is no result"
    interval = (int(found["start"]), int(found["end"])) if found["start"] else None
    values = dict(pair.split("=") for pair in found["values"].split(", ")) if found["values"] else {}
    return ExpectedResult(
        tuple(found["lineage"].split()), interval, {name: _value(value) for name, value in values.items()}
    )
