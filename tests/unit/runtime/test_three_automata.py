"""Any number of automata of one scope on a stream, whatever the number of keys."""

from __future__ import annotations

import pytest

import inkling
from inkling.local_stream import LocalStream


@pytest.mark.parametrize("n_events", [1, 3, 5])
def test_their_state_is_kept_and_taken_up_again(n_events: int) -> None:
    events = "".join(
        f"EVENT e{i} AS PATTERN SEQ STRICT(V a[s = 'A'], V b[s = '{'BCDEF'[i]}']) PARTITION BY k PER END;"
        for i in range(n_events)
    )
    program = inkling.parse(f"STREAM V(id STRING, k INT, s STRING, t INT) ID id TIME t ORDER BY id;{events}")
    stream = program.open()
    first = [{"id": f"a{k:03}", "k": k, "s": "A", "t": 0} for k in range(70)]
    assert stream.push({"V": first}).n_results == 0
    stream = LocalStream.restore(program, stream.snapshot())
    second = [{"id": f"b{k:03}", "k": k, "s": "B", "t": 1} for k in range(70)]
    found = [stream.push({"V": second}), stream.finish()]
    assert [sum(len(one.tables[f"e{i}"]) for one in found) for i in range(n_events)] == [70, *[0] * (n_events - 1)]
