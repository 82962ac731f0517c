"""Rows arrive by their delays, and are withdrawn after they came."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.kit.revision_streams import (
    Arrivals,
    Disorder,
    arrivals,
    chain,
    corrected_prices,
    pairs,
    prices,
    rises_and_links,
)

N = 20_000
ROWS = pa.table({"id": np.arange(N), "t": 10 * np.arange(N)})
DISORDER = Disorder(late=0.33, most_late=500, withdrawn=0.1, most_kept=900)


@pytest.fixture(scope="module")
def arrived() -> Arrivals:
    return arrivals(ROWS, DISORDER, seed=5)


def test_without_disorder_rows_come_as_they_are() -> None:
    calm = arrivals(ROWS, Disorder(), seed=5)
    assert calm.rows.drop_columns(["op"]) == ROWS
    assert calm.rows["op"].unique().to_pylist() == ["+"]
    assert calm.standing == ROWS


def test_the_shares_are_as_asked(arrived: Arrivals) -> None:
    events = arrived.rows.filter(pc.equal(arrived.rows["op"], "+"))
    delays = arrived.moments[arrived.rows["op"].to_numpy() == "+"] - events["t"].to_numpy()
    assert (delays.min(), delays.max() <= 500, delays.max() > 450) == (0, True, True)
    assert np.mean(delays > 0) == pytest.approx(0.33, abs=0.02)
    assert (len(arrived.rows) - N) / N == pytest.approx(0.1, abs=0.02)
    assert (np.diff(arrived.moments) >= 0).all()


def test_an_event_is_withdrawn_once_and_after_it_came(arrived: Arrivals) -> None:
    op, ids = arrived.rows["op"].to_numpy(), arrived.rows["id"].to_numpy()
    came = dict(zip(ids[op == "+"], arrived.moments[op == "+"], strict=True))
    gone = dict(zip(ids[op == "-"], arrived.moments[op == "-"], strict=True))
    assert len(gone) == (op == "-").sum()
    assert all(0 < moment - came[one] <= 900 for one, moment in gone.items())
    assert set(arrived.standing["id"].to_pylist()) == set(came) - set(gone)


def test_a_seed_means_the_same_rows(arrived: Arrivals) -> None:
    assert arrivals(ROWS, DISORDER, seed=5).rows == arrived.rows
    assert arrivals(ROWS, DISORDER, seed=6).rows != arrived.rows


def test_streams_for_revision_have_distinct_ids_in_the_order_of_time() -> None:
    for streams in (pairs(500, 1, 0.2), chain(50, 100, 7), {"p": prices(300, 2, 3)}, rises_and_links(400, 20, 3)):
        ids = np.concatenate([rows["id"].to_numpy() for rows in streams.values()])
        assert len(np.unique(ids)) == len(ids)
        assert all((np.diff(rows["t"].to_numpy()) >= 0).all() for rows in streams.values())


def test_corrected_prices_are_of_the_same_time_with_new_ids() -> None:
    rows = prices(2_000, 4)
    news = corrected_prices(rows, 0.05, 4)
    assert len(news) == pytest.approx(100, abs=30)
    assert min(news["id"].to_pylist()) == 2_000
    old = rows["price"].to_numpy()[news["t"].to_numpy()]
    share = news["price"].to_numpy() / old
    assert (np.abs(share - 1) <= 0.05).all()
    assert (share != 1).mean() > 0.95
