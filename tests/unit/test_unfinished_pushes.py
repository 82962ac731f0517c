"""A push that needs too much memory, or that Ctrl-C interrupts, ends the stream; a snapshot continues it."""

import resource
import signal
import threading

import numpy as np
import pyarrow as pa
import pytest

import inkling
from inkling.errors import InputError, ResourceError
from inkling.evaluators.interrupts import interrupts_by_name
from inkling.local_stream import LocalStream
from inkling.machine import used_bytes

IMPRECISE = inkling.parse("""
STREAM A(id INT, lo INT, hi INT) ID id TIME BETWEEN lo AND hi;
EVENT bomb AS PATTERN SEQ(A a, A b);
""")
PAIRS = inkling.parse("""
STREAM A(k INT, t INT) TIME t;
EVENT pair(a.k AS one, b.k AS other) AS PATTERN SEQ(A a, A b[k > a.k + 1000000000]);
""")


def imprecise(first: int, n: int) -> pa.Table:
    return pa.table(
        {"id": np.arange(first, first + n), "lo": np.arange(first, first + n), "hi": np.arange(n) + first + 3}
    )


@pytest.mark.slow
def test_a_push_stays_within_its_budget() -> None:
    stream = IMPRECISE.open(unbounded=True, memory=used_bytes() + 600_000_000)
    stream.push(imprecise(0, 6))
    before = used_bytes()
    with pytest.raises(ResourceError, match=r"INK0590.*`bomb` needs more memory than the run may take"):
        stream.push(imprecise(6, 30_000))
    assert used_bytes() - before < 700_000_000
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY
    with pytest.raises(InputError, match=r"INK0583.*an earlier push was not finished"):
        stream.push(imprecise(40_000, 1))


def test_a_snapshot_continues_after_a_push_that_was_interrupted() -> None:
    stream = PAIRS.open(unbounded=True)
    stream.push([{"k": 0, "t": 0}, {"k": 1, "t": 1}, {"k": 2, "t": 2}])
    kept = stream.snapshot()
    of_hours = pa.table({"k": np.arange(400_000), "t": np.arange(400_000) + 3})
    timer = threading.Timer(1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        stream.push(of_hours)
    timer.join()
    for later in (stream.finish, stream.snapshot, lambda: stream.push_event("A", {"k": 3, "t": 400_003})):
        with pytest.raises(InputError, match="INK0583"):
            later()
    again = LocalStream.restore(PAIRS, kept)
    again.push([{"k": 2_000_000_000, "t": 3}])
    found = again.finish()["pair"].select(["one", "other"]).to_pylist()
    assert sorted(one["one"] for one in found) == [0, 1, 2]
    assert {one["other"] for one in found} == {2_000_000_000}


def test_an_interrupt_has_one_name() -> None:
    returned = SystemError("a compiled loop returned a result with an exception set")
    returned.__cause__ = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt), interrupts_by_name():
        raise returned
    with pytest.raises(SystemError), interrupts_by_name():
        raise SystemError("of another kind")
