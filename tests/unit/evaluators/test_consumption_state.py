"""What a consumption policy keeps on a long stream: only what waits, and what stands in its way."""

from __future__ import annotations

import pyarrow as pa
import pytest

import inkling
from inkling.evaluators.stage.member import SPARE_ROWS
from inkling.local_stream import LocalStream

STREAMS = "\n".join(f"STREAM {name}(id BIGINT, k BIGINT, t BIGINT) ID id TIME t;" for name in "ABC")
N_KEYS, N_BATCHES, BATCH = 4, 20, 300


def pushes() -> list[dict[str, pa.Table]]:
    """A rises, B now and then and C hardly ever: most left sides never find a partner."""
    made = []
    for first in range(0, N_BATCHES * BATCH, BATCH):
        times = range(first, first + BATCH)
        made.append(
            {
                "A": pa.table({"id": list(times), "k": [t % N_KEYS for t in times], "t": list(times)}),
                "B": pa.table({"id": list(times)[::7], "k": [t % N_KEYS for t in times][::7], "t": list(times)[::7]}),
                "C": pa.table(
                    {"id": list(times)[::97], "k": [t % N_KEYS for t in times][::97], "t": list(times)[::97]}
                ),
            }
        )
    return made


def n_kept(stream: LocalStream) -> int:
    stages = (operator.evaluators["stage"] for operator in stream._state.operators)
    return sum(len(state.rows) for stage in stages for state in stage.evaluators)


@pytest.mark.parametrize(
    "clauses",
    [
        "SEQ(A a, B b[k = a.k], C c[k = b.k]) CONSUME RECENT",
        "SEQ(A a, B b[k = a.k], C c[k = b.k]) CONSUME CHRONOLOGICAL",
        "SEQ(A a, B b[k = a.k], C c[k = b.k]) WITHIN 200 TICKS CONSUME CHRONOLOGICAL KEEPING",
        "SEQ(A a, NOT C n[k = a.k], B b[k = a.k]) WITHIN 20 TICKS CONSUME RECENT KEEPING",
        "A a AND C c[k = a.k] CONSUME CHRONOLOGICAL",
    ],
)
def test_little_is_kept_of_a_long_stream(clauses: str) -> None:
    program = inkling.parse(f"{STREAMS} EVENT e AS PATTERN {clauses};")
    stream = program.open()
    found: list[tuple[int, ...]] = []
    most = 0
    for push in pushes():
        found += [tuple(row["lineage"]) for row in stream.push(push).tables["e"].to_pylist()]
        most = max(most, n_kept(stream))
    found += [tuple(row["lineage"]) for row in stream.finish().tables["e"].to_pylist()]
    rows = {name: [row for push in pushes() for row in push[name].to_pylist()] for name in "ABC"}
    whole = program.run_local({name: pa.Table.from_pylist(some) for name, some in rows.items()}).tables["e"]
    assert sorted(found) == sorted(tuple(row["lineage"]) for row in whole.to_pylist())
    assert found
    assert most <= 2 * (SPARE_ROWS + BATCH)


def test_keeping_without_a_limit_is_rejected() -> None:
    program = inkling.parse(f"{STREAMS} EVENT e AS PATTERN SEQ(A a, B b) CONSUME RECENT KEEPING;")
    with pytest.raises(inkling.InklingError, match="INK0605"):
        program.open()
