"""Queries that operators on intervals answer, one text per shape of plan, and random rows with few worlds."""

from __future__ import annotations

import random
from collections.abc import Mapping

from tests.kit.rows import Rows

from inkling.model.event import Value

Row = dict[str, Value]

KEYS = {"R": ("k",), "S": ("k",), "T": ("k",), "W": ("k",), "RR": ("k", "j")}
VALUES = (1, 2)

PATTERNS = {
    "next": "R x0, S x1[k = x0.k], T x2",
    "next with a filter": "R x0, S x1[k = x0.k], T x2[v = 1]",
    "next of one key": "R x0, S x1[k = x0.k AND v = 2], T x2[k = 1]",
    "rejects": "R x0, S x1[k = x0.k], T x2) HAVING (x2.v = 1",
    "rejects of one key": "R x0, R x1[k = x0.k], T x2[k = 1]) HAVING (x2.v = 2",
    "repeated": "R x0, S x1[k = x0.k], T x2+",
    "repeated with rejects": "R x0, S x1[k = x0.k], T x2+ CHECK (x2.v = 1)",
    "two after": "R x0, S x1[k = x0.k], T x2, W x3",
    "two after, of one key": "R x0, R x1[k = x0.k], T x2[k = 1], W x3[k = 2]",
    "repeated inside": "R x0, R x1[k = x0.k], T x2+, W x3",
    "repeated twice": "R x0, R x1[k = x0.k], T x2+, W x3+ CHECK (x3.v = 2)",
    "values of values": "RR x0, RR x1[k = x0.k AND j = x0.j], S x2[k = x0.k], T x3",
    "values around": "RR x0, RR x1[k = x0.k AND j = x0.j], S x2[k = x0.k]",
    "a value that is the key": "R x0, S x1[k = x0.k AND v = x0.k], T x2",
    "any of a second key": "R x0, RR x1[k = x0.k], T x2",
    "repetition in the chain": "R x0, S x1[k = x0.k AND k = LAST(x1).k]+ CHECK (x1.v = 1), T x2",
    "covered": "R x0, R x1[k = x0.k], R x2",
    "covered with rejects": "R x0, R x1[k = x0.k], R x2) HAVING (x2.v = 1",
    "covered after another": "R x0, R x1[k = x0.k], T x2, T x3",
    "shared": "R x0, S x1[k = x0.k], R x2",
    "shared with a filter": "R x0, R x1[k = x0.k], R x2[v = 1]",
    "shared with rejects": "R x0, S x1[k = x0.k AND v = 1], S x2) HAVING (x2.v = 2",
    "shared and repeated": "R x0, R x1[k = x0.k], R x2+",
    "shared by two": "RR x0, RR x1[k = x0.k AND j = x0.j], RR x2[v = 1]",
}
"""Patterns by what is special about them; the first stages share a key, the last do not."""


def safe_program(rng: random.Random, pattern: str, per: str) -> str:
    """A program of one event, `q`, over streams of random kinds."""
    lines = []
    for name, key in KEYS.items():
        if f"{name} " in pattern.replace("RR ", "" if name != "RR" else "RR "):
            uncertainty = rng.choice((" PROBABILITY p", " PROBABILITY p", " PROBABILITY p GIVEN g", ""))
            columns = ", ".join(f"{column} BIGINT" for column in (*key, "v"))
            lines.append(f"STREAM {name}(t BIGINT, {columns}) KEY {', '.join(key)} TIME t{uncertainty};")
    if not any("PROBABILITY" in line for line in lines):
        return safe_program(rng, pattern, per)
    body = f"SEQ NEXT({pattern})"
    return "\n".join([*lines, f"EVENT q AS PATTERN {body} PER {per};"])


def safe_rows(rng: random.Random, kinds: Mapping[str, str], worlds: int, n_times: int = 5) -> Rows:
    """Rows of streams that are `independent`, a `chain` or `certain`, with about that many worlds at most."""
    maker = _Maker(rng, worlds)
    return {name: maker.rows(KEYS[name], kind, n_times) for name, kind in rng.sample([*kinds.items()], len(kinds))}


class _Maker:
    def __init__(self, rng: random.Random, worlds: int) -> None:
        self._rng, self._left = rng, worlds

    def rows(self, columns: tuple[str, ...], kind: str, n_times: int) -> list[Row]:
        rows: list[Row] = []
        for first in VALUES:
            for second in VALUES if len(columns) > 1 else (0,):
                if rows and self._rng.random() < 0.4:
                    continue
                key = dict(zip(columns, (first, second), strict=False))
                times = [time for time in range(1, n_times + 1) if self._rng.random() < 0.6]
                made = self._chain(times) if kind == "chain" else self._each(times, kind)
                rows += [{**key, **row} for row in made]
        return rows

    def _each(self, times: list[int], kind: str) -> list[Row]:
        if kind == "certain":
            return [{"t": time, "v": self._rng.choice(VALUES)} for time in times]
        return [
            {"t": time, "v": value, "p": p}
            for time in times
            for value, p in zip(self._rng.sample(VALUES, 2), self._chances(), strict=False)
        ]

    def _chances(self) -> list[float]:
        """In eighths; what is missing to 1 is that of no event."""
        if self._left < 2:
            return [1.0]
        one = self._rng.randint(1, 7)
        if self._rng.random() < 0.5 or self._left < 3:
            self._left //= 2
            return [one / 8] if self._rng.random() < 0.6 else [one / 8, 1 - one / 8]
        self._left //= 3
        other = self._rng.randint(0, 7 - one)
        return [one / 8, other / 8]

    def _chain(self, times: list[int]) -> list[Row]:
        rows: list[Row] = []
        possible: list[Value] = [None]
        for number, time in enumerate(times):
            anew = number == 0 or self._rng.random() < 0.15
            reached: list[Value] = []
            left = self._left
            for before in [None] if anew else possible:
                self._left = left
                chances = self._chances()
                values = self._rng.sample(VALUES, len(chances))
                rows += [{"t": time, "v": v, "p": p, "g": before} for v, p in zip(values, chances, strict=True)]
                reached += [v for v, p in zip(values, chances, strict=True) if p > 0]
                reached += [None] if sum(chances) < 1 else []
            possible = sorted(set(reached), key=str)
        return rows
