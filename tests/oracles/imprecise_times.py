"""Patterns over imprecise times with all of their results, as `imprecise_times.jsonl` lists them.

A line holds a pattern, its events and its results: ids, range of times, confidence.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from inkling.logical import plan as p
from inkling.model.schema import Column, StreamSchema
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("imprecise_times.jsonl").read_text().splitlines()
]
CERTAIN = [case for case in CASES if case["worlds"] == 1]

Signature = tuple[str, ...]


def imprecise(name: str) -> p.StreamPlan:
    schema = StreamSchema(
        name,
        (Column("id", Type.STRING), Column("k", Type.INTEGER)),
        id="id",
        key=(),
        start="lo",
        end="hi",
        time_type=Type.INTEGER,
        uncertainty=ImpreciseTime("lo", "hi", "weights"),
    )
    return p.StreamPlan(schema)


def rows_of(case: dict[str, Any]) -> dict[str, list[dict[str, object]]]:
    rows: dict[str, list[dict[str, object]]] = {}
    for name, kind, lo, hi, *more in case["events"]:
        weights = next((one for one in more if isinstance(one, list)), None)
        values = next((one for one in more if isinstance(one, dict)), {})
        rows.setdefault(kind, []).append({"id": name, "lo": lo, "hi": hi, "weights": weights, **values})
    for text in case["pattern"]:
        for kind in text.strip("!+").partition("@")[0].split("|"):
            rows.setdefault(kind, [])
    return rows


def expected(case: dict[str, Any]) -> dict[Signature, tuple[int, int, Fraction]]:
    """First and last time and the confidence of every result, by the ids of its events."""
    return {
        tuple(signature.replace("+", " ").split()): (lo, hi, Fraction(confidence))
        for signature, lo, hi, confidence in case["results"]
    }
