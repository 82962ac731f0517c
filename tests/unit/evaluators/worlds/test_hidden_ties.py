"""Rows that have to do with each other although neither their key nor their time shows it at first sight."""

from typing import Any

import pytest

from inkling import Sampling, parse
from inkling.analysis.worlds import common_key, needs_lengths

SAMPLED = Sampling(epsilon=0.02, exact_up_to=0)


def results(text: str, rows: dict[str, list[dict[str, Any]]], sampling: Sampling | None = None) -> list[dict[str, Any]]:
    """Those of the last event."""
    *_, table = parse(text).run_local(rows, sampling=sampling or Sampling()).tables.values()
    return table.to_pylist()  # type: ignore[no-any-return]


AT = "STREAM At(id BIGINT, k BIGINT, room BIGINT, t BIGINT) ID id KEY k TIME t PROBABILITY p;"


@pytest.mark.parametrize(("head", "returned"), [("a.room AS k", ""), ("a.room AS room", "RETURN a.room AS k")])
def test_a_derived_key_brings_partitions_together(head: str, returned: str) -> None:
    text = f"""{AT}
    EVENT moved({head}) AS PATTERN At a PARTITION BY k {returned};
    EVENT met AS PATTERN SEQ(moved x, moved y) PARTITION BY k;
    """
    rows = [{"id": 1, "k": 1, "room": 7, "t": 1, "p": 0.5}, {"id": 2, "k": 2, "room": 7, "t": 2, "p": 0.5}]
    (found,) = results(text, {"At": rows})
    assert (found["k"], found["probability"], found["lineage"]) == (7, 0.25, [1, 2])


@pytest.mark.parametrize("head", ["k", "a.k AS k", "k, a.room AS room"])
def test_the_key_itself_keeps_partitions_apart(head: str) -> None:
    events = f"""
    EVENT moved({head}) AS PATTERN At a PARTITION BY k;
    EVENT met AS PATTERN SEQ(moved x, moved y) PARTITION BY k;
    """
    assert common_key(parse(AT + events).plan).conclusion == ("k",)


def test_a_long_alternative_reaches_what_comes_after_its_end() -> None:
    text = """
    STREAM Stay(id BIGINT, k BIGINT, since BIGINT, until BIGINT) ID id KEY k TIME FROM since TO until PROBABILITY p;
    STREAM Call(id BIGINT, k BIGINT, t BIGINT) ID id KEY k TIME t PROBABILITY p;
    EVENT silent AS PATTERN SEQ(Stay s, NOT Call, AFTER 10 TICKS) PARTITION BY k;
    """
    stay = {"id": 1, "k": 1, "since": 1, "until": 100, "p": 0.5}
    (found,) = results(text, {"Stay": [stay], "Call": [{"id": 1, "k": 1, "t": 105, "p": 0.5}]})
    assert (found["probability"], found["end"]) == (0.25, 110)


LOSING = """
STREAM Gate(k BIGINT, n BIGINT, t BIGINT) KEY k TIME t
  NUMBERED BY n SEGMENTS COUNT n_all BOUNDS since TO until;
STREAM Horn(id BIGINT, k BIGINT, t BIGINT) ID id KEY k TIME t;
"""


@pytest.mark.parametrize("told_by", [0, 1])
def test_any_event_of_a_key_tells_its_ends(told_by: int) -> None:
    """Gates 1 and 4 were lost between 0 and 5, and between 10 and 20; horns are at 3 and at 15."""
    gates = [{"k": 1, "n": n, "t": t, "n_all": None, "since": None, "until": None} for n, t in ((2, 5), (3, 10))]
    gates[told_by] |= {"n_all": 4, "since": 0, "until": 20}
    horns = [{"id": 3, "k": 1, "t": 3}, {"id": 15, "k": 1, "t": 15}]
    text = f"{LOSING} EVENT e(a.n AS n, h) AS PATTERN SEQ(Gate a, Horn h) PARTITION BY k;"
    found = {(row["n"], row["h"]): row["probability"] for row in results(text, {"Gate": gates, "Horn": horns})}
    expected = {(1, 3): 0.6, (1, 15): 1.0, (2, 15): 1.0, (3, 15): 1.0, (4, 15): 0.5}
    assert found == pytest.approx(expected)


