"""Uncertain events that are added over kept ones: results of a kept event count for them if all of their rows come
after the change, as the definition says of these rows alone; the kept event reports all of its results."""

from __future__ import annotations

import random

import pytest
from tests.kit.oracle import probable_oracle
from tests.kit.streams import Row
from tests.properties.replacing import replaced_at

import inkling
from inkling.evaluators.sampling import Sampling

FELT = "STREAM Felt(id STRING, k STRING, v BIGINT, t BIGINT, p DOUBLE) ID id KEY k TIME t PROBABILITY p;\n"
VAGUE = "STREAM Felt(id STRING, k STRING, v BIGINT, t BIGINT, hi BIGINT) ID id KEY k TIME BETWEEN t AND hi;\n"
KEPT = "EVENT pair(k) AS PATTERN SEQ(Felt a[v = 1], Felt b[v = 2]) WITHIN 6 TICKS PARTITION BY k;\n"
ADDED = "EVENT later(k) AS PATTERN SEQ(pair x, Felt c[v = 1]) WITHIN 9 TICKS PARTITION BY k;\n"
SAMPLING = Sampling(epsilon=0.05, delta=1e-6, seed=3)
CASES, CUT = 12, 3


def rows_of(rng: random.Random, *, vague: bool) -> list[Row]:
    rows = []
    for place, t in enumerate(sorted(rng.sample(range(14), 9))):
        row: Row = {"id": f"f{place}", "k": "a", "v": rng.choice((1, 2)), "t": t}
        rows.append({**row, "hi": t + rng.choice((0, 0, 1))} if vague else {**row, "p": rng.choice((0.5, 0.75, 1.0))})
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("stream", [FELT, VAGUE], ids=["alternatives", "imprecise"])
def test_results_that_span_a_change(stream: str) -> None:
    rng, n_across, n_later = random.Random(stream), 0, 0
    old, new = inkling.parse(stream + KEPT), inkling.parse(stream + KEPT + ADDED)
    for _ in range(CASES):
        rows = rows_of(rng, vague=stream == VAGUE)
        found, changed = replaced_at(rng, old, new, [("Felt", row) for row in rows], CUT, SAMPLING)
        assert (changed.kept, changed.started) == (("pair",), ("later",))
        border = max(int(str(row["t"])) for row in rows[:CUT])
        after = [row for row in rows if int(str(row["t"])) > border]
        whole, since = (probable_oracle(new.plan, {"Felt": some}) for some in (rows, after))
        for name, expected in (("pair", whole["pair"]), ("later", since["later"])):
            wanted = {str(one.lineage): float(one.probability) for one in expected}
            mine = {str(tuple(row["lineage"])): row["probability"] for row in found[name]}  # type: ignore[arg-type]
            for lineage in wanted.keys() | mine.keys():
                assert abs(wanted.get(lineage, 0) - mine.get(lineage, 0)) <= 2 * SAMPLING.epsilon, (name, lineage, rows)  # type: ignore[operator]
        n_later += len(since["later"])
        n_across += len(whole["later"]) > len(since["later"])
    assert n_across > 2
    assert n_later > 2
