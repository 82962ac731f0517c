"""The uncertainty that the warehouse states is exact: truth follows the recorded distribution."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from inkling.examples.mixed.scenario import Mixed
from scipy.stats import chisquare, kstest

from inkling import load
from inkling.forecasting.calibration import calibrate
from inkling.scenarios import scenario

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[3] / "examples" / "mixed"
SECOND = 1_000

Told = dict[str, pa.Table]


def drawn(source: Mixed) -> Told:
    blocks = list(source.blocks())
    return {name: pa.Table.from_batches([block[name] for block in blocks]) for name in source.streams}


def told(events: int, *, seed: int = 0, keys: int | None = None) -> tuple[Told, Told, Told]:
    """What was recorded, what happened, and what seems to have happened."""
    source = scenario("mixed", events=events, seed=seed, keys=keys)
    assert isinstance(source, Mixed)
    variants = source.variants()
    return drawn(source), drawn(variants["true"]), drawn(variants["naive"])


@pytest.fixture(scope="module")
def views() -> tuple[Told, Told, Told]:
    return told(60_000, seed=7)


def test_a_zone_is_true_as_often_as_stated(views: tuple[Told, Told, Told]) -> None:
    recorded, true, _ = views
    rows = recorded["Seen"].rename_columns({"p": "probability"})
    found = calibrate(rows, true["Seen"], on=["id", "zone"], bins=20)
    assert found.n_missed == 0
    assert found.n == 60_000
    assert min(one.n for one in found.bins) > 30
    assert found.lies_on_diagonal()
    assert not calibrate(rows, true["Seen"].slice(0, true["Seen"].num_rows * 9 // 10), on=["id"]).lies_on_diagonal()


def test_alternatives_of_a_reading_leave_room_for_nothing_and_at_most_one_is_true(
    views: tuple[Told, Told, Told],
) -> None:
    recorded, true, _ = views
    reading = ["shift", "pallet", "t"]
    sums = recorded["Seen"].group_by(reading).aggregate([("p", "sum"), ("p", "count")])
    assert min(recorded["Seen"]["p"].to_pylist()) >= 0.1
    assert max(sums["p_sum"].to_pylist()) <= 1 + 1e-9
    assert set(sums["p_count"].to_pylist()) == {1, 2, 3}
    assert max(true["Seen"].group_by(reading).aggregate([("id", "count")])["id_count"].to_pylist()) == 1


def test_a_pickup_happened_at_any_second_of_its_interval_alike(views: tuple[Told, Told, Told]) -> None:
    recorded, true, naive = views
    at = dict(zip(true["Pickup"]["id"].to_pylist(), true["Pickup"]["t"].to_pylist(), strict=True))
    middle = dict(zip(naive["Pickup"]["id"].to_pylist(), naive["Pickup"]["t"].to_pylist(), strict=True))
    offsets: dict[int, list[int]] = {}
    for row in recorded["Pickup"].to_pylist():
        offset, rest = divmod(at[row["id"]] - row["lo"] * SECOND, SECOND)
        assert rest == 0
        assert middle[row["id"]] == (row["lo"] + row["hi"]) * SECOND / 2
        offsets.setdefault(row["hi"] - row["lo"] + 1, []).append(offset)
    assert sorted(offsets) == [1, 2, 3, 4, 5]
    for width, found in offsets.items():
        counts = np.bincount(found, minlength=width)
        assert counts.size == width
        assert width == 1 or chisquare(counts).pvalue > 0.001


def test_a_lost_door_event_lies_anywhere_between_its_neighbors(views: tuple[Told, Told, Told]) -> None:
    recorded, true, naive = views
    known: dict[str, dict[int, dict[str, int]]] = {}
    for row in recorded["Door"].to_pylist():
        known.setdefault(row["shift"], {})[row["seq"]] = row
    happened: dict[str, list[dict[str, object]]] = {}
    for row in true["Door"].to_pylist():
        happened.setdefault(row["shift"], []).append(row)
    assert happened.keys() == known.keys()
    places: list[float] = []
    for shift, events in happened.items():
        some = next(iter(known[shift].values()))
        borders = {0: some["opens"], some["n"] + 1: some["closes"]}
        borders |= {number: row["t"] for number, row in known[shift].items()}
        assert [event["role"] for event in events] == ["open", "close"] * (some["n"] // 2)
        for number, event in enumerate(events, start=1):
            time = event["t"]
            assert isinstance(time, int)
            if number in known[shift]:
                assert (event["id"], time) == (known[shift][number]["id"], known[shift][number]["t"] * SECOND)
                continue
            assert time % SECOND, "a lost event meets no other event"
            if {number - 1, number + 1} <= borders.keys():
                lo, hi = borders[number - 1] * SECOND, borders[number + 1] * SECOND
                places.append((time - lo) / (hi - lo))
    assert len(places) > 500
    assert kstest(places, "uniform").pvalue > 0.001
    columns = ["id", "shift", "role"]
    assert naive["Door"].select(columns) == recorded["Door"].select(columns)


def test_two_lost_in_one_gap_are_order_statistics() -> None:
    """Of two even draws in a gap the first lies a third of the way in, and the second two thirds, on average."""
    recorded, true, _ = told(200_000, seed=3)
    known: dict[str, dict[int, dict[str, int]]] = {}
    for row in recorded["Door"].to_pylist():
        known.setdefault(row["shift"], {})[row["seq"]] = row
    places: list[tuple[float, float]] = []
    happened: dict[str, list[int]] = {}
    for row in true["Door"].to_pylist():
        happened.setdefault(row["shift"], []).append(row["t"])
    for shift, rows in known.items():
        if set(rows) == {1, 4}:
            lo, hi = rows[1]["t"] * SECOND, rows[4]["t"] * SECOND
            first, second = (happened[shift][number] for number in (1, 2))
            places.append(((first - lo) / (hi - lo), (second - lo) / (hi - lo)))
    assert len(places) > 200
    first, second = np.array(places).T
    # the smaller of two even draws has the distribution 1 - (1 - x)², the larger x²
    assert kstest(first, lambda x: 1 - (1 - x) ** 2).pvalue > 0.001
    assert kstest(second, lambda x: x**2).pvalue > 0.001


def test_a_forklift_goes_where_it_went_before_allows(views: tuple[Told, Told, Told]) -> None:
    """Of the rows whose previous zone is the true one, each happened as often as it says."""
    recorded, true, _ = views
    steps: dict[str, list[int]] = {}
    zone: dict[tuple[str, int], str] = {}
    for row in true["Forklift"].to_pylist():
        steps.setdefault(row["shift"], []).append(row["t"] // SECOND)
        zone[row["shift"], row["t"] // SECOND] = row["zone"]
    judged, sums = [], {}
    for row in recorded["Forklift"].to_pylist():
        shift, given = row["shift"], row["previous_zone"]
        place = steps[shift].index(row["t"])
        assert (given is None) == (place == 0)
        step = (shift, place, given)
        sums[step] = sums.get(step, 0.0) + row["p"]
        if given is None or given == zone[shift, steps[shift][place - 1]]:
            judged.append({"probability": row["p"], "happened": row["zone"] == zone[shift, row["t"]]})
    assert {round(one, 6) for one in sums.values()} == {1.0}
    assert sum(row["happened"] for row in judged) == true["Forklift"].num_rows
    assert len(judged) > 20_000
    found = calibrate([row for row in judged if row["probability"] < 1], "happened")
    assert found.lies_on_diagonal()


def test_naive_eyes_see_the_likeliest_zone(views: tuple[Told, Told, Told]) -> None:
    recorded, _, naive = views
    best: dict[tuple[str, str, int], tuple[float, str]] = {}
    for row in recorded["Seen"].to_pylist():
        reading = (row["shift"], row["pallet"], row["t"] * SECOND)
        if row["p"] > best.get(reading, (0.0, ""))[0]:
            best[reading] = (row["p"], row["zone"])
    seen = {(row["shift"], row["pallet"], row["t"]): row["zone"] for row in naive["Seen"].to_pylist()}
    *whole, _last = best  # the likeliest row of the last reading may be cut off
    assert {reading: seen[reading] for reading in whole} == {reading: best[reading][1] for reading in whole}


@pytest.mark.parametrize("events", [1, 2, 3, 37, 100])
def test_rows_that_are_cut_off_are_cut_off_from_the_truth(events: int) -> None:
    recorded, true, naive = told(events, keys=5)
    ids = set(recorded["Seen"]["id"].to_pylist())
    assert len(ids) == events
    for other in (true, naive):
        assert set(other["Seen"]["id"].to_pylist()) <= ids
        assert set(other["Pickup"]["id"].to_pylist()) == set(recorded["Pickup"]["id"].to_pylist())
    assert set(recorded["Door"]["shift"].to_pylist()) == set(true["Door"]["shift"].to_pylist())


@pytest.mark.parametrize("names", [("mixed.ink", "certain.ink"), ("tracked.ink", "tracked_certain.ink")])
def test_both_programs_ask_for_the_same_events(names: tuple[str, str]) -> None:
    texts = [(EXAMPLE / name).read_text() for name in names]
    first, second = (text[text.index("EVENT") :] for text in texts)
    assert first == second


def test_every_event_really_happens_and_not_always(views: tuple[Told, Told, Told]) -> None:
    program = load(EXAMPLE / "certain.ink")
    recorded, true, _ = views
    pallets = recorded["Seen"].group_by(["shift", "pallet"]).aggregate([]).num_rows
    results = program.run_local({stream.schema.name: true[stream.schema.name] for stream in program.plan.streams})
    assert results.rejects.num_rows == 0
    for name, table in results.tables.items():
        assert 0.05 * pallets < table.num_rows < 0.95 * pallets, name


def test_the_warehouse_counts_seconds() -> None:
    with pytest.raises(ValueError, match="the warehouse counts seconds"):
        scenario("mixed", events=1, start=datetime(2024, 1, 1))
