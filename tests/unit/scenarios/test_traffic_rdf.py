"""The query of the example finds the pairs of reports that its generator counts, with the chance that both are true."""

import pytest

import inkling
from inkling.examples import FOLDER
from inkling.scenarios import scenario

pytestmark = pytest.mark.slow


def test_results_are_the_counted_pairs() -> None:
    source = scenario("traffic_rdf", events=900, seed=3)
    batches = [block["triple"] for block in source.blocks()]
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert len(rows) == 900
    program = inkling.load(FOLDER / "traffic_rdf" / "traffic_rdf.epsparql")
    found = program.run_local({"triple": rows}).tables["slow"].to_pylist()
    assert len(found) == source.truth().matches["slow"] > 100
    prob = {row["id"]: row["prob"] for row in rows}
    for row in found:
        first, second = row["lineage"]
        assert row["probability"] == pytest.approx(prob[first] * prob[second], abs=1e-12)
        assert row["method"] == "exact"
