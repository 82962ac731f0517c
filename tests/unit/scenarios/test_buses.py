"""What doors of buses did is drawn from exactly the uncertainty that pings and marks leave."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from inkling.examples.buses.scenario import JITTER, N_STOPS, SHAPE, Buses, windows_of
from scipy.stats import beta, kstest

from inkling import load
from inkling.scenarios import scenario

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[3] / "examples" / "buses"
EVENTS, KEYS, SEED = 20_000, 12, 3
JOURNEY = ["day", "journey"]


def drawn(source: Buses) -> dict[str, pa.Table]:
    blocks = list(source.blocks())
    return {name: pa.Table.from_batches([block[name] for block in blocks]) for name in source.streams}


@pytest.fixture(scope="module")
def told() -> dict[str, dict[str, pd.DataFrame]]:
    source = scenario("buses", events=EVENTS, keys=KEYS, seed=SEED)
    assert isinstance(source, Buses)
    views = {"recorded": source, **source.variants()}
    return {
        name: {
            stream: rows.to_pandas().sort_values([*JOURNEY, "t"], kind="stable") for stream, rows in drawn(view).items()
        }
        for name, view in views.items()
    }


def whole_journeys(told: dict[str, dict[str, pd.DataFrame]]) -> list[tuple[object, object]]:
    pings = told["recorded"]["Ping"]
    return pings[pings["stop"] == "terminus"][JOURNEY].apply(tuple, axis=1).tolist()


def test_pings_come_every_twenty_seconds_and_jump_back_now_and_then(told: dict[str, dict[str, pd.DataFrame]]) -> None:
    pings = told["recorded"]["Ping"]
    gaps = pings.groupby(JOURNEY)["t"].diff().dropna()
    assert set(gaps) == {pd.Timedelta(seconds=20)}
    back = pings["stop"] < pings.groupby(JOURNEY)["stop"].shift(1).fillna("")
    assert 0.5 * JITTER < back.mean() < JITTER


def test_marks_are_the_borders_of_windows(told: dict[str, dict[str, pd.DataFrame]]) -> None:
    pings, doors = told["recorded"]["Ping"], told["recorded"]["Doors"]
    number = {f"stop{stop:02}": stop for stop in range(1, N_STOPS + 1)} | {"terminus": N_STOPS + 1}
    journey = pd.factorize(pings[JOURNEY].apply(tuple, axis=1))[0]
    found = windows_of(journey, pings["stop"].map(number).to_numpy(), pings["t"].astype("int64").to_numpy())
    of_journey = pd.Series(found.n_stops).groupby(found.journey).sum()
    assert (of_journey <= N_STOPS).all()
    assert (of_journey == N_STOPS).sum() == len(whole_journeys(told)) > 100
    marks = doors[doors["role"] == "mark"]
    assert (marks.groupby(JOURNEY)["n"].diff().dropna() >= 2).all()
    assert sorted(marks["t"].astype("int64").unique()) == sorted({*found.start, *found.end, *first_pings(pings)})
    assert (found.n_stops > 1).mean() > 0.05


def first_pings(pings: pd.DataFrame) -> set[int]:
    return {*pings.groupby(JOURNEY)["t"].min().astype("int64")}


def test_doors_open_and_close_once_at_each_stop(told: dict[str, dict[str, pd.DataFrame]]) -> None:
    doors = told["true"]["Doors"].set_index(JOURNEY)
    for journey in whole_journeys(told):
        mine = doors.loc[journey]
        assert mine["role"].tolist() == ["open", "close"] * N_STOPS
        assert mine["stop"].tolist() == [f"stop{stop:02}" for stop in range(1, N_STOPS + 1) for _ in range(2)]


def test_recorded_door_events_are_true_and_agree_with_marks(told: dict[str, dict[str, pd.DataFrame]]) -> None:
    recorded = told["recorded"]["Doors"]
    came = recorded[recorded["role"] != "mark"]
    true = told["true"]["Doors"].copy()
    true["n"] = true.groupby(JOURNEY).cumcount() + 1
    assert len(came.merge(true, on=[*JOURNEY, "n", "t", "role", "stop"])) == len(came)
    ordered = recorded.sort_values([*JOURNEY, "t", "n"], kind="stable")
    assert (ordered.groupby(JOURNEY)["n"].diff().dropna() >= 0).all()
    per_journey = came.groupby(JOURNEY).size().reindex(pd.MultiIndex.from_tuples(whole_journeys(told)), fill_value=0)
    assert 0.2 < (per_journey > 0).mean() < 0.5


def test_the_first_door_event_of_a_window_lies_where_erlang_gaps_put_it(
    told: dict[str, dict[str, pd.DataFrame]],
) -> None:
    """Of a call at one stop, 2 + 3 (h - 1) points hide in the window, and the h-th of them is the arrival."""
    recorded = told["recorded"]["Doors"]
    marks = recorded[recorded["role"] == "mark"][[*JOURNEY, "n", "t"]].copy()
    marks["next"] = marks.groupby(JOURNEY)["t"].shift(-1)
    marks["calls"] = -marks.groupby(JOURNEY)["n"].diff(-1) / 2
    true = told["true"]["Doors"].copy()
    true["n"] = true.groupby(JOURNEY).cumcount()  # so that an arrival has the number of its mark
    both = marks[marks["calls"] == 1].merge(true, on=[*JOURNEY, "n"], suffixes=("", "_door"))
    share = (both["t_door"] - both["t"]) / (both["next"] - both["t"])
    hidden = 2 + 3 * (SHAPE - 1)
    assert len(share) > 1_000
    assert kstest(share, beta(SHAPE, hidden + 1 - SHAPE).cdf).pvalue > 0.001


def test_naive_eyes_divide_windows_evenly(told: dict[str, dict[str, pd.DataFrame]]) -> None:
    naive, true = told["naive"]["Doors"], told["true"]["Doors"]
    assert (
        naive[["day", "journey", "stop", "role"]]
        .reset_index(drop=True)
        .equals(true[["day", "journey", "stop", "role"]].reset_index(drop=True))
    )
    difference = (naive["t"].to_numpy() - true["t"].to_numpy()) / np.timedelta64(1, "s")
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(difference.size)


def test_the_schedule_says_where_doors_open() -> None:
    table = scenario("buses", events=10).tables()["schedule"].to_pylist()
    assert table[:3] == [{"n": 1, "stop": "stop01"}, {"n": 2, "stop": "stop01"}, {"n": 3, "stop": "stop02"}]
    assert len(table) == 2 * N_STOPS


def test_both_programs_ask_for_the_same_events() -> None:
    texts = [(EXAMPLE / name).read_text() for name in ("buses.ink", "certain.ink")]
    first, second = (text[text.index("EVENT") :] for text in texts)
    assert first == second


def test_every_event_really_happens(told: dict[str, dict[str, pd.DataFrame]]) -> None:
    program = load(EXAMPLE / "certain.ink")
    found = program.run_local({"Doors": pa.Table.from_pandas(told["true"]["Doors"], preserve_index=False)})
    assert found.rejects.num_rows == 0
    for name, table in found.tables.items():
        assert table.num_rows > 50, name
