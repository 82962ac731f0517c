"""Probabilities of the warehouse are what they say: of results given p, the share p really happened."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from inkling import load
from inkling.evaluators.sampling import Sampling
from inkling.forecasting.calibration import calibrate
from inkling.scenarios import write

EXAMPLE = Path(__file__).parents[2] / "examples" / "mixed"
STREAMS = ("Seen", "Pickup", "Door")
EVENTS = ("loaded", "left_behind", "through_open_door", "loaded_at_second_try")
KEY = ["shift", "pallet"]
TRACKED_STREAMS = ("Forklift", "Pickup")


@dataclass(frozen=True)
class Told:
    """Results by event: of the program, of what really happened, and of streams taken for certain."""

    results: dict[str, pa.Table]
    true: dict[str, pa.Table]
    naive: dict[str, pa.Table]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("mixed")
    write("mixed", folder, events=6_000, seed=11)
    return run("mixed.ink", "certain.ink", folder, STREAMS)


def run(uncertain_program: str, taken_for_certain: str, folder: Path, streams: tuple[str, ...]) -> Told:
    def paths(view: Path) -> dict[str, Path]:
        return {name: view / f"{name}.parquet" for name in streams}

    uncertain, certain = load(EXAMPLE / uncertain_program), load(EXAMPLE / taken_for_certain)
    found = uncertain.run_local(paths(folder), sampling=Sampling(epsilon=0.05))
    assert found.rejects.num_rows == 0
    true, naive = (certain.run_local(paths(folder / view)).tables for view in ("true", "naive"))
    return Told(dict(found.tables), dict(true), dict(naive))


@pytest.mark.parametrize("event", EVENTS)
def test_the_program_lies_on_the_diagonal_and_certain_eyes_do_not(told: Told, event: str) -> None:
    results, true, naive = told.results[event], told.true[event], told.naive[event]
    ours = calibrate(results, true, on=KEY)
    theirs = calibrate(naive, true, on=KEY, among=results)
    assert ours.n > 300
    assert len(ours.bins) == 10, "probabilities of every size occur"
    assert ours.lies_on_diagonal()
    assert not theirs.lies_on_diagonal()
    assert theirs.n == ours.n
    assert theirs.brier_score > 1.3 * ours.brier_score
    assert ours.brier_skill is not None
    assert ours.brier_skill > 0.15


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("method", ["exact", "sampled"])
def test_both_methods_are_calibrated(told: Told, event: str, method: str) -> None:
    results = told.results[event]
    chosen = results.filter(pc.equal(results["method"], method))
    keys = {tuple(row.values()) for row in chosen.select(KEY).to_pylist()}
    real = [row for row in told.true[event].select(KEY).to_pylist() if tuple(row.values()) in keys]
    found = calibrate(chosen, real, on=KEY)
    assert found.n > 50
    assert found.lies_on_diagonal()


@pytest.mark.parametrize("event", EVENTS)
def test_what_really_happened_was_thought_possible(told: Told, event: str) -> None:
    """Only sampled worlds may overlook something, and only what is rarer than their error."""
    found = calibrate(told.results[event], told.true[event], on=KEY)
    assert found.n_missed <= 0.03 * found.n


def test_multiplying_probabilities_of_events_that_share_evidence_is_wrong(told: Told) -> None:
    """Some pallets can be left behind or loaded, but not both; the product gives both a chance all the same."""
    prob = {
        name: {(row["shift"], row["pallet"]): row["probability"] for row in told.results[name].to_pylist()}
        for name in ("loaded", "left_behind", "loaded_at_second_try")
    }
    product = [
        {"shift": shift, "pallet": pallet, "probability": one * prob["left_behind"][shift, pallet]}
        for (shift, pallet), one in prob["loaded"].items()
        if (shift, pallet) in prob["left_behind"] and (shift, pallet) not in prob["loaded_at_second_try"]
    ]
    claimed = sum(row["probability"] for row in product)
    keys = {(row["shift"], row["pallet"]) for row in product}
    happened = {tuple(row.values()) for row in told.true["loaded_at_second_try"].select(KEY).to_pylist()}
    assert claimed > 10
    assert not keys & happened
    judged = [{**row, "happened": False} for row in product]
    assert not calibrate(judged, "happened").lies_on_diagonal()


def test_a_chain_of_readings_is_calibrated_too(tmp_path: Path) -> None:
    write("mixed", tmp_path, events=6_000, seed=12)
    told = run("tracked.ink", "tracked_certain.ink", tmp_path, TRACKED_STREAMS)
    for event in ("delivered", "waited"):
        ours = calibrate(told.results[event], told.true[event], on=["shift"])
        theirs = calibrate(told.naive[event], told.true[event], on=["shift"], among=told.results[event])
        assert (ours.n > 500, ours.n_missed) == (True, 0)
        assert ours.lies_on_diagonal()
        assert not theirs.lies_on_diagonal()
        assert theirs.brier_score > 1.3 * ours.brier_score