GATES = "STREAM Gate(k BIGINT, n BIGINT, t BIGINT) KEY k TIME t NUMBERED BY n"


@pytest.mark.parametrize(
    "text",
    [
        f"{GATES}; EVENT e AS PATTERN Gate g[t < 3] PARTITION BY k;",
        f"{GATES}; EVENT e AS PATTERN SEQ STRICT(Gate g, Gate h) HAVING h.t - g.t < 3 PARTITION BY k;",
        f"{GATES} DERIVE later = t - PREV(t); EVENT e AS PATTERN Gate g[later < 3] PARTITION BY k;",
    ],
)
def test_the_time_column_of_a_lost_event_is_not_known_by_order(text: str) -> None:
    assert needs_lengths(parse(text).plan).conclusion
    rows = [{"k": 1, "n": 1, "t": 0}, {"k": 1, "n": 3, "t": 10}]
    lost = [row for row in results(text, {"Gate": rows}) if row["lineage"][-1] is None]
    assert [row["method"] for row in lost] == ["sampled"]
    assert lost[0]["probability"] == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("sampling", [Sampling(), SAMPLED])
def test_rows_without_declared_ids_are_called_by_their_numbers(sampling: Sampling) -> None:
    text = """
    STREAM Seen(k BIGINT, since BIGINT, until BIGINT) KEY k TIME BETWEEN since AND until;
    STREAM Horn(k BIGINT, t BIGINT) KEY k TIME t;
    EVENT e(s, h) AS PATTERN SEQ(Seen s, Horn h) HAVING ID(s) <> ID(h);
    """
    seen = [{"k": 1, "since": t, "until": t + 1} for t in (5, 1)]
    found = results(text, {"Seen": seen, "Horn": [{"k": 1, "t": 2}]}, sampling)
    assert [(row["s"], row["h"], row["lineage"]) for row in found] == [(2, 1, [2, 1])]
    assert found[0]["probability"] == pytest.approx(0.5, abs=0.02)


def test_results_that_rest_on_no_event_are_looked_at_twice() -> None:
    """None of the stays of key 1 are asked for, so all of them pass."""
    text = """
    STREAM Stay(id BIGINT, k BIGINT, w BIGINT, since BIGINT, until BIGINT) ID id
      KEY k TIME FROM since TO until PROBABILITY p;
    EVENT e(x.k AS one, y.k AS other) AS
      PATTERN ALL Stay x INTERSECTS SOME Stay y WHERE x.w > 5 CONFIDENCE >= 0.25;
    """
    stays = [
        {"id": 1, "k": 1, "w": 1, "since": 0, "until": 4, "p": 0.5},
        {"id": 2, "k": 2, "w": 9, "since": 20, "until": 26, "p": 0.5},
    ]
    (found,) = results(text, {"Stay": stays}, SAMPLED)
    assert (found["one"], found["other"], found["lineage"]) == (1, 2, [])
    assert found["probability"] == pytest.approx(0.25, abs=0.02)


def test_regular_events_over_streams_without_key() -> None:
    text = """
    STREAM Sign(id BIGINT, s STRING, t BIGINT) ID id TIME t PROBABILITY p;
    EVENT e AS PATTERN SEQ NEXT(Sign[s = 'a'], Sign[s = 'b']) PER END;
    """
    rows = [{"id": t, "s": s, "t": t, "p": 0.5} for t, s in enumerate("aab")]
    (found,) = results(text, {"Sign": rows}, SAMPLED)
    assert found["probability"] == pytest.approx(0.375, abs=0.02)
