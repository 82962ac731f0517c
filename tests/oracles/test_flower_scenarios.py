"""The flower example repeats the four afternoons, line by line.

What was written down there is found here as follows; everything else that the program could say must not be found.

| there | here |
|---|---|
| a position with rank and region | `located` |
| a request with its store's least rank; the same for every driver | `enriched`; `multiplied` |
| a driver is asked for a bid; a bid arrives | `bid_request`; `ranked_bid` |
| the assignment starts | `bids_closed` |
| the five best bids go to the store | `offer`, one result each |
| an assignment, by bid, by hand or by handover | `in_charge` |
| no choice in time | `no_choice_alert` |
| a fault is counted | `step` with `faulty`, here `faults` |
| a delivery is counted | `record` in which `n` rises, here `deliveries` |
| a rank rises or falls | `ranking_increase`, `ranking_decrease` |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.oracles.flower_scenarios import AFTERNOONS, Afternoon

from inkling import Program, parse

EXAMPLE = Path(__file__).parents[2] / "examples" / "flower" / "flower.ink"
COLUMNS = {
    "located": ("driver", "rank", "region"),
    "enriched": ("request", "store", "min_rank"),
    "multiplied": ("request", "driver"),
    "bid_request": ("request", "driver"),
    "ranked_bid": ("request", "driver"),
    "bids_closed": ("request", "store"),
    "no_bid_alert": ("request", "store"),
    "offer": ("request", "driver", "rank"),
    "no_choice_alert": ("request", "store"),
    "in_charge": ("request", "store", "driver"),
    "pick_up_alert": ("request", "driver"),
    "delivery_alert": ("request", "driver"),
    "faults": ("driver",),
    "deliveries": ("driver", "n"),
    "ranking_increase": ("driver", "rank"),
    "ranking_decrease": ("driver", "rank"),
    "improvement_note": ("driver",),
}


def program_of(afternoon: Afternoon) -> Program:
    """The example with the clocks and thresholds of a story."""
    text = EXAMPLE.read_text()
    for usual, told, times in (
        (r"\b2 MINUTES", f"{afternoon.bidding} SECONDS", 5),
        (r"\b1 MINUTES", f"{afternoon.choosing} SECONDS", 1),
        (r"\bn < 20\b", f"n < {afternoon.judged_after}", 1),
        (r"\bn = 20\b", f"n = {afternoon.judged_after}", 6),
    ):
        text, n_replaced = re.subn(usual, told, text)
        assert n_replaced == times
    return parse(text)


def rows_of(results: Mapping[str, pa.Table]) -> dict[str, list[dict[str, Any]]]:
    rows = {name: table.to_pylist() for name, table in results.items()}
    rows["faults"] = [row for row in rows["step"] if row["faulty"]]
    counted = {(row["driver"], row["n"]): row for row in rows["record"] if row["n"]}
    rows["deliveries"] = list(counted.values())
    return rows


@pytest.mark.parametrize("name", AFTERNOONS)
def test_what_was_written_down_is_found(name: str) -> None:
    afternoon = AFTERNOONS[name]
    inputs, over = afternoon.rows()
    program = program_of(afternoon)
    streams = {stream.schema.name: inputs.get(stream.schema.name, []) for stream in program.plan.streams}
    found = rows_of(program.run_local(streams, afternoon.tables()).tables)
    for event, columns in COLUMNS.items():
        in_time = [row for row in found[event] if row["end"] <= over]
        values = Counter(tuple(row[column] for column in columns) for row in in_time)
        assert values == Counter(afternoon.found.get(event, ())), event
    for event, expected in afternoon.later.items():
        later = [tuple(row[column] for column in COLUMNS[event]) for row in found[event] if row["end"] > over]
        assert later == list(expected)


@pytest.mark.parametrize("name", ["new york", "handed over"])
def test_rows_that_are_pushed_one_by_one_give_the_same(name: str) -> None:
    afternoon = AFTERNOONS[name]
    inputs, _ = afternoon.rows()
    program = program_of(afternoon)
    streams = {stream.schema.name: inputs.get(stream.schema.name, []) for stream in program.plan.streams}
    whole = program.run_local(streams, afternoon.tables()).tables
    stream = program.open(afternoon.tables(), unbounded=True)
    told = sorted((str(row["t"]), source, place) for source, rows in inputs.items() for place, row in enumerate(rows))
    pushed = [stream.push({source: [inputs[source][place]]}).tables for _, source, place in told]
    pushed.append(stream.finish().tables)
    for event, table in whole.items():
        rows = [row for tables in pushed for row in tables[event].to_pylist()]
        assert sorted(map(repr, rows)) == sorted(map(repr, table.to_pylist())), event
