"""Trades that are told as rows come are, once everything is corrected, those that were put in."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from inkling import Found, load
from inkling.scenarios import generate, scenario

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).parents[3] / "examples" / "trades" / "trades.ink"
EVENTS, KEYS, SEED = 240, 4, 3
FEW = 3
"""Some minutes: what is taken back a quarter of an hour later was told."""


@pytest.mark.parametrize("chunk_rows", [FEW, 100])
def test_what_stands_in_the_end_is_the_truth(chunk_rows: int) -> None:
    stream = load(PROGRAM).open()
    *chunks, last = generate("trades", events=EVENTS, keys=KEYS, seed=SEED, chunk_rows=chunk_rows)
    told = sum((signs(stream.push(chunk)) for chunk in chunks), Counter[tuple[str, str]]())
    if chunk_rows == FEW:  # the last one has all that is told after the last offer
        cancelled, misbooked = (n_withdrawn(chunks, name) for name in ("Purchase", "Balance"))
        assert told["buy", "-"] == cancelled > 0
        assert told["big_trade", "-"] == cancelled + misbooked > cancelled
        assert told["undo_trade", "+"] == told["big_trade", "-"]
    told += signs(stream.push(last)) + signs(stream.finish())
    source = scenario("trades", events=EVENTS, keys=KEYS, seed=SEED)
    for _ in source.blocks():
        pass
    matches = source.truth().matches
    assert {name: told[name, "+"] - told[name, "-"] for name in matches} == matches


def signs(found: Found) -> Counter[tuple[str, str]]:
    assert (found.late.num_rows, found.rejects.num_rows) == (0, 0)
    return Counter((name, op) for name, table in found.tables.items() for op in table["op"].to_pylist())


def n_withdrawn(chunks: list[dict[str, pa.RecordBatch]], stream: str) -> int:
    return sum(chunk[stream]["op"].to_pylist().count("-") for chunk in chunks)
