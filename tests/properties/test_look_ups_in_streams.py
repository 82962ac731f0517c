"""Tables and rules in stream declarations: random rows, as the definition says, at once and pushed."""

import random

import pytest
from tests.conformance.case import Case, Row, Rows
from tests.conformance.cases import with_ids, with_lateness
from tests.conformance.runners import LocalBatch, Pushed
from tests.conformance.test_conformance import check

CERTAIN = """
TABLE rooms(name STRING, floor BIGINT) FROM 'rooms.csv';
TABLE closed(at BIGINT) FROM 'closed.csv';
RULE upper(r) IF rooms(r, f) AND f > 1;
RULE big(v) IF v > 2;
RULE high(r, v) IF rooms(r, f) AND f > v;
STREAM Seen(id STRING, k STRING, room STRING, v BIGINT, t BIGINT) ID id KEY k TIME t
  DERIVE known = rooms(room, _), up = upper(room), was = rooms(PREV(room), _), over = high(room, v), b = big(v),
    neither = NOT (up OR closed(v));
STREAM Reset(id STRING, k STRING, room STRING, v BIGINT, t BIGINT) ID id KEY k TIME t ORDER BY t
  DERIVE p = PREV(v), q = rooms(room, PREV(v))
  RESET WHEN closed(v) AND NOT upper(room);
EVENT each(s.known AS k, s.up AS u, s.was AS w, s.over AS o, s.b AS b, s.neither AS n) AS PATTERN Seen s;
EVENT pair(s.v AS k, q.v AS u) AS PATTERN SEQ(Seen s[up], Seen q[known AND NOT up]) WITHIN 5 TICKS;
EVENT after(k) AS PATTERN SEQ STRICT(Seen s[up], Seen q[known AND NOT up]) WITHIN 5 TICKS PARTITION BY k;
EVENT same_room(room) AS PATTERN SEQ(Seen s[up], Seen q[over]) WITHIN 5 TICKS PARTITION BY room;
EVENT one(s.v AS v, s.p AS p, s.q AS q) AS PATTERN Reset s;
EVENT two(k) AS PATTERN SEQ(Reset s[p > 0 AND NOT q], Reset t[q]) PARTITION BY k PER END;
"""
UNCERTAIN = """
TABLE rooms(name STRING, floor BIGINT) FROM 'rooms.csv';
RULE upper(r) IF rooms(r, f) AND f > 1;
STREAM I(id STRING, k STRING, room STRING, lo BIGINT, hi BIGINT) ID id KEY k TIME BETWEEN lo AND hi
  DERIVE up = upper(room), known = rooms(room, _);
STREAM V(k STRING, room STRING, t BIGINT) KEY k TIME t PROBABILITY p DERIVE up = upper(room), known = rooms(room, _);
STREAM N(n BIGINT, k STRING, room STRING) KEY k TIME t NUMBERED BY n
  DERIVE was = rooms(PREV(room), _), up = upper(room);
EVENT imprecise(k) AS PATTERN SEQ(I a[up], I b[known AND NOT up]) WITHIN 9 POINTS PARTITION BY k;
EVENT alternative(k) AS PATTERN SEQ NEXT(V a[up], V b[known AND NOT up]) PARTITION BY k PER END;
EVENT lost(k) AS PATTERN SEQ NEXT(N a[up], N b[NOT was]) PARTITION BY k PER VALUES;
"""
TABLES: Rows = {
    "rooms": [{"name": "x", "floor": 1}, {"name": "y", "floor": 2}, {"name": "q", "floor": None}],
    "closed": [{"at": 7}],
}
RUNNERS = (LocalBatch(), *map(Pushed, range(3)))


@pytest.mark.parametrize("seed", range(3))
def test_of_certain_streams(seed: int) -> None:
    rng = random.Random(seed)

    def row(number: int, time: int) -> Row:
        room, v = rng.choice(("x", "y", "z", None)), rng.choice((0, 1, 2, 3, 7, None))
        return {"id": f"i{number}", "k": rng.choice("pq"), "room": room, "v": v, "t": time}

    rows = {"Seen": [row(n, n // 2) for n in range(30)], "Reset": [row(n, n) for n in range(30)]}
    case = with_lateness(Case("streams", "certain", CERTAIN, (rows,), TABLES))
    assert all(case.expected[name] for name in ("each", "pair", "one"))
    wrong = [line for runner in RUNNERS for line in check(runner, case)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("seed", range(3))
def test_of_uncertain_streams(seed: int) -> None:
    rng = random.Random(seed)
    pieces = tuple(_uncertain(rng, key) for key in "pq")
    case = with_lateness(with_ids(Case("streams", "uncertain", UNCERTAIN, pieces, {"rooms": TABLES["rooms"]})))
    assert any(0 < one.probability < 1 for some in case.expected.values() for one in some)
    wrong = [line for runner in RUNNERS for line in check(runner, case)]
    assert not wrong, "\n".join(wrong)


def _uncertain(rng: random.Random, key: str) -> Rows:
    """Rows of one key in a few hundred worlds."""
    rows: Rows = {"I": [], "V": [], "N": [{"n": n, "k": key, "room": rng.choice("xyz"), "t": 2 * n} for n in (1, 2, 4)]}
    for n in range(4):
        low = 3 * n + rng.randrange(3)
        rows["I"].append(
            {"id": f"{key}{n}", "k": key, "room": rng.choice("xyz"), "lo": low, "hi": low + rng.choice((0, 2))}
        )
        for room, p in zip(rng.sample("xyz", 2), (0.5, 0.25), strict=True):
            rows["V"].append({"k": key, "room": room, "t": n, "p": p})
    return rows
