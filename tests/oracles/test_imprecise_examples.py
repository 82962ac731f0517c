"""Examples whose times are not exact: what was put in is found, and probabilities are as often right as they say."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from inkling import load
from inkling.forecasting.calibration import calibrate
from inkling.results import Results
from inkling.scenarios import SCENARIOS, Scenario, Truth
from inkling.scenarios.scenario import HasVariants

EXAMPLES = Path(__file__).parents[2] / "examples"
SIZES = {"cluster": 20_000, "funnel": 3_000}
SEED = 3
WINDOW = 150  # ticks of maxed_out


@cache
def told(name: str) -> tuple[Results, Results, Results, Truth]:
    """What the program says of the record, what happened, what recorded times claim, and what was put in."""
    source = SCENARIOS[name](events=SIZES[name], keys=None, seed=SEED, start=None)
    assert isinstance(source, HasVariants)
    views = source.variants()
    answers = [
        load(EXAMPLES / name / program).run_local(drawn(view))
        for program, view in ((f"{name}.ink", source), ("certain.ink", views["true"]), ("certain.ink", views["naive"]))
    ]
    return answers[0], answers[1], answers[2], source.truth()


def drawn(source: Scenario) -> dict[str, pa.Table]:
    blocks = list(source.blocks())
    return {name: pa.Table.from_batches([block[name] for block in blocks]) for name in source.streams}


def matches(table: pa.Table) -> dict[tuple[str, ...], float]:
    ids = (tuple(map(str, row)) for row in table["lineage"].to_pylist())
    return dict(zip(ids, table["probability"].to_pylist(), strict=True))


EVENTS = [
    *(("cluster", event) for event in ("maxed_out", "strained_by_pull", "calm", "rising")),
    *(("funnel", event) for event in ("ordered", "abandoned")),
]


@pytest.mark.parametrize(("name", "event"), EVENTS)
def test_what_happens_is_possible_and_what_is_certain_happens(name: str, event: str) -> None:
    results, true, _, _ = told(name)
    said, happened = matches(results.tables[event]), set(matches(true.tables[event]))
    assert set(results.tables[event]["method"].unique().to_pylist()) == {"exact"}
    assert len(happened) > 10
    assert happened <= set(said)
    assert {match for match, probability in said.items() if probability == 1} <= happened
    assert all(0 < probability <= 1 for probability in said.values())


@pytest.mark.parametrize(("name", "event"), EVENTS)
def test_probabilities_are_as_often_right_as_they_say(name: str, event: str) -> None:
    results, true, _, _ = told(name)
    with_match = [
        table.append_column("match", pa.array([" ".join(map(str, row)) for row in table["lineage"].to_pylist()]))
        for table in (results.tables[event], true.tables[event])
    ]
    said, happened = with_match
    found = calibrate(said, happened, on=["match"])
    assert found.n_missed == 0
    assert found.lies_on_diagonal(significance=0.001)
    place = said.column_names.index("probability")
    distorted = said.set_column(place, "probability", pc.power(said["probability"], 3))
    assert not calibrate(distorted, happened, on=["match"]).lies_on_diagonal(significance=0.001)


@pytest.mark.parametrize(("name", "event"), EVENTS)
def test_recorded_times_claim_what_did_not_happen_and_miss_what_did(name: str, event: str) -> None:
    _, true, naive, _ = told(name)
    happened, claimed = set(matches(true.tables[event])), set(matches(naive.tables[event]))
    assert claimed - happened
    assert happened - claimed


def test_bursts_are_possible_results() -> None:
    """Those put in by recorded times; other tasks of a node may meet the same loads."""
    results, _, naive, truth = told("cluster")
    claimed = set(matches(naive.tables["maxed_out"]))
    assert len(claimed) >= truth.episodes["maxed_out"] > 10
    assert claimed <= set(matches(results.tables["maxed_out"]))


def test_a_burst_by_hand() -> None:
    """One task: its probability summed over all ticks of the four events."""
    program = load(EXAMPLES / "cluster" / "cluster.ink")
    log = [{"id": "s", "task": "x", "node": "n", "t": 105}]
    end = [{"id": "f", "task": "x", "node": "n", "t": 145}]
    cpu = [
        {"id": 1, "node": "n", "metric": "highest", "t": 125, "value": 97.0},
        {"id": 2, "node": "n", "metric": "mean", "t": 200, "value": 40.0},
    ]
    nothing = pa.table({name: pa.array([], pa.string()) for name in ("id", "pull", "node", "t")})
    given = {"TaskStart": log, "TaskFinish": end, "Cpu": cpu, "PullStart": nothing, "PullEnd": nothing}
    table = program.run_local(given).tables["maxed_out"]
    n_worlds, n_good = 0, 0
    for start in range(100, 111):
        for finish in range(140, 151):
            n_worlds += 151 * 151
            n_high = max(0, finish - start - 1)  # strictly between; the sample may be at any of these ticks
            n_low = max(0, min(275, start + WINDOW) - finish)
            n_good += n_high * n_low
    assert table["probability"].to_pylist() == pytest.approx([n_good / n_worlds])


def test_the_funnel_knows_its_truth() -> None:
    _, true, _, truth = told("funnel")
    assert true.tables["ordered"].num_rows == truth.episodes["ordered"]
