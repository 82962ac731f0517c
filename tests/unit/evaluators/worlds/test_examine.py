"""A closer look at results: times and influences agree with what leaving rows out of every world gives."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pytest

import inkling
from inkling import Sampling
from inkling.evaluators.worlds.details.examine import MOST_BINS, Examined, TimeBin, examine, spread_of
from inkling.evaluators.worlds.program import WorldProgram
from inkling.local import ingest

PROGRAM = inkling.parse(
    """
    STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t PROBABILITY p;
    STREAM Call(id STRING, who STRING, lo BIGINT, hi BIGINT) ID id KEY who TIME BETWEEN lo AND hi;

    EVENT coffee(who) AS
      PATTERN SEQ(Seen a[room = 'hall'], NOT Call, Seen b[room = 'kitchen'])
      PARTITION BY who
      PER VALUES;

    EVENT called(who) AS
      PATTERN SEQ(Seen a[room = 'hall'], Call c)
      PARTITION BY who;
    """
)
SEEN = [
    {"id": "a1", "who": "ada", "room": "hall", "t": 1, "p": 0.6},
    {"id": "a1", "who": "ada", "room": "lab", "t": 1, "p": 0.4},
    {"id": "a2", "who": "ada", "room": "hall", "t": 3, "p": 0.5},
    {"id": "a3", "who": "ada", "room": "kitchen", "t": 8, "p": 0.8},
    {"id": "b1", "who": "bob", "room": "hall", "t": 8, "p": 0.9},
]
CALLS = [{"id": "c1", "who": "ada", "lo": 2, "hi": 5}]
INPUTS = {"Seen": SEEN, "Call": CALLS}


def closer(
    program: inkling.Program, inputs: Mapping[str, list[dict[str, object]]], sampling: Sampling
) -> dict[str, list[tuple[dict[str, object], Examined | None]]]:
    ingested = ingest(program, inputs)
    uncertain = WorldProgram.of(program.physical, ingested.context, ingested.unit, with_chains=True)
    tables = program.run_local(inputs, sampling=sampling).tables
    found = examine(uncertain, ingested.sources, ingested.facts, sampling, tables)
    return {name: list(zip(table.to_pylist(), found[name], strict=True)) for name, table in tables.items()}


def influences(one: Examined) -> dict[object, tuple[float, float]]:
    return {found.event.id: (found.without, found.share) for found in one.influences}


def shares(bins: tuple[TimeBin, ...]) -> dict[int, float]:
    return {one.low: one.share for one in bins}


def test_influences_are_shares_of_probability() -> None:
    """Ada is in the hall at 3 and not called after: 0.5 * 0.5, then in the kitchen: * 0.8.

    Without the call any hall will do: (1 - 0.4 * 0.5) * 0.8.
    """
    ((row, one),) = closer(PROGRAM, INPUTS, Sampling())["coffee"]
    assert one is not None
    assert row["probability"] == pytest.approx(0.2)
    found = influences(one)
    assert found["c1"] == pytest.approx((0.64, (0.2 - 0.64) / 0.2))
    assert found["a2"] == pytest.approx((0, 1))
    assert found["a3"] == pytest.approx((0, 1))
    assert "a1" not in found  # the call always comes between


def test_times_are_spread_over_the_worlds_that_have_the_result() -> None:
    rows = closer(PROGRAM, INPUTS, Sampling())["called"]
    by_first = {row["lineage"][0]: one for row, one in rows}  # type: ignore[index]
    late = by_first["a2"]
    assert late is not None
    assert shares(late.ends) == pytest.approx({4: 0.5, 5: 0.5})
    early = by_first["a1"]
    assert early is not None
    assert shares(early.starts) == pytest.approx({1: 1.0})
    assert shares(early.ends) == pytest.approx({2: 0.25, 3: 0.25, 4: 0.25, 5: 0.25})


def test_a_sample_tells_about_the_same() -> None:
    ((_, one),) = closer(PROGRAM, INPUTS, Sampling(epsilon=0.05, exact_up_to=0))["coffee"]
    assert one is not None
    found = influences(one)
    assert found["c1"][0] == pytest.approx(0.64, abs=0.08)
    assert found["a3"] == (0, 1)


def test_a_lost_event_can_matter_though_it_has_no_id() -> None:
    """The lost gate is before the horn or after it: without it, the horn is between the two that are left."""
    program = inkling.parse(
        """
        STREAM Gate(car STRING, n BIGINT, t BIGINT) KEY car TIME t NUMBERED BY n;
        STREAM Horn(id STRING, car STRING, t BIGINT) ID id KEY car TIME t;
        EVENT quiet(car) AS PATTERN SEQ(Gate g, NOT Horn, Gate h) PARTITION BY car PER VALUES;
        """
    )
    gates = [{"car": "k", "n": n, "t": t} for n, t in ((1, 0), (3, 10))]
    ((row, one),) = closer(program, {"Gate": gates, "Horn": [{"id": "h", "car": "k", "t": 4}]}, Sampling())["quiet"]
    assert one is not None
    assert row["probability"] == pytest.approx(1.0)
    (found,) = one.influences
    assert (found.event.stream, found.event.id, found.event.low, found.event.high) == ("Gate", None, 0, 10)
    assert (found.without, found.share) == pytest.approx((0, 1))
    assert sum(one.share for one in one.starts) == pytest.approx(1)
    assert shares(one.starts)[0] == pytest.approx(0.4)  # the lost gate came before the horn


def test_many_times_are_gathered_in_bins() -> None:
    times = np.arange(1000)
    bins = spread_of(times, np.full(1000, 0.0005))
    assert len(bins) <= MOST_BINS
    assert (bins[0].low, bins[-1].high) == (0, 999)
    assert sum(one.share for one in bins) == pytest.approx(1)
    assert all(after.low == before.high + 1 for before, after in pairwise(bins))


@pytest.mark.parametrize("exact_up_to", [1024, 0])
def test_regular_events_are_met_again(exact_up_to: int) -> None:
    program = inkling.parse(
        """
        STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t PROBABILITY p;
        EVENT coffee(who) AS
          PATTERN SEQ NEXT(Seen a[room = 'hall'], Seen b[room = 'kitchen'])
          PARTITION BY who
          PER END;
        """
    )
    seen = [dict(one) for one in SEEN if one["who"] == "ada"]
    ((row, one),) = closer(program, {"Seen": seen}, Sampling(epsilon=0.05, exact_up_to=exact_up_to))["coffee"]
    assert row["probability"] == pytest.approx(0.64, abs=0.05)
    assert one is not None
    found = influences(one)
    assert found["a3"] == (0, 1)
    assert found["a1"][1] == pytest.approx((0.64 - 0.4) / 0.64, abs=0.1)
    assert shares(one.starts) == pytest.approx({1: 0.6 / 0.8, 3: 0.2 / 0.8}, abs=0.1)


def test_alternatives_with_ids_of_their_own_are_one_event() -> None:
    seen = [dict(one, id=f"{one['id']}-{one['room']}") for one in SEEN]
    ((row, one),) = closer(PROGRAM, {"Seen": seen, "Call": CALLS}, Sampling())["coffee"]
    assert row["lineage"] == ["a2-hall", "a3-kitchen"]
    assert one is not None
    assert influences(one)["c1"] == pytest.approx((0.64, -2.2))
    rows = closer(PROGRAM, {"Seen": seen, "Call": CALLS}, Sampling())["called"]
    early = next(one for row, one in rows if row["lineage"] == ["a1-hall", "c1"])
    assert early is not None
    assert influences(early) == {"a1-hall | a1-lab": (0, 1), "c1": (0, 1)}


def test_runs_tell_how_many_worlds_are_done() -> None:
    told: list[tuple[int, int]] = []
    sampling = Sampling(epsilon=0.05, exact_up_to=0)
    PROGRAM.run_local(INPUTS, sampling=sampling, on_worlds=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1] == (sampling.n_worlds, sampling.n_worlds)
    PROGRAM.run_local(INPUTS, on_worlds=lambda done, total: pytest.fail("nothing is sampled"))
