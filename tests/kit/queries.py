"""Random queries over probable streams with few worlds: sequences of next events of every class.

Streams are independent, chains or certain; keys have no, one or two columns; chances are sixths and eighths.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product

from tests.kit.rows import Rows

from inkling.model.event import Value

SHAPES = ("regular", "extended", "safe", "overlap", "unsafe")
VALUES = (1, 2)
LAST_TIME = 4

Row = dict[str, Value]


@dataclass(frozen=True, slots=True)
class QueryCase:
    """A program with one event, `q`, and rows of its streams."""

    shape: str
    text: str
    rows: Rows


@dataclass(frozen=True, slots=True)
class _Stream:
    name: str
    key: tuple[str, ...]
    has_value: bool
    kind: str  # independent, chain or certain

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.key, "v") if self.has_value else self.key

    @property
    def declaration(self) -> str:
        columns = "".join(f", {name} BIGINT" for name in self.columns)
        key = f" KEY {', '.join(self.key)}" if self.key else ""
        uncertainty = {"independent": " PROBABILITY p", "chain": " PROBABILITY p GIVEN g", "certain": ""}[self.kind]
        return f"STREAM {self.name}(t BIGINT{columns}){key} TIME t{uncertainty};"


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    stream: _Stream
    repeated: bool
    conditions: tuple[str, ...]
    check: str | None

    @property
    def text(self) -> str:
        tested = f"[{' AND '.join(self.conditions)}]" if self.conditions else ""
        check = f" CHECK ({self.check})" if self.check else ""
        return f"{self.stream.name} {self.name}{tested}{'+' if self.repeated else ''}{check}"


def random_query(
    rng: random.Random, shape: str | None = None, *, worlds: int = 48, per: str | None = None
) -> QueryCase:
    """A query of a shape that is meant to make it one of that class, with about that many worlds at most."""
    return _Maker(rng, shape or rng.choice(SHAPES)).case(worlds, per)


class _Maker:
    def __init__(self, rng: random.Random, shape: str) -> None:
        self._rng, self._shape = rng, shape
        self._streams = [self._stream(name) for name in "ABC"]
        self._parts: list[_Part] = []
        self._last = 0

    def case(self, worlds: int, per: str | None) -> QueryCase:
        rng = self._rng
        lengths = {"extended": (2, 2, 3), "safe": (2, 3, 3, 3), "overlap": (2, 3, 3, 3)}
        n = rng.choice(lengths.get(self._shape, (1, 2, 2, 2, 3, 3, 3, 4)))
        self._last = n - 1
        by_partition = self._shape == "extended" and rng.random() < 0.5
        for number in range(n):
            self._parts.append(self._part(number, by_partition))
        head = self._head(by_partition)
        having = self._having(self._parts)
        partition = " PARTITION BY k" if by_partition else ""
        per = per or rng.choice(("END", "END", "END", "VALUES"))
        pattern = f"{self._pattern()}{having}{partition} PER {per}"
        used = dict.fromkeys(part.stream for part in self._parts)
        if all(stream.kind == "certain" for stream in used):
            return _Maker(rng, self._shape).case(worlds, per)
        declared = "\n".join(stream.declaration for stream in used)
        rows = _Rows(rng, worlds).of([*used])
        return QueryCase(self._shape, f"{declared}\nEVENT q{head} AS PATTERN {pattern};", rows)

    def _stream(self, name: str) -> _Stream:
        rng = self._rng
        keyed = self._shape in ("extended", "safe", "overlap")
        key = rng.choice((("k",), ("k",), ("k",), ("k", "j")) if keyed else ((), ("k",), ("k",), ("k", "j")))
        kind = rng.choice(("independent", "independent", "chain", "certain"))
        has_value = kind == "chain" or not key or rng.random() < 0.75
        return _Stream(name, key, has_value, kind)

    def _part(self, number: int, by_partition: bool) -> _Part:
        rng, name = self._rng, f"x{number}"
        stream = rng.choice(self._streams)
        is_last = number == self._last
        if self._shape == "safe":
            stream = self._streams[2] if is_last else rng.choice(self._streams[:2])
        elif self._shape == "overlap" and is_last:
            stream = self._parts[-1].stream
        repeated = rng.random() < (0.25 if number else 0.08)
        conditions: list[str] = []
        if rng.random() < (0.35 if self._shape == "regular" else 0.15):
            conditions.append(self._local(stream))
        shares = {"extended": not by_partition, "safe": not is_last, "overlap": not is_last}.get(self._shape, False)
        if shares and number:
            conditions.append(f"k = {rng.choice(self._readable('k'))}")
        elif shares and repeated and rng.random() < 0.5:
            conditions.append(f"k = LAST({name}).k")
        if self._shape == "unsafe":
            conditions += self._compared(stream)
        check = None
        if repeated:
            conditions += self._looking_back(stream, name)
            check = self._check(stream, name)
        return _Part(name, stream, repeated, tuple(dict.fromkeys(conditions)), check)

    def _readable(self, column: str | None = None) -> list[str]:
        """Columns of earlier parts that are not repeated."""
        return [
            f"{part.name}.{one}"
            for part in self._parts
            for one in part.stream.columns
            if not part.repeated and column in (None, one)
        ] or [f"{self._parts[0].name}.k" if not self._parts[0].repeated else "1"]

    def _local(self, stream: _Stream, name: str = "") -> str:
        column = self._rng.choice(stream.columns)
        return f"{name}{column} {self._rng.choice(('=', '=', '<>', '<='))} {self._rng.choice(VALUES)}"

    def _compared(self, stream: _Stream) -> list[str]:
        earlier = [f"{part.name}.{one}" for part in self._parts for one in part.stream.columns if not part.repeated]
        last = [f"LAST({part.name}).{one}" for part in self._parts for one in part.stream.columns if part.repeated]
        found = []
        for _ in range(self._rng.choice((0, 1, 1, 1, 2))):
            if earlier + last:
                symbol = self._rng.choice(("=", "=", "=", "<>", "<", ">="))
                found.append(f"{self._rng.choice(stream.columns)} {symbol} {self._rng.choice(earlier + last)}")
        return found

    def _looking_back(self, stream: _Stream, name: str) -> list[str]:
        if self._shape == "regular" or self._rng.random() < 0.5:
            return []
        column = self._rng.choice(stream.columns)
        symbol = self._rng.choice(("=", ">=", "<>")) if self._shape == "unsafe" else "="
        return [f"{column} {symbol} LAST({name}).{column}"]

    def _check(self, stream: _Stream, name: str) -> str | None:
        draw = self._rng.random()
        if draw < 0.4:
            return self._local(stream, f"{name}.")
        column = self._rng.choice(stream.columns)
        if draw < 0.5 and self._shape == "unsafe":
            return f"{name}.{column} >= LAST({name}).{column}"
        earlier = [f"{part.name}.{one}" for part in self._parts for one in part.stream.columns if not part.repeated]
        if draw < 0.6 and self._shape == "unsafe" and earlier:
            return f"{name}.{column} <> {self._rng.choice(earlier)}"
        return None

    def _head(self, by_partition: bool) -> str:
        if self._rng.random() < 0.5 or self._shape != "extended" or self._parts[0].repeated:
            return ""
        return "(k)" if by_partition else f"({self._parts[0].name}.k AS k)"

    def _having(self, parts: list[_Part]) -> str:
        rng = self._rng
        single = [part for part in parts if not part.repeated]
        if not single or rng.random() < 0.7:
            return ""
        repeated = [part for part in parts[:-1] if part.repeated]
        if repeated and self._shape == "unsafe" and rng.random() < 0.3:
            one = rng.choice(repeated)
            return f" HAVING LAST({one.name}).{rng.choice(one.stream.columns)} = {rng.choice(VALUES)}"
        one = rng.choice(single)
        column = f"{one.name}.{rng.choice(one.stream.columns)}"
        if rng.random() < 0.7 or self._shape != "unsafe":
            return f" HAVING {column} {rng.choice(('=', '<>'))} {rng.choice(VALUES)}"
        other = rng.choice(single)
        return f" HAVING {column} <= {other.name}.{rng.choice(other.stream.columns)}"

    def _pattern(self) -> str:
        texts = [part.text for part in self._parts]
        if len(texts) == 1 and not self._parts[0].repeated:
            return texts[0]
        if len(texts) > 2 and self._rng.random() < 0.3:
            inner = self._rng.randint(2, len(texts) - 1)
            begun = f"(SEQ NEXT({', '.join(texts[:inner])}){self._having(self._parts[:inner])})"
            texts = [begun, *texts[inner:]]
        return f"SEQ NEXT({', '.join(texts)})"


class _Rows:
    """Rows of streams, uncertain while there are worlds left."""

    def __init__(self, rng: random.Random, worlds: int) -> None:
        self._rng, self._left = rng, worlds

    def of(self, streams: list[_Stream]) -> Rows:
        rng = self._rng
        rows: Rows = {stream.name: [] for stream in streams}
        last = rng.choice((3, LAST_TIME, LAST_TIME))
        keys = [(stream, key) for stream in streams for key in self._keys(stream)]
        n_uncertain = sum(stream.kind != "certain" for stream, _ in keys)
        worlds = self._left
        for stream, key in keys:
            self._left = max(2, round(worlds ** (1 / max(1, n_uncertain))))
            named = dict(zip(stream.key, key, strict=True))
            times = [time for time in range(1, last + 1) if rng.random() < 0.9]
            made = self._chain(times) if stream.kind == "chain" else self._groups(stream, times)
            rows[stream.name] += [{**named, **row} for row in made]
        for some in rows.values():
            rng.shuffle(some)
        return rows

    def _keys(self, stream: _Stream) -> list[tuple[int, ...]]:
        keys = [*product(VALUES, repeat=len(stream.key))]
        return self._rng.sample(keys, min(len(keys), self._rng.choice((1, 2, 2, 2))))

    def _groups(self, stream: _Stream, times: list[int]) -> list[Row]:
        rows: list[Row] = []
        for time in times:
            if stream.kind == "certain":
                n = self._rng.choice((0, 1, 1, 1, 2))
                rows += [{"t": time, **self._value(stream)} for _ in range(n)]
            elif stream.has_value:
                values = self._rng.sample((*VALUES, *((None,) if self._rng.random() < 0.1 else ())), 2)
                rows += [{"t": time, "v": v, "p": p} for v, p in zip(values, self._chances(2), strict=False)]
            else:
                rows += [{"t": time, "p": p} for p in self._chances(1)]
        return rows

    def _value(self, stream: _Stream) -> Row:
        if not stream.has_value:
            return {}
        return {"v": None if self._rng.random() < 0.08 else self._rng.choice(VALUES)}

    def _chances(self, most: int) -> list[float]:
        """Chances of alternatives; what is missing to 1 is that of no event."""
        rng = self._rng
        n = rng.choice((1, most))
        whole = rng.choice((6, 8))
        if self._left < 2 or rng.random() < 0.35:
            return [1.0]
        if n == 1:
            self._left //= 2
            return [rng.choice((*range(1, whole), *range(2, whole), 0)) / whole]
        one = rng.randint(1, whole - 2)
        other = whole - one if rng.random() < 0.5 or self._left < 3 else rng.randint(1, whole - one - 1)
        self._left //= 2 if one + other == whole else 3
        return [one / whole, other / whole]

    def _chain(self, times: list[int]) -> list[Row]:
        """Alternatives after every value that may have been before."""
        rows: list[Row] = []
        possible: set[Value] = {None}
        for time in times:
            starts_anew = time == times[0] or self._rng.random() < 0.12
            given = [None] if starts_anew else [*sorted(possible, key=str)]
            reached: set[Value] = set()
            left = self._left
            for before in given:
                self._left = left
                chances = self._chances(2)
                values = self._rng.sample(VALUES, len(chances))
                rows += [{"t": time, "v": v, "p": p, "g": before} for v, p in zip(values, chances, strict=True)]
                reached |= {v for v, p in zip(values, chances, strict=True) if p > 0}
                if sum(chances) < 1 - 1e-9:
                    reached.add(None)
            possible = reached
        return rows
