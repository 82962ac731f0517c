"""Uncertain streams whose rows come late and are withdrawn: random scripts, and what must hold after every push.

What holds by then is what is said on a stream that only ever had the rows that are left: by operators that begin with
nothing, each up to the time that it has decided by now, and in the end by a run over all rows at once.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
from tests.kit.arrival import coming_by
from tests.kit.arrow import arrow_streams

from inkling import local
from inkling.analysis.clock import time_unit
from inkling.evaluators.sampling import Sampling
from inkling.io.rejects import NO_REJECTS
from inkling.knowledge.materialize import expression_context, known
from inkling.local_stream import Found
from inkling.logical.plan import ProgramPlan, StreamPlan
from inkling.model.batch import FOREVER, MatchBatch
from inkling.model.schema import Column
from inkling.model.time import Clock, Duration
from inkling.model.types import Type
from inkling.model.uncertainty import ProbableValue
from inkling.model.watermarks import NEVER, Watermarks
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import plan_program
from inkling.physical.streams import lateness_of, time_of
from inkling.program_files import ProgramFiles
from inkling.results import Results
from inkling.runtime.late import NO_LATE_ROWS
from inkling.runtime.operators.of_plan import Operators, normalizer_of
from inkling.runtime.operators.protocol import Emitted
from inkling.runtime.revision.replay import Revisable
from inkling.runtime.routing import RoutedRows
from inkling.runtime.stream import StreamProgram, StreamState

Row = dict[str, Any]
Rows = dict[str, list[Row]]
Said = Counter[str]

OP, OWN_ID = "op", "rid"
DIGITS = 9


@dataclass(frozen=True, slots=True)
class Mode:
    """How late rows may be, whether anybody waits for them, how long they can be withdrawn."""

    lateness: int = 0
    speculative: bool = False
    window: int | None = None  # None: they cannot be withdrawn


MODES = (
    Mode(4, speculative=True),
    Mode(0, window=1000),
    Mode(4, window=1000),
    Mode(6, speculative=True, window=1000),
    Mode(2, speculative=True, window=1000),
    Mode(3, speculative=True, window=6),
)


@dataclass(frozen=True, slots=True)
class Question:
    """A program whose streams all have ids, and rows of them."""

    plan: ProgramPlan
    rows: Rows
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    sampling: Sampling = field(default_factory=Sampling)

    @property
    def physical(self) -> PhysicalPlan:
        return plan_program(self.plan)

    @property
    def files(self) -> ProgramFiles:
        return ProgramFiles()

    def run(self, rows: Mapping[str, Sequence[Row]] | None = None) -> Results:
        """What is found in all rows at once."""
        given = arrow_streams(self.plan, self.rows if rows is None else rows)
        return local.run(self, given, self.tables, self.sampling)


def named(
    plan: ProgramPlan,
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    tables: Mapping[str, pa.Table] | None = None,
    sampling: Sampling | None = None,
) -> Question:
    """A program and rows, with ids for those that have none; alternatives of one event share theirs."""
    streams, found = [], {}
    for stream in plan.streams:
        schema, mine = stream.schema, [_plain(row) for row in rows.get(stream.schema.name, ())]
        if schema.id is None:
            mine = [{**row, OWN_ID: _name(stream, row, number)} for number, row in enumerate(mine)]
            stream = replace(
                stream, schema=replace(schema, id=OWN_ID, columns=(*schema.columns, Column(OWN_ID, Type.STRING)))
            )
        streams.append(stream)
        found[schema.name] = mine
    return Question(replace(plan, streams=tuple(streams)), found, tables or {}, sampling or Sampling())


def _plain(row: Mapping[str, Any]) -> Row:
    return {name: float(value) if isinstance(value, Fraction) else value for name, value in row.items()}


def _name(stream: StreamPlan, row: Row, number: int) -> str:
    schema = stream.schema
    if isinstance(schema.uncertainty, ProbableValue):
        return "/".join(str(row[name]) for name in (*schema.key, schema.start, schema.end))
    return str(number)


def revising(question: Question, modes: Mapping[str, Mode]) -> Question:
    """The same program, whose streams have these modes."""

    def changed(stream: StreamPlan) -> StreamPlan:
        mode = modes[stream.schema.name]
        late = _ticks(mode.lateness) if mode.lateness or mode.speculative else None
        op = {} if mode.window is None else {"op": OP, "op_for": _ticks(mode.window)}
        schema = replace(stream.schema, late=late, speculative=mode.speculative, **op)  # type: ignore[arg-type]
        return replace(stream, schema=schema)

    return replace(question, plan=replace(question.plan, streams=tuple(map(changed, question.plan.streams))))


def _ticks(n: int) -> Duration:
    return Duration(Fraction(n), "TICKS")


def random_modes(rng: random.Random, plan: ProgramPlan) -> dict[str, Mode]:
    """A mode for each stream; at least one of them lets the past change."""
    names = [stream.schema.name for stream in plan.streams]
    if rng.random() < 0.7:
        return dict.fromkeys(names, rng.choice(MODES))
    modes = {name: rng.choice((*MODES, Mode(), Mode(2))) for name in names}
    modes[rng.choice(names)] = rng.choice(MODES)
    return modes


def random_script(rng: random.Random, question: Question, modes: Mapping[str, Mode]) -> list[Rows]:
    """Rows in an order that the lateness of their streams permits, with withdrawals anywhere, cut anywhere."""
    n_pieces, n_more = rng.choice((2, 4, 7)), rng.choice((0, 1, 2))
    pieces: list[Rows] = [{} for _ in range(n_pieces + n_more)]
    schemas = [stream.schema for stream in question.plan.streams]
    last = max((row[coming_by(one)] for one in schemas for row in question.rows[one.name]), default=0)
    for schema in schemas:
        mode, comes = modes[schema.name], coming_by(schema)
        places: dict[str, int] = {}
        for row in rng.sample(question.rows[schema.name], len(question.rows[schema.name])):
            when = row[comes] + rng.randint(0, mode.lateness)
            place = min(max(0, when * n_pieces // (last + 1)), n_pieces - 1)
            places[row[schema.id or OWN_ID]] = place
            pieces[place].setdefault(schema.name, []).append(row | ({} if mode.window is None else {OP: "+"}))
        if mode.window is not None:
            share = rng.choice((0.1, 0.3, 0.5))
            for name, place in places.items():
                if rng.random() < share:
                    least = 0 if rng.random() < 0.1 and mode.window > 100 else place + 1
                    if least < len(pieces):
                        back = dict.fromkeys(question.rows[schema.name][0]) | {schema.id or OWN_ID: name, OP: "-"}
                        pieces[rng.randint(least, len(pieces) - 1)].setdefault(schema.name, []).append(back)
    return [piece for piece in pieces if piece]


class Standing:
    """The rows that hold by now."""

    def __init__(self, plan: ProgramPlan) -> None:
        self._schemas = {stream.schema.name: stream.schema for stream in plan.streams}
        self._rows: Rows = {name: [] for name in self._schemas}
        self._withdrawn: set[tuple[str, str]] = set()
        self._missed: set[tuple[str, str]] = set()

    def take(self, push: Rows, late: Sequence[Row]) -> None:
        """Rows and withdrawals, but for those that were reported as too late."""
        too_late = {(row["stream"], row["id"]) for row in late}
        taken_back = set()
        for name, rows in push.items():
            for row in rows:
                one = (name, str(row[self._schemas[name].id or OWN_ID]))
                if row.get(OP) == "-":
                    taken_back.add(one)
                else:
                    self._rows[name].append(row)
        self._withdrawn |= taken_back - too_late
        self._missed |= too_late - taken_back

    @property
    def rows(self) -> Rows:
        gone = self._withdrawn | self._missed
        return {
            name: [row for row in rows if (name, str(row[self._schemas[name].id or OWN_ID])) not in gone]
            for name, rows in self._rows.items()
        }


class Net:
    """What was told and not taken back; only what stands is ever taken back."""

    def __init__(self) -> None:
        self.said: Said = Counter()
        self.results: dict[str, list[Row]] = {}
        self.n_emitted = self.n_withdrawn = 0
        self.n_idle = 0  # corrections that say the same again

    def take(self, tables: Mapping[str, pa.Table]) -> None:
        for name, table in tables.items():
            told, withdrawn = ([row for row in table.to_pylist() if row["op"] == op] for op in "+-")
            standing = self.results.setdefault(name, [])
            for row in withdrawn:
                before = row | {"op": "+"}
                assert before in standing, f"{name} was never told: {row}"
                standing.remove(before)
            standing += told
            news, olds = (Counter(line(name, row) for row in some) for some in (told, withdrawn))
            self.said = self.said - olds + news
            self.n_idle += (news & olds).total()
            self.n_emitted += len(told)
            self.n_withdrawn += len(withdrawn)

    def tables(self) -> dict[str, pa.Table]:
        """All that holds."""
        return {name: pa.Table.from_pylist(rows) for name, rows in self.results.items()}


def lines(tables: Mapping[str, pa.Table]) -> Said:
    """Results without their ops, in words, and with rounded numbers."""
    return Counter(line(name, row) for name, table in tables.items() for row in table.to_pylist())


def line(name: str, row: Mapping[str, object]) -> str:
    return f"{name} {sorted((key, _rounded(value)) for key, value in row.items() if key != 'op')}"


def _rounded(value: object) -> object:
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return round(value, DIGITS) + 0.0 if isinstance(value, float) else value


class Revision:
    """A program that is pushed a script; what it said by now can be compared with what it should."""

    def __init__(self, question: Question, modes: Mapping[str, Mode]) -> None:
        self.question, self.modes, self.revising = question, modes, revising(question, modes)
        self._unit = time_unit(question.plan, dict.fromkeys(question.rows, Clock.TICKS))
        facts = known(question.plan, question.tables, self._unit)
        common = facts, expression_context(facts, self._unit), self._unit, question.sampling
        clocks = dict.fromkeys(question.rows, Clock.TICKS)
        self.live = StreamProgram(Operators(self.revising.physical, clocks, *common), Clock.TICKS)
        self._fresh = Operators(question.physical, clocks, *common)
        self._normalizers = {one.schema.name: normalizer_of(one, Clock.TICKS) for one in question.plan.streams}
        self.begin()

    def begin(self) -> None:
        """Nothing was pushed yet."""
        self.state: StreamState = self.live.start()
        self.net, self.standing = Net(), Standing(self.question.plan)
        self.rejects: list[Row] = []
        self.n_late = 0

    def push(self, push: Rows) -> None:
        plan = self.revising.plan
        some = replace(plan, streams=tuple(one for one in plan.streams if one.schema.name in push))
        self._take(push, *self.live.step(self.state, arrow_streams(some, push)))

    def finish(self) -> None:
        self._take({}, *self.live.step(self.state, {}, Watermarks(finished=True)))

    def through_bytes(self) -> None:
        self.state = self.live.from_bytes(self.live.to_bytes(self.state), self.state.n_read, self.state.newest)

    def _take(self, push: Rows, state: StreamState, emitted: Emitted) -> None:
        self.state = state
        self.net.take(Found(self.revising.plan, self.revising.physical, emitted, Clock.TICKS).tables)
        self.standing.take(push, emitted.late.to_pylist())
        self.rejects += emitted.rejects.to_pylist()
        self.n_late += len(emitted.late)

    def expected(self) -> Said:
        """What operators say that begin now, each up to the time that it has decided."""
        matches: dict[str, MatchBatch] = {}
        tables: dict[str, pa.Table] = {}
        derived: list[RoutedRows] = []
        _, *states = self.state.operators  # changelogs come first
        for operator, held in zip(self._fresh.chain().operators, states, strict=True):
            until = held.until if isinstance(held, Revisable) else operator.watermark(held)
            if until <= NEVER:
                continue
            parts, watermarks = self._left(until)
            mine = [part for part in (*parts, *derived) if part.stage == operator.address]
            _, emitted = operator.step(operator.start(), mine, watermarks)
            matches |= emitted.matches
            tables |= emitted.tables
            for sent in emitted.onward:
                derived += self._fresh.routes(sent.source, sent.rows)
        emitted = Emitted(NO_LATE_ROWS, NO_REJECTS, matches, tables)
        return lines(Found(self.question.plan, self.question.physical, emitted, Clock.TICKS).tables)

    def _left(self, until: int) -> tuple[list[RoutedRows], Watermarks]:
        """The rows that are left up to a time, and the watermarks of this time."""
        plan, fresh, rows = self.question.plan, self._fresh, {}
        left = arrow_streams(plan, self.standing.rows)
        for stream in plan.streams:
            name = stream.schema.name
            read = self._normalizers[name](left[name]).rows
            rows[name] = read.filter(pa.array(read[time_of(stream.schema)].to_numpy() <= until))
        over = {name: until + late + 1 for name, late in lateness_of(rows, plan, self._unit).items()}
        watermarks = Watermarks(over, finished=until >= FOREVER, roles=fresh.uncertain.watermarks(rows).roles)
        return [part for name, some in rows.items() for part in fresh.routes(name, some)], watermarks


def followed(rng: random.Random, revision: Revision, script: Sequence[Rows]) -> Iterator[None]:
    """A script step by step, and its end; now and then what is remembered goes through bytes."""
    revision.begin()
    for push in script:
        if rng.random() < 0.2:
            revision.through_bytes()
        revision.push(push)
        yield
    revision.finish()
    yield


def difference(expected: Said, found: Said) -> list[str]:
    return [
        *(f"  missing {n} {one}" for one, n in (expected - found).items()),
        *(f"  too many {n} {one}" for one, n in (found - expected).items()),
    ]


def together(question: Question, script: Sequence[Rows]) -> Rows:
    """All rows of a script, withdrawals as well."""
    return {name: [row for push in script for row in push.get(name, [])] for name in question.rows}
