"""Rows of small streams, written short.

>>> points("a1 b2")
{'A': [{'id': 'a1', 't': 1}], 'B': [{'id': 'b2', 't': 2}]}
>>> intervals("p[0,2] q[1,1]")["P"]
[{'id': 'p[0,2]', 'begun': 0, 'ended': 2}]
>>> word("ab")["V"][1]
{'id': '2', 't': 2, 'seq': 2, 's': 'b'}
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from inkling.model.event import Value

Rows = dict[str, list[dict[str, Value]]]

POINT = re.compile(r"([a-z]+)(\d+)")
INTERVAL = re.compile(r"([a-z]+\d*)\[(-?\d+),(-?\d+)\]")


def points(text: str) -> Rows:
    """`a1 b2`: an event of A at 1 and one of B at 2, with these words as ids."""
    rows: Rows = {}
    for token in text.split():
        found = POINT.fullmatch(token)
        assert found is not None, f"{token!r} is no letter with a time"
        rows.setdefault(found[1].upper(), []).append({"id": token, "t": int(found[2])})
    return rows


def intervals(text: str) -> Rows:
    """`p[0,2]`: an event of P on [0, 2], with this word as its id."""
    rows: Rows = {}
    for token in text.split():
        found = INTERVAL.fullmatch(token)
        assert found is not None, f"{token!r} is no letter with an interval"
        row: dict[str, Value] = {"id": token, "begun": int(found[2]), "ended": int(found[3])}
        rows.setdefault(found[1].upper(), []).append(row)
    return rows


def word(symbols: Iterable[str], stream: str = "V") -> Rows:
    """One event per symbol `s`, at times 1, 2, …, in the order of `seq`, with the time as id."""
    return {
        stream: [{"id": str(time), "t": time, "seq": time, "s": symbol} for time, symbol in enumerate(symbols, start=1)]
    }
