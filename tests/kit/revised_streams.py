"""What must stand of streams whose rows come late and are withdrawn, worked out plainly.

The rows that came in time and the ids that were withdrawn in time are kept, and nothing else: what holds by now is what
the definition gives on the rows that are left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.kit.revisions import OP, Mode, Row, Step, end_of
from tests.kit.rows import Rows

from inkling.logical.plan import ProgramPlan
from inkling.model.event import Value
from inkling.model.schema import StreamSchema
from inkling.physical.planner import plan_program
from inkling.physical.streams import streams_behind

BEFORE, AFTER = -(10**9), 10**9
TWICE, UNKNOWN = "withdrawn twice", "nothing to withdraw"


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
        return min(latest[name] - self.streams[name].lateness - 1 if name in latest else BEFORE for name in awaited)


@dataclass(slots=True)
class Expected:
    """What a push must report besides results."""

    late: Counter[tuple[str, str]]  # stream and id
    rejected: Counter[tuple[str, str, str]]  # stream, id and reason, of withdrawals


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
        rejected: Counter[tuple[str, str, str]] = Counter()
        moved = dict(self.latest)
        for name, rows in step.rows.items():
            ends = [end for row in rows if (end := end_of(self._schemas[name], row)) is not None and row.get(OP) != "-"]
            if ends:
                moved[name] = max([*ends, self.latest.get(name, BEFORE)])
        idle = (self.idle | set(step.idle)) - {
            name
            for name, rows in step.rows.items()
            if any(row.get(OP) != "-" and end_of(self._schemas[name], row) is not None for row in rows)
        }
        for name, rows in step.rows.items():
            self._withdraw(name, [row for row in rows if row.get(OP) == "-"], moved, late, rejected)
            self._enter(name, [row for row in rows if row.get(OP) != "-"], late)
        self.latest, self.idle = moved, idle
        for time in self.times:
            time.move(self.latest, self.idle)
        self._expire(rejected)
        return Expected(late, rejected)

    def finish(self) -> Expected:
        for time in self.times:
            time.closed = time.settled = time.decided = AFTER
        rejected: Counter[tuple[str, str, str]] = Counter()
        self._expire(rejected)
        return Expected(Counter(), rejected)

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
            end = end_of(schema, row)
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
            end = end_of(schema, row)
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
        rejected: Counter[tuple[str, str, str]],
    ) -> None:
        schema, settled = self._schemas[name], self._most(name, "settled")
        seen: set[Value] = set()
        for row in rows:
            assert schema.id is not None
            identity = row[schema.id]
            if identity in self.withdrawn[name] or identity in seen:
                rejected[name, str(identity), TWICE] += 1
                continue
            seen.add(identity)
            known = [one for one in self.rows[name] if one[schema.id] == identity and end_of(schema, one) is not None]
            told = end_of(schema, row, is_event=False)
            end = end_of(schema, min(known, key=lambda one: _rank(schema, one))) if known else told
            if end is not None and end <= settled:
                late[name, str(identity)] += 1
                continue
            self.withdrawn[name].add(identity)
            due = moved.get(name, BEFORE) if told is None else told
            self._waiting[name].append((identity, due))

    def _expire(self, rejected: Counter[tuple[str, str, str]]) -> None:
        for name, waiting in self._waiting.items():
            schema = self._schemas[name]
            come = (
                {row[schema.id] for row in self.rows[name] if end_of(schema, row) is not None} if schema.id else set()
            )
            left = [(identity, due) for identity, due in waiting if identity not in come]
            settled = self._most(name, "settled")
            left = [(identity, self.latest.get(name, BEFORE) if due == BEFORE else due) for identity, due in left]
            over = [(identity, due) for identity, due in left if due <= settled and (due > BEFORE or settled == AFTER)]
            for identity, _ in over:
                rejected[name, str(identity), UNKNOWN] += 1
                self.withdrawn[name].discard(identity)
            self._waiting[name] = [one for one in left if one not in over]

    def _most(self, name: str, which: str) -> int:
        return max((getattr(time, which) for time in self.times if name in time.streams), default=BEFORE)


def _rank(schema: StreamSchema, row: Mapping[str, object]) -> tuple[object, ...]:
    """Rows with one id are compared by time and then column by column; nothing is more than any value."""
    values = [row.get(column.name) for column in schema.columns if column.name in row and column.name != OP]
    return (row[schema.start], row[schema.end], *((one is None, one if one is not None else 0) for one in values))
