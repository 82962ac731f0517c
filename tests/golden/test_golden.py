"""Every stage of a program, from its text to its matches, as files that are read like code.

A case is a folder: `query.ink` and one CSV file per stream or table go in; the plans, the verdicts and the
matches come out. Plans and verdicts are compared with the files. Matches come from the definition, and the
runner must find the same: a snapshot of a wrong answer cannot be accepted. `make accept` rewrites the files.
"""

import csv
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.kit.expressions import same_value
from tests.kit.invariants import violations
from tests.kit.oracle import oracle

import inkling
from inkling.logical.plan import retracted_outputs
from inkling.meaning.semantics import Result
from inkling.meaning.streams import plain
from inkling.model.schema import Column
from inkling.model.terms import canonical
from inkling.model.time import Clock
from inkling.model.types import Type

HERE = Path(__file__).parent
CASES = sorted(path.parent.name for path in HERE.glob("*/query.ink"))
Match = dict[str, Any]
STAGES = ("logical", "rewritten", "verdicts", "physical")


@pytest.mark.parametrize("case", CASES)
def test_plans_and_verdicts_are_the_accepted_ones(case: str, accept: bool) -> None:
    program = inkling.load(HERE / case / "query.ink")
    assert program.warnings == ()
    assert violations(program.plan) == ()
    assert violations(program.rewritten.plan) == ()
    for stage in STAGES:
        compare(HERE / case / f"{stage}.txt", program.explain(stage) + "\n", accept)


@pytest.mark.parametrize("case", CASES)
def test_matches_are_those_of_the_definition(case: str, accept: bool) -> None:
    program = inkling.load(HERE / case / "query.ink")
    defined = list(defined_matches(program, HERE / case))
    lines = "".join(json.dumps(match) + "\n" for match in defined)
    compare(HERE / case / "matches.jsonl", lines, accept)
    found = program.run_local(stream_paths(program, HERE / case))
    assert found.rejects.num_rows == 0
    outputs = retracted_outputs(program.plan).values()
    assert found.tables.keys() == {*(event.name for event in program.plan.shown), *outputs}
    for event in program.plan.shown:
        names = [output.name for output in (*event.head, *event.returns)]
        expected = [match for match in defined if match["event"] == event.name]
        assert_same(rows_of(found.tables[event.name], names), expected)


@pytest.mark.parametrize("case", CASES)
def test_a_formatted_program_has_the_same_plan(case: str) -> None:
    program = inkling.load(HERE / case / "query.ink")
    assert inkling.parse(program.to_ink()).plan.events == program.plan.events


def compare(path: Path, text: str, accept: bool) -> None:
    if accept:
        path.write_text(text)
    assert path.read_text() == text, f"{path} differs; `make accept` rewrites it"


def stream_paths(program: inkling.Program, folder: Path) -> dict[str, Path]:
    return {stream.schema.name: folder / f"{stream.schema.name}.csv" for stream in program.plan.streams}


def defined_matches(program: inkling.Program, folder: Path) -> Iterator[Match]:
    """What the definition finds in the files of a case."""
    rows = {
        stream.schema.name: read_rows(folder / f"{stream.schema.name}.csv", stream.schema.columns)
        for stream in program.plan.streams
    }
    tables = {table.name: read_rows(folder / f"{table.name}.csv", table.columns) for table in program.plan.tables}
    clocks = {
        Clock.TIMESTAMP if isinstance(row[stream.schema.start], datetime) else Clock.TICKS
        for stream in program.plan.streams
        for row in rows[stream.schema.name]
    }
    (clock,) = clocks
    results = oracle(program.plan, rows, tables, clock)
    for event in program.plan.shown:
        names = [output.name for output in (*event.head, *event.returns)]
        yield from (as_match(result, names) for result in results[event.name])


def as_match(result: Result, names: list[str]) -> Match:
    return {
        "event": result.event,
        "values": dict(zip(names, result.values, strict=True)),
        "start": result.start,
        "end": result.end,
        "detected_at": result.detected_at,
        "lineage": list(result.lineage),
    }


def rows_of(table: pa.Table, names: list[str]) -> list[Match]:
    """Results of the runner in the form of the file, once the constant columns are checked."""
    found = []
    for row in table.to_pylist():
        assert (row["probability"], row["method"], row["error"], row["op"]) == (1.0, "exact", 0.0, "+")
        found.append(
            {
                "event": row["event"],
                "values": {name: plain(row[name]) for name in names},
                **{name: plain(row[name]) for name in ("start", "end", "detected_at")},
                "lineage": row["lineage"],
            }
        )
    return found


def assert_same(found: list[Match], expected: list[Match]) -> None:
    """Equal as sets of results; sums of doubles may differ in their last digits."""
    for one, other in zip(sorted(found, key=place), sorted(expected, key=place), strict=True):
        assert {**one, "values": None} == {**other, "values": None}
        assert one["values"].keys() == other["values"].keys()
        for name, value in one["values"].items():
            assert same_value(value, other["values"][name], ulps=4), (name, value, other["values"][name])


def place(match: Match) -> tuple[str, ...]:
    return tuple(repr(match[name]) for name in ("end", "start", "lineage", "values"))


def read_rows(path: Path, columns: tuple[Column, ...]) -> list[Match]:
    kinds = {column.name: column.type for column in columns}
    with path.open(newline="") as file:
        return [
            {name: read_value(text, kinds.get(name, Type.STRING)) for name, text in row.items()}
            for row in csv.DictReader(file)
        ]


def read_value(text: str, kind: Type) -> object:
    if text == "":
        return None
    match kind:
        case Type.INTEGER:
            return int(text)
        case Type.DOUBLE:
            return float(text)
        case Type.BOOLEAN:
            return {"true": True, "false": False}[text]
        case Type.TIME:
            return datetime.fromisoformat(text)
        case Type.TERM:
            return canonical(text)
        case _:
            return text
