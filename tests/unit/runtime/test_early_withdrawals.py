"""Withdrawals that come before any row has told what times count."""

from __future__ import annotations

import pytest

from inkling import parse
from inkling.local_stream import LocalStream

PROGRAM = parse("""
STREAM A(id STRING, t TIMESTAMP, op STRING) ID id TIME t LATENESS 10 SECONDS SPECULATIVE OP op FOR 1 HOUR;
EVENT e AS PATTERN A;
""")
GONE = {"A": [{"id": "a", "t": None, "op": "-"}]}
ROWS = {"A": [{"id": one, "t": f"2024-01-01T00:00:0{n}Z", "op": "+"} for n, one in enumerate("ab")]}


@pytest.mark.parametrize("saved", [False, True])
def test_they_wait_for_their_events(saved: bool) -> None:
    stream = PROGRAM.open(unbounded=True)
    assert not len(stream.push(GONE).rejects)
    if saved:
        stream = LocalStream.restore(PROGRAM, stream.snapshot())
    assert [row["reason"] for row in stream.push(GONE).rejects.to_pylist()] == ["withdrawn twice"]
    if saved:
        stream = LocalStream.restore(PROGRAM, stream.snapshot())
    assert stream.push(ROWS)["e"]["lineage"].to_pylist() == [["b"]]
    assert not len(stream.finish().rejects)


def test_they_are_rejected_at_the_end() -> None:
    stream = PROGRAM.open(unbounded=True)
    stream.push(GONE)
    assert [row["reason"] for row in stream.finish().rejects.to_pylist()] == ["nothing to withdraw"]
