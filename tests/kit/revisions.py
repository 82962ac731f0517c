"""Random scripts for streams whose rows come late and are withdrawn: in which order rows come, and how they are cut."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.kit.rows import Rows

from inkling.logical.plan import ProgramPlan, StreamPlan
from inkling.meaning.streams import RawRow, plain
from inkling.model.event import Value
from inkling.model.schema import StreamSchema

Row = dict[str, Value]

OP = "op"
MOST_PIECES = 16


@dataclass(frozen=True, slots=True)
class Mode:
    """How rows of a stream may come: how late, whether anybody waits for them, how long they can be withdrawn."""

    lateness: int = 0
    speculative: bool = False
    window: int | None = None  # None: they cannot be withdrawn

    @property
    def options(self) -> str:
        late = f" LATENESS {self.lateness} TICKS{' SPECULATIVE' if self.speculative else ''}"
        op = "" if self.window is None else f" OP {OP} FOR {self.window} TICKS"
        return (late if self.lateness or self.speculative else "") + op

    @property
    def kept(self) -> int:
        return self.lateness if self.window is None else max(self.lateness, self.window)


WAITING = (Mode(), Mode(3))
REVISING = (
    Mode(3, speculative=True),
    Mode(20, speculative=True),
    Mode(0, window=4),
    Mode(2, window=20),
    Mode(0, speculative=True, window=20),
    Mode(4, speculative=True, window=6),
    Mode(20, speculative=True, window=20),
)


def random_modes(rng: random.Random, plan: ProgramPlan) -> dict[str, Mode]:
    """A mode for each stream; at least one of them lets the past change."""
    while True:
        same = rng.choice(REVISING) if rng.random() < 0.6 else None
        modes = {stream.schema.name: _mode(rng, stream, same) for stream in plan.streams}
        if any(mode.speculative or mode.window is not None for mode in modes.values()):
            return modes


def _mode(rng: random.Random, stream: StreamPlan, same: Mode | None) -> Mode:
    mode = same or rng.choice(WAITING + REVISING)
    if stream.schema.id is None and mode.window is not None:
        return Mode(mode.lateness, mode.speculative)
    return mode


def revising(text: str, modes: Mapping[str, Mode]) -> str:
    """The same program, whose streams have these modes."""

    def declared(found: re.Match[str]) -> str:
        mode = modes[found[1]]
        column = f"{OP} STRING, " if mode.window is not None else ""
        return f"STREAM {found[1]}({column}{found[2]}{mode.options};"

    return re.sub(r"STREAM (\w+)\(([^;]*);", declared, text)


@dataclass(frozen=True, slots=True)
class Step:
    """Rows that are pushed together, or streams of which is said that nothing comes for a while."""

    rows: Rows = field(default_factory=dict)
    idle: tuple[str, ...] = ()


def random_script(
    rng: random.Random, plan: ProgramPlan, rows: Mapping[str, Sequence[RawRow]], modes: Mapping[str, Mode]
) -> list[Step]:
    """Rows in an order that the lateness of their streams permits, with withdrawals anywhere, cut anywhere."""
    n_rows = sum(map(len, rows.values()))
    n_pieces = rng.choice((2, 3, 5, min(n_rows + 1, MOST_PIECES)))
    in_step = rng.random() < 0.6
    pieces: list[Rows] = [{} for _ in range(n_pieces)]
    ends = [end_of(one.schema, row) or 0 for one in plan.streams for row in rows.get(one.schema.name, ())]
    last = max(ends, default=0) + max(mode.lateness for mode in modes.values())
    for stream in plan.streams:
        schema, mode = stream.schema, modes[stream.schema.name]
        for row, at in _arrivals(rng, schema, rows.get(schema.name, ()), mode, n_pieces, last if in_step else None):
            pieces[at].setdefault(schema.name, []).append(row)
    pieces += [{} for _ in range(rng.choice((0, 2, 4)))]
    for stream in plan.streams:
        if modes[stream.schema.name].window is not None:
            _withdraw(rng, stream.schema, pieces)
    return list(_steps(rng, plan, pieces))


def _arrivals(
    rng: random.Random, schema: StreamSchema, rows: Sequence[RawRow], mode: Mode, n_pieces: int, last: int | None
) -> Iterator[tuple[Row, int]]:
    """Each row and the piece with which it comes; with `last`, streams come equally far with every piece."""
    delays = [(end_of(schema, row) or 0) + rng.randint(0, mode.lateness) for row in rows]
    places = list(range(len(rows)))
    rng.shuffle(places)
    places.sort(key=lambda place: delays[place])
    cuts = sorted(rng.randint(0, len(rows)) for _ in range(n_pieces - 1))
    for number, place in enumerate(places):
        row: Row = {name: plain(value) for name, value in rows[place].items()}
        if mode.window is not None:
            row[OP] = "+"
        if last is None:
            yield row, sum(cut <= number for cut in cuts)
        else:
            yield row, min(max(0, delays[place] * n_pieces // (last + 1)), n_pieces - 1)


def _withdraw(rng: random.Random, schema: StreamSchema, pieces: Sequence[Rows]) -> None:
    """Take back some events, at any moment; some twice, some before they come, some that never come."""
    assert schema.id is not None
    name = schema.name
    come = [(at, row) for at, piece in enumerate(pieces) for row in piece.get(name, ())]
    share = rng.choice((0.1, 0.3, 0.6))
    for at, row in come:
        if rng.random() < share:
            first = 0 if rng.random() < 0.1 else at if rng.random() < 0.2 else min(at + 1, len(pieces) - 1)
            when = rng.randint(first, len(pieces) - 1)
            _insert(rng, pieces[when], name, _withdrawal(rng, schema, row))
            if rng.random() < 0.15:
                _insert(rng, rng.choice(pieces), name, _withdrawal(rng, schema, row))
        if rng.random() < 0.05:
            _insert(rng, rng.choice(pieces), name, dict(row) | {"x": rng.randint(0, 3)})
    if come and rng.random() < 0.15:
        stranger = come[0][1] | {schema.id: _nobody(come[0][1][schema.id])}
        _insert(rng, rng.choice(pieces), name, _withdrawal(rng, schema, stranger))


def _withdrawal(rng: random.Random, schema: StreamSchema, row: Row) -> Row:
    """The id and the op; the rest may be there or not."""
    told = dict(row) if rng.random() < 0.5 else dict.fromkeys(row)
    assert schema.id is not None
    return told | {schema.id: row[schema.id], OP: "-"}


def _nobody(identity: Value) -> Value:
    """An id that no event has."""
    return "nobody" if isinstance(identity, str) else -1


def _insert(rng: random.Random, piece: Rows, name: str, row: Row) -> None:
    some = piece.setdefault(name, [])
    some.insert(rng.randint(0, len(some)), row)


def _steps(rng: random.Random, plan: ProgramPlan, pieces: Sequence[Rows]) -> Iterator[Step]:
    names = [stream.schema.name for stream in plan.streams]
    for piece in pieces:
        if rng.random() < 0.7:
            yield Step(piece)
        else:
            yield from (Step({name: some}) for name, some in piece.items())
        if rng.random() < 0.04:
            yield Step(idle=(rng.choice(names),))


def end_of(schema: StreamSchema, row: Mapping[str, object], *, is_event: bool = True) -> int | None:
    """When the event of a row ended; None if the row is no event, or does not tell."""
    start, end = row.get(schema.start), row.get(schema.end)
    if not isinstance(start, int) or not isinstance(end, int) or end < start:
        return None
    required = (*schema.key, schema.id, schema.order_by) if is_event else ()
    return None if any(row.get(name) is None for name in required if name is not None) else end
