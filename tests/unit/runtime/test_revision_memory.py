"""What is kept for revisions depends on how far back they reach, not on how long a stream has run."""

import numpy as np
import pyarrow as pa
from tests.kit.revision_streams import Arrivals, Disorder, arrivals, pairs

import inkling

EVENTS, PUSH, REACH = 16_000, 400, 1_000
OPTIONS = f"ID id KEY k TIME t LATENESS 100 TICKS SPECULATIVE OP op FOR {REACH} TICKS"
STREAMS = "".join(f"STREAM {name}(id BIGINT, k BIGINT, t BIGINT) {OPTIONS};" for name in "ABC")
PROGRAM = STREAMS + "EVENT found(k) AS PATTERN SEQ(A a, NOT C c, B b) WITHIN 50 TICKS PARTITION BY k;"


def arrived() -> dict[str, Arrivals]:
    disorder = Disorder(late=0.05, most_late=99, withdrawn=0.02, most_kept=REACH // 2)
    return {name: arrivals(rows, disorder, 3, name) for name, rows in pairs(EVENTS, 3, 0.1, 4).items()}


def sizes_and_net(program: inkling.Program, streams: dict[str, Arrivals]) -> tuple[list[int], int]:
    """Bytes that are kept after each push, and how many results stand in the end."""
    stream, sizes, net = program.open(unbounded=True), [], 0
    for first in range(0, EVENTS + REACH, PUSH):
        rows = {}
        for name, one in streams.items():
            begin, end = np.searchsorted(one.moments, [first, first + PUSH])
            rows[name] = one.rows.slice(begin, end - begin)
        found = stream.push(rows)
        assert (found.late.num_rows, found.rejects.num_rows) == (0, 0)
        net += signed(found["found"])
        sizes.append(len(stream.snapshot()))
    return sizes, net + signed(stream.finish()["found"])


def signed(table: pa.Table) -> int:
    ops = table["op"].to_pylist()
    return ops.count("+") - ops.count("-")


def test_it_stays_bounded_and_nothing_inside_the_window_is_missed() -> None:
    streams = arrived()
    program = inkling.parse(PROGRAM)
    sizes, net = sizes_and_net(program, streams)
    full = EVENTS // PUSH
    early, late = sizes[full // 8 : full // 4], sizes[full // 2 : full]
    assert max(late) <= 1.25 * max(early)
    corrected = program.run_local({name: one.rows for name, one in streams.items()})
    assert net == corrected.tables["found"].num_rows > 1_000
