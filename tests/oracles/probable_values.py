"""Lahar's queries over probable values with `P[q at t]` at every time, as `probable_values.jsonl` lists them.

A line holds a query in Lahar's notation and its streams: independent rows, or a chain of tables of transitions.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inkling.model.schema import Column, StreamSchema
from inkling.model.types import Type
from inkling.model.uncertainty import ProbableValue

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("probable_values.jsonl").read_text().splitlines()
]


def queries_of(case: dict[str, Any], head: str = "x()") -> str:
    """The query file of a case: its streams, its relations, and the query under a head."""
    schemas, _ = streams_of(case)
    lines = [_declared(schema) for schema in schemas.values()]
    lines += [f"relation {name}({', '.join(facts[0])});" for name, facts in tables_of(case).items()]
    return "\n".join([*lines, f"{head} : {case['query']};"])


def _declared(schema: StreamSchema) -> str:
    assert isinstance(schema.uncertainty, ProbableValue)
    names = [column.name for column in schema.columns]
    n_keys = len(schema.key)
    columns = f"{', '.join(names[:n_keys])} | {', '.join(names[n_keys:])}"
    return f"stream {schema.name}({columns}) {'markov' if schema.uncertainty.given else 'independent'};"


def schema_of(kind: str, case: dict[str, Any]) -> StreamSchema:
    streams = [stream for stream in case["streams"] if stream["type"] == kind]
    n_values = max(len(value) for stream in streams for _, value in _values(stream))
    n_keys = case["keys"][kind]
    names = [f"c{place}" for place in range(n_keys + n_values)]
    given = tuple(f"previous_{name}" for name in names[n_keys:]) if "init" in streams[0] else ()
    return StreamSchema(
        kind,
        tuple(Column(name, Type.STRING) for name in names),
        id=None,
        key=tuple(names[:n_keys]),
        start="t",
        end="t",
        time_type=Type.INTEGER,
        uncertainty=ProbableValue("p", given),
    )


def _values(stream: dict[str, Any]) -> list[tuple[int, tuple[str, ...]]]:
    """Every time and value that a stream mentions; a tuple without values is `()`."""
    if "init" in stream:
        mentioned = [
            *stream["init"],
            *(target for step in stream["cpt"].values() for row in step.values() for target in row),
        ]
        return [(1, tuple(value.split(","))) for value in mentioned if value != "_"]
    return [(time, value) for time, value, _ in _alternatives(stream)]


def _alternatives(stream: dict[str, Any]) -> list[tuple[int, tuple[str, ...], str]]:
    found: list[tuple[int, tuple[str, ...], str]] = []
    for span, values in stream["rows"].items():
        first, _, last = span.partition("-")
        for time in range(int(first), int(last or first) + 1):
            if isinstance(values, str):
                found.append((time, (), values))
            else:
                found.extend((time, tuple(value.split(",")), prob) for value, prob in values.items())
    return found


def rows_of(stream: dict[str, Any], schema: StreamSchema, n_times: int) -> list[dict[str, object]]:
    names = [one.name for one in schema.columns][len(schema.key) :]
    key = dict(zip(schema.key, stream["key"], strict=True))

    def row(time: int, value: tuple[str, ...], prob: str, previous: str | None = None) -> dict[str, object]:
        before = [None] * len(names) if previous in (None, "_") else previous.split(",")
        given = {f"previous_{name}": one for name, one in zip(names, before, strict=True)}
        return {**key, "t": time, "p": prob, **dict(zip(names, value, strict=True)), **given}

    if "init" not in stream:
        return [row(time, value, prob) for time, value, prob in _alternatives(stream)]
    rows = [row(1, tuple(v.split(",")), prob) for v, prob in stream["init"].items() if v != "_"]
    for time in range(1, n_times):
        step = stream["cpt"].get(str(time), stream["cpt"].get("*", {}))
        for source, targets in step.items():
            rows += [row(time + 1, tuple(v.split(",")), prob, source) for v, prob in targets.items() if v != "_"]
    return rows


def streams_of(case: dict[str, Any]) -> tuple[dict[str, StreamSchema], dict[str, list[dict[str, object]]]]:
    """Declarations and rows of all streams, by name."""
    kinds = sorted({stream["type"] for stream in case["streams"]})
    schemas = {kind: schema_of(kind, case) for kind in kinds}
    rows: dict[str, list[dict[str, object]]] = {kind: [] for kind in kinds}
    for stream in case["streams"]:
        rows[stream["type"]] += rows_of(stream, schemas[stream["type"]], case["T"])
    return schemas, rows


def tables_of(case: dict[str, Any]) -> dict[str, list[dict[str, str]]]:
    """Facts of all relations, by name, with columns `c0`, `c1`, …"""
    return {
        name: [{f"c{place}": value for place, value in enumerate(fact)} for fact in facts]
        for name, facts in case.get("relations", {}).items()
    }
