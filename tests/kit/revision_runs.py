"""Scripts of late and withdrawn rows pushed to a program, and whether what it tells is right after every push."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from tests.kit.arrow import arrow_streams
from tests.kit.comparison import differences
from tests.kit.oracle import oracle
from tests.kit.revised_streams import AFTER, BEFORE, TWICE, UNKNOWN, Expected, Reference
from tests.kit.revisions import Mode, Step
from tests.kit.rows import Rows

from inkling.analysis.bounds.lag import settled_after
from inkling.local_stream import Found, LocalStream
from inkling.logical.plan import Per, ProgramPlan, Quantified
from inkling.meaning.semantics import Result
from inkling.model.time import FOREVER, Duration
from inkling.model.watermarks import Watermarks
from inkling.query import Program

Shown = tuple[tuple[str, object], ...]
Wanted = Callable[[Reference, int], Mapping[str, Iterable[Mapping[str, object]]]]


@dataclass(slots=True)
class Told:
    """What holds by what was told: everything with `+` that was not taken back with `-`."""

    standing: dict[str, Counter[Shown]] = field(default_factory=dict)
    n_withdrawn: int = 0

    def take(self, tables: Mapping[str, pa.Table]) -> None:
        for name, table in tables.items():
            standing = self.standing.setdefault(name, Counter())
            for row in table.to_pylist():
                shown = _shown(row)
                if row["op"] == "+":
                    standing[shown] += 1
                    continue
                assert row["op"] == "-", row
                assert standing[shown] > 0, f"{name} is withdrawn and was not told: {row}"
                standing[shown] -= 1
                self.n_withdrawn += 1

    def rows(self) -> dict[str, list[dict[str, object]]]:
        return {
            name: [dict(shown) for shown, count in standing.items() for _ in range(count)]
            for name, standing in self.standing.items()
        }


def _shown(row: Mapping[str, object]) -> Shown:
    """All public columns but the op."""
    return tuple(
        (name, tuple(value) if isinstance(value, list) else value) for name, value in row.items() if name != "op"
    )


@dataclass(slots=True)
class Run:
    """What happened in a run."""

    n_checks: int = 0
    n_results: int = 0
    n_withdrawn: int = 0
    n_late: int = 0
    rejected: Counter[str] = field(default_factory=Counter)


def follow(
    rng: random.Random,
    program: Program,
    tables: Mapping[str, pa.Table],
    modes: Mapping[str, Mode],
    script: Sequence[Step],
    wrong: Callable[[Reference, int, Told], list[str]],
) -> Run:
    """Push a script; fail where anything that is told is not what the rows that stand then give.

    `wrong` says what is not as it must be up to a time. Now and then the state goes through a snapshot.
    """
    reference, told, run = Reference(program.plan, modes), Told(), Run()
    stream = program.open(tables, unbounded=True)
    for number, step in enumerate([*script, None]):
        if rng.random() < 0.15:
            stream = LocalStream.restore(program, stream.snapshot(), tables)
        if step is None:
            found, expected = stream.finish(), reference.finish()
        elif step.idle:
            found, expected = stream.idle(*step.idle), reference.take(step)
        else:
            given = arrow_streams(program.plan, step.rows)
            found, expected = stream.push({name: given[name] for name in step.rows}), reference.take(step)
        told.take(found.tables)
        _same_reports(found, expected)
        run.n_late += len(expected.late)
        run.rejected.update(reason for _, _, reason in expected.rejected.elements())
        until = reference.decided
        if step is not None and stream.watermark is not None:
            assert stream.watermark == reference.watermark, (number, stream.watermark, reference.watermark)
        if until is None or until == BEFORE:
            continue
        problems = wrong(reference, until, told)
        run.n_checks += 1
        assert not problems, "\n".join([f"after push {number}, up to {until}", *problems])
    run.n_withdrawn = told.n_withdrawn
    run.n_results = sum(standing.total() for standing in told.standing.values())
    return run


def _same_reports(found: Found, expected: Expected) -> None:
    late = {(row["stream"], row["id"]) for row in found.late.to_pylist()}
    assert late == set(expected.late), f"late: {late}, expected {expected.late}"
    rejected = Counter(
        (row["stream"], row["id"], row["reason"])
        for row in found.rejects.to_pylist()
        if row["reason"] in (TWICE, UNKNOWN)
    )
    assert rejected == expected.rejected, f"rejected: {rejected}, expected {expected.rejected}"


class ByDefinition:
    """Compares with the definition on the rows that stand; datasets that share nothing are looked at one by one."""

    def __init__(self, plan: ProgramPlan, tables: Rows) -> None:
        """The plan is that of the program without late rows and withdrawals."""
        self._plan, self._tables = plan, tables
        self._held = {event.name: _held(event.name, plan) for event in plan.events}
        self._known: dict[str, dict[str, tuple[Result, ...]]] = {}
        self.n_results = 0

    def __call__(self, reference: Reference, until: int, told: Told) -> list[str]:
        wanted: dict[str, list[Result]] = {name: [] for name in self._held}
        for rows in by_dataset(reference.corrected(until)).values():
            for name, results in self._results(rows).items():
                held = 0 if until == AFTER else self._held[name]
                wanted[name] += [one for one in results if one.detected_at + held <= until]
        self.n_results += sum(map(len, wanted.values()))
        return differences(self._plan, wanted, told.rows())

    def _results(self, rows: Rows) -> dict[str, tuple[Result, ...]]:
        key = repr(rows)
        if key not in self._known:
            self._known[key] = oracle(self._plan, rows, self._tables)
        return self._known[key]


def _held(name: str, plan: ProgramPlan) -> int:
    """How long after it is known a result is told."""
    event = plan.event(name)
    assert event is not None
    if event.per is Per.VALUES or isinstance(event.pattern, Quantified):
        return FOREVER
    return settled_after(event, plan, _ticks)


def _ticks(span: Duration) -> int:
    assert span.unit == "TICKS"
    return int(span.amount)


def by_dataset(rows: Rows) -> dict[str, Rows]:
    """Rows of datasets that were packed, by dataset; what was not packed is one."""
    found: dict[str, Rows] = {}
    for name, some in rows.items():
        for row in some:
            number, colon, _ = str(row.get("k")).partition(":")
            found.setdefault(number if colon else "", {}).setdefault(name, []).append(row)
    return found


class ByFreshRun:
    """Compares with what the program says that neither waits nor corrects, given the rows that stand, in order."""

    def __init__(self, program: Program, tables: Mapping[str, pa.Table]) -> None:
        """The program has streams without lateness and withdrawals."""
        self._program, self._tables = program, tables

    def __call__(self, reference: Reference, until: int, told: Told) -> list[str]:
        rows = reference.corrected(until)
        stream = self._program.open(self._tables, unbounded=True)
        fresh = Told()
        fresh.take(stream.push(arrow_streams(self._program.plan, rows)).tables)
        if until == AFTER:
            fresh.take(stream.finish().tables)
        elif stream.watermark is not None or any(rows.values()):
            fresh.take(stream._step({}, Watermarks(dict.fromkeys(rows, until + 1))).tables)
        return [
            f"{sign} {name} {shown}"
            for name in fresh.standing.keys() | told.standing.keys()
            for sign, one, other in (("-", fresh, told), ("+", told, fresh))
            for shown in (one.standing.get(name, Counter()) - other.standing.get(name, Counter())).elements()
        ]
