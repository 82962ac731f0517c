"""A program with every kind of state over streams that correct themselves, and rows for it."""

from __future__ import annotations

import random

from inkling.testing.revisions import Mode
from inkling.testing.rows import Rows

PROGRAM = """
STREAM Door(id STRING, n BIGINT, person STRING, room STRING, badge BIGINT, t BIGINT) ID id KEY person TIME t ORDER BY n
    DERIVE moved = badge - PREV(badge), stay = SINCE_CHANGE(room);
STREAM Call(person STRING, room STRING, kind STRING, t BIGINT) KEY person TIME t;

-- an automaton, and a forecast of it
EVENT detour(person) AS PATTERN SEQ NEXT(Door[room = 'hall'], Door[room = 'lab'], Door[room = 'hall'])
    PARTITION BY person CONSUME RESTART PER END;
FORECAST soon OF detour WITHIN 4 EVENTS MODEL usual;

-- absence with a deadline
EVENT unheard(c.room AS room) AS PATTERN
    SEQ(Call c[kind = 'ask'], NOT Call[kind = 'answer'], AFTER 8 TICKS) PARTITION BY person;

-- joins, derived columns, two streams
EVENT errand(person, a.room AS room, d.moved AS moved, d.stay AS stay) AS PATTERN
    SEQ NEXT(Call[kind = 'ask'], Door a, Door d[moved > 0 AND stay >= 0]) WITHIN 15 TICKS PARTITION BY person;

-- what was used once is not used again
EVENT heard(x.room AS asked, y.room AS answered) AS PATTERN SEQ(Call x[kind = 'ask'], Call y[kind = 'answer'])
    PARTITION BY person WITHIN 9 TICKS CONSUME CHRONOLOGICAL;

-- a sliding window
EVENT busy(person, n, badges) AS PATTERN WINDOW Door w LAST 6 TICKS WHERE n = COUNT(w) AND badges = SUM(w.badge)
    PARTITION BY person;

-- a second stage, with other keys
EVENT meeting(x.person AS one, y.person AS other) AS PATTERN
    SEQ(errand x, errand y[person <> x.person]) WITHIN 30 TICKS PARTITION BY room ON RETRACT no_meeting;

-- a third one: relations between all keys
EVENT apart(x.person AS one, y.person AS other) AS PATTERN SOME errand x PRECEDES ALL errand y;
"""
MODES = {"Door": Mode(6, speculative=True, window=12), "Call": Mode(3, speculative=True)}
ROOMS = ("hall", "lab", "lab")
N_TICKS = 36


def random_doors(rng: random.Random) -> Rows:
    """A door and now and then a call per tick and person."""
    doors, calls = [], []
    for t in range(N_TICKS):
        for person in "abcd":
            if rng.random() < 0.6:
                n, room, badge = len(doors), rng.choice(ROOMS), rng.randrange(100)
                doors.append({"id": f"d{n}", "n": n, "person": person, "room": room, "badge": badge, "t": t})
            if rng.random() < 0.25:
                kind, room = rng.choice(("ask", "ask", "answer")), rng.choice(ROOMS)
                calls.append({"person": person, "room": room, "kind": kind, "t": t})
    return {"Door": doors, "Call": calls}
