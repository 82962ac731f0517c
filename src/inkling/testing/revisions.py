"""Streams whose rows come late and are withdrawn: random scripts, and what must be told after every push.

The reference keeps the rows that came in time and the ids that were withdrawn in time, and nothing else: what holds by
now is what the definition gives on the rows that are left.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from inkling.live.streams import streams_behind
from inkling.logical.plan import ProgramPlan, StreamPlan
from inkling.logical.streams import RawRow, plain
from inkling.model.event import Value
from inkling.model.schema import StreamSchema
from inkling.physical.planner import plan_program
from inkling.testing.rows import Rows

Row = dict[str, Value]

BEFORE, AFTER = -(10**9), 10**9
OP = "op"
TWICE, UNKNOWN, DUPLICATE = "withdrawn twice", "nothing to withdraw", "duplicate id"


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


MODES = (
    Mode(),
    Mode(3),
    Mode(3, speculative=True),
    Mode(0, window=4),
    Mode(2, window=20),
    Mode(20, speculative=True, window=20),
    Mode(4, speculative=True, window=6),
)


def random_modes(rng: random.Random, plan: ProgramPlan) -> dict[str, Mode]:
    """A mode for each stream; at least one of them lets the past change."""
    while True:
        same = rng.choice(MODES) if rng.random() < 0.5 else None
        modes = {stream.schema.name: _mode(rng, stream, same) for stream in plan.streams}
        if any(mode.speculative or mode.window is not None for mode in modes.values()):
            return modes


def _mode(rng: random.Random, stream: StreamPlan, same: Mode | None) -> Mode:
    mode = same or rng.choice(MODES)
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
    n_pieces = rng.choice((2, 3, 5, n_rows + 1))
    in_step = rng.random() < 0.6
    pieces: list[Rows] = [{} for _ in range(n_pieces)]
    last = max((_end(one.schema, row) or 0 for one in plan.streams for row in rows.get(one.schema.name, ())), default=0)
    for stream in plan.streams:
        schema, mode = stream.schema, modes[stream.schema.name]
        for row, at in _arrivals(rng, schema, rows.get(schema.name, ()), mode, n_pieces, last if in_step else None):
            pieces[at].setdefault(schema.name, []).append(row)
        if mode.window is not None:
            _withdraw(rng, schema, pieces)
    return list(_steps(rng, plan, pieces))


def _arrivals(
    rng: random.Random, schema: StreamSchema, rows: Sequence[RawRow], mode: Mode, n_pieces: int, last: int | None
) -> Iterator[tuple[Row, int]]:
    """Each row and the piece with which it comes; with `last`, streams come equally far with every piece."""
    delays = [(_end(schema, row) or 0) + rng.randint(0, mode.lateness) for row in rows]
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
            when = at if rng.random() < 0.3 else rng.randint(0 if rng.random() < 0.2 else at, len(pieces) - 1)
            _insert(rng, pieces[when], name, _withdrawal(rng, schema, row))
            if rng.random() < 0.15:
                _insert(rng, rng.choice(pieces), name, _withdrawal(rng, schema, row))
        if rng.random() < 0.05:
            _insert(rng, rng.choice(pieces), name, dict(row) | {"x": rng.randint(0, 3)})
    if come and rng.random() < 0.15:
        _insert(rng, rng.choice(pieces), name, _withdrawal(rng, schema, come[0][1] | {schema.id: "nobody"}))


def _withdrawal(rng: random.Random, schema: StreamSchema, row: Row) -> Row:
    """The id and the op; the rest may be there or not."""
    told = dict(row) if rng.random() < 0.5 else dict.fromkeys(row)
    assert schema.id is not None
    return told | {schema.id: row[schema.id], OP: "-"}


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


@dataclass(slots=True)
class _Time:
    """How far the streams behind a stage have come."""

    streams: Mapping[str, Mode]
    is_stage: bool = True
    closed: int = BEFORE
    settled: int = BEFORE
    decided: int = BEFORE

    def move(self, latest: Mapping[str, int], idle: set[str]) -> None:
        self.closed = max(self.closed, self._told(latest, idle, {name: one.lateness for name, one in self._all}))
        self.settled = max(self.settled, self._told(latest, idle, {name: one.kept for name, one in self._all}))
        self.decided = max(self.decided, self.closed, self._speculated(latest, idle))

    @property
    def _all(self) -> list[tuple[str, Mode]]:
        return list(self.streams.items())

    def _told(self, latest: Mapping[str, int], idle: set[str], held: Mapping[str, int]) -> int:
        heard = [name for name in held if name not in idle] or [name for name in held if name in latest]
        return min((latest[name] - held[name] - 1 if name in latest else BEFORE for name in heard), default=BEFORE)

    def _speculated(self, latest: Mapping[str, int], idle: set[str]) -> int:
        if not any(mode.speculative for mode in self.streams.values()):
            return BEFORE
        awaited = [name for name, mode in self._all if not mode.speculative and name not in idle]
        if not awaited:
            return max((latest[name] for name in self.streams if name in latest), default=BEFORE)
        return min(
            latest[name] - self.streams[name].lateness - 1 if name in latest else BEFORE for name in awaited
        )


@dataclass(slots=True)
class Expected:
    """What a push must report besides results."""

    late: Counter[tuple[str, str]]  # stream and id
    refused: Counter[tuple[str, str, str]]  # stream, id and reason, of withdrawals


class Reference:
    """What came in time, and what was withdrawn in time."""

    def __init__(self, plan: ProgramPlan, modes: Mapping[str, Mode]) -> None:
        self.plan, self.modes = plan, modes
        physical = plan_program(plan)
        self.times = [
            _Time({name: modes[name] for name in streams_behind(stage, physical)}) for stage in physical.stages
        ]
        read = {name for time in self.times for name in time.streams}
        self.times += [_Time({name: mode}, is_stage=False) for name, mode in modes.items() if name not in read]
        self.latest: dict[str, int] = {}
        self.idle: set[str] = set()
        self.rows: dict[str, list[Row]] = {stream.schema.name: [] for stream in plan.streams}
        self.withdrawn: dict[str, set[Value]] = {name: set() for name in self.rows}
        self._waiting: dict[str, list[tuple[Value, int]]] = {name: [] for name in self.rows}
        self._schemas = {stream.schema.name: stream.schema for stream in plan.streams}

    def take(self, step: Step) -> Expected:
        late: Counter[tuple[str, str]] = Counter()
        refused: Counter[tuple[str, str, str]] = Counter()
        moved = dict(self.latest)
        for name, rows in step.rows.items():
            ends = [end for row in rows if (end := _end(self._schemas[name], row)) is not None and row.get(OP) != "-"]
            if ends:
                moved[name] = max([*ends, self.latest.get(name, BEFORE)])
        idle = (self.idle | set(step.idle)) - {
            name
            for name, rows in step.rows.items()
            if any(row.get(OP) != "-" and _end(self._schemas[name], row) is not None for row in rows)
        }
        for name, rows in step.rows.items():
            self._withdraw(name, [row for row in rows if row.get(OP) == "-"], moved, late, refused)
            self._enter(name, [row for row in rows if row.get(OP) != "-"], late)
        self.latest, self.idle = moved, idle
        for time in self.times:
            time.move(self.latest, self.idle)
        self._expire(refused)
        return Expected(late, refused)

    def finish(self) -> Expected:
        for time in self.times:
            time.closed = time.settled = time.decided = AFTER
        refused: Counter[tuple[str, str, str]] = Counter()
        self._expire(refused)
        return Expected(Counter(), refused)

    def corrected(self, until: int = AFTER) -> Rows:
        """The rows that hold by now and ended by then; others leave a gap where rows are numbered as they come."""
        return {name: list(self._standing(name, until)) for name in self.rows}

    @property
    def decided(self) -> int | None:
        """The time up to which all stages have told what they know, if they agree."""
        found = {time.decided for time in self.times if time.is_stage}
        return found.pop() if len(found) == 1 else None

    @property
    def watermark(self) -> int | None:
        least = min(time.decided for time in self.times if time.is_stage)
        return None if least == BEFORE else least

    def _standing(self, name: str, until: int) -> Iterator[Row]:
        schema = self._schemas[name]
        least: dict[tuple[Value, ...], Row] = {}
        for number, row in enumerate(self.rows[name]):
            end = _end(schema, row)
            if end is None or end > until:
                if schema.id is None:
                    least[number,] = dict.fromkeys(row)
                continue
            if schema.id is None:
                least[number,] = row
            elif row[schema.id] not in self.withdrawn[name]:
                key = self._identity(schema, row)
                least[key] = min(least.get(key, row), row, key=lambda one: _rank(schema, one))
        yield from least.values()

    def _identity(self, schema: StreamSchema, row: Row) -> tuple[Value, ...]:
        assert schema.id is not None
        if self.modes[schema.name].window is not None:
            return (row[schema.id],)
        return (*(row[name] for name in schema.key), row[schema.start], row[schema.end], row[schema.id])

    def _enter(self, name: str, rows: Sequence[Row], late: Counter[tuple[str, str]]) -> None:
        schema = self._schemas[name]
        closed = self._most(name, "closed")
        for row in rows:
            end = _end(schema, row)
            if end is not None and end <= closed:
                late[name, str(row[schema.id] if schema.id else len(self.rows[name]) + 1)] += 1
                if schema.id is None:
                    self.rows[name].append(dict.fromkeys(row))
            else:
                self.rows[name].append(row)

    def _withdraw(
        self,
        name: str,
        rows: Sequence[Row],
        moved: Mapping[str, int],
        late: Counter[tuple[str, str]],
        refused: Counter[tuple[str, str, str]],
    ) -> None:
        schema, settled = self._schemas[name], self._most(name, "settled")
        seen: set[Value] = set()
        for row in rows:
            assert schema.id is not None
            identity = row[schema.id]
            if identity in self.withdrawn[name] or identity in seen:
                refused[name, str(identity), TWICE] += 1
                continue
            seen.add(identity)
            known = [one for one in self.rows[name] if one[schema.id] == identity and _end(schema, one) is not None]
            told = _end(schema, row, is_event=False)
            end = _end(schema, min(known, key=lambda one: _rank(schema, one))) if known else told
            if end is not None and end <= settled:
                late[name, str(identity)] += 1
                continue
            self.withdrawn[name].add(identity)
            due = moved.get(name, BEFORE) if told is None else told
            self._waiting[name].append((identity, due))

    def _expire(self, refused: Counter[tuple[str, str, str]]) -> None:
        for name, waiting in self._waiting.items():
            schema = self._schemas[name]
            come = {row[schema.id] for row in self.rows[name] if _end(schema, row) is not None} if schema.id else set()
            left = [(identity, due) for identity, due in waiting if identity not in come]
            settled = self._most(name, "settled")
            left = [(identity, self.latest.get(name, BEFORE) if due == BEFORE else due) for identity, due in left]
            over = [(identity, due) for identity, due in left if due <= settled and (due > BEFORE or settled == AFTER)]
            for identity, _ in over:
                refused[name, str(identity), UNKNOWN] += 1
                self.withdrawn[name].discard(identity)
            self._waiting[name] = [one for one in left if one not in over]

    def _most(self, name: str, which: str) -> int:
        return max((getattr(time, which) for time in self.times if name in time.streams), default=BEFORE)


def _end(schema: StreamSchema, row: Mapping[str, object], *, is_event: bool = True) -> int | None:
    """When the event of a row ended; None if the row is no event, or does not tell."""
    start, end = row.get(schema.start), row.get(schema.end)
    if not isinstance(start, int) or not isinstance(end, int) or end < start:
        return None
    required = (*schema.key, schema.id, schema.order_by) if is_event else ()
    return None if any(row.get(name) is None for name in required if name is not None) else end


def _rank(schema: StreamSchema, row: Row) -> tuple[object, ...]:
    """Rows with one id are compared by time and then column by column; nothing is more than any value."""
    values = [row.get(column.name) for column in schema.columns if column.name in row and column.name != OP]
    return (row[schema.start], row[schema.end], *((one is None, one if one is not None else 0) for one in values))
