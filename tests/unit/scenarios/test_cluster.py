"""A cluster's log is consistent, and its bursts are what the pattern asks for."""

from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from inkling.scenarios import Truth, scenario

SIZES = [(60_000, 8, 1), (20_003, 5, 2)]
EVERY_SIZE = pytest.mark.parametrize("size", SIZES)
WINDOW_TICKS = 150


@cache
def data(size: tuple[int, int, int]) -> tuple[dict[str, pd.DataFrame], Truth]:
    events, keys, seed = size
    source = scenario("cluster", events=events, keys=keys, seed=seed)
    blocks = list(source.blocks())
    streams = {stream: pa.Table.from_batches([block[stream] for block in blocks]).to_pandas() for stream in blocks[0]}
    return streams, source.truth()


@EVERY_SIZE
def test_tasks_finish_once_after_they_started_on_the_same_node(size: tuple[int, int, int]) -> None:
    streams, _ = data(size)
    assert streams["TaskStart"]["task"].is_unique
    assert streams["TaskFinish"]["task"].is_unique
    tasks = streams["TaskFinish"].merge(streams["TaskStart"], on="task", suffixes=("", "_start"), how="left")
    assert (tasks["t"] > tasks["t_start"]).all()
    assert (tasks["node"] == tasks["node_start"]).all()


@EVERY_SIZE
def test_bursts_are_the_tasks_the_pattern_asks_for(size: tuple[int, int, int]) -> None:
    streams, truth = data(size)
    tasks = streams["TaskStart"].merge(streams["TaskFinish"], on=["task", "node"], suffixes=("", "_finish"))
    found = 0
    for node, samples in streams["Cpu"].groupby("node"):
        own = tasks[tasks["node"] == node]
        for high, low in zip(samples.itertuples(), samples.iloc[1:].itertuples(), strict=False):
            if high.value > 95 and low.value <= 70:
                around = own[(own["t"] < high.t) & (high.t < own["t_finish"]) & (own["t_finish"] < low.t)]
                found += bool((low.t - around["t"] <= WINDOW_TICKS).any())
    assert found == truth.episodes["maxed_out"] > 0


@EVERY_SIZE
def test_load_above_95_is_left_to_bursts(size: tuple[int, int, int]) -> None:
    streams, truth = data(size)
    unfinished = streams["Cpu"]["node"].nunique()
    assert 0 <= (streams["Cpu"]["value"] > 95).sum() - truth.episodes["maxed_out"] <= unfinished


def test_load_rises_with_the_tasks_that_run() -> None:
    streams, _ = data(SIZES[0])
    correlations, idle_load = [], []
    for node, samples in streams["Cpu"].groupby("node"):
        starts = np.sort(streams["TaskStart"]["t"][streams["TaskStart"]["node"] == node])
        finishes = np.sort(streams["TaskFinish"]["t"][streams["TaskFinish"]["node"] == node])
        running = np.searchsorted(starts, samples["t"]) - np.searchsorted(finishes, samples["t"])
        correlations.append(np.corrcoef(running, samples["value"])[0, 1])
        idle_load.append(samples["value"][running == 0].iloc[-200:].median())
    assert min(correlations) > 0.7
    assert max(idle_load) < 25


@EVERY_SIZE
def test_times_lie_between_their_bounds(size: tuple[int, int, int]) -> None:
    streams, _ = data(size)
    for rows in streams.values():
        assert (rows["lo"] >= 0).all()
        assert ((rows["lo"] < rows["t"]) & (rows["t"] < rows["hi"])).all()


@EVERY_SIZE
def test_both_loads_of_every_node_are_told_every_fifteen_seconds(size: tuple[int, int, int]) -> None:
    streams, _ = data(size)
    assert set(streams["Cpu"]["metric"]) == {"highest", "mean"}
    gaps = streams["Cpu"].groupby(["node", "metric"])["t"].diff().dropna()
    assert gaps.between(146, 154).all()


@EVERY_SIZE
def test_pulls_end_once_after_they_started_on_the_same_node(size: tuple[int, int, int]) -> None:
    streams, _ = data(size)
    assert streams["PullStart"]["pull"].is_unique
    pulls = streams["PullEnd"].merge(streams["PullStart"], on=["pull", "node"], suffixes=("", "_start"))
    assert len(pulls) == len(streams["PullEnd"]) > 100
    assert (pulls["t"] - pulls["t_start"]).between(20, 140).all()
