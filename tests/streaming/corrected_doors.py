"""A program with every kind of state over streams that correct themselves, and rows for it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping

import pyarrow as pa
from tests.kit.arrow import arrow_streams
from tests.kit.revisions import Mode, Step, random_script
from tests.kit.rows import Rows
from tests.streaming.revised_query import regrouped

import inkling
from inkling.query import Program

PROGRAM = """
STREAM Door(id STRING, n BIGINT, person STRING, room STRING, badge BIGINT, t BIGINT) ID id KEY person TIME t ORDER BY n
    DERIVE moved = badge - PREV(badge), stay = SINCE_CHANGE(room);
STREAM Note(id STRING, text STRING, t BIGINT) ID id TIME t;
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
EVENT noted(n.text AS text) AS PATTERN Note n;
EVENT apart(x.person AS one, y.person AS other) AS PATTERN SOME errand x PRECEDES ALL errand y;
"""
MODES = {"Door": Mode(6, speculative=True, window=12), "Call": Mode(3, speculative=True), "Note": Mode(4, window=12)}
BAD_NOTES = (
    ("Note", "never", "nothing to withdraw"),
    ("Note", "again", "withdrawn twice"),
    ("Note", "old"),
    ("Note", "late"),
)
"""What cannot be done, by stream and id: with a reason where it is rejected, without one where it comes too late."""

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


def models(rng: random.Random, program: Program) -> dict[str, pa.Table]:
    """What the forecast goes by, learned from other doors."""
    rows = arrow_streams(program.plan, random_doors(rng))
    return {
        name: model.to_arrow()
        for name, model in program.fit({"Door": rows["Door"]}, settings=inkling.FitSettings(order=2)).items()
    }


def steps(rng: random.Random, program: Program, n: int) -> list[Step]:
    """Doors and calls that come late and are withdrawn, and notes that are withdrawn in all the wrong ways."""
    rows = random_doors(rng)
    while True:
        script = random_script(rng, program.plan, rows, MODES)
        if len(script) >= 2 * n:
            break
    found = regrouped(script, n, ("Door", "Call", "Note"))
    for step, notes in zip(found, _notes(n), strict=True):
        step.rows["Note"] = notes
    return found


def _notes(n: int) -> list[list[dict[str, object]]]:
    """The first step withdraws a note that comes with the second; the last one has what comes too late."""
    notes: list[list[dict[str, object]]] = [[_note(f"n{at}", (at + 1) * N_TICKS // n)] for at in range(n)]
    notes[0] += [_note("again", 1), _note("old", 0), _note("early", None, "-")]
    notes[1] += [_note("early", N_TICKS // n), _note("again", None, "-")]
    notes[2] += [_note("again", 1, "-")]
    notes[-1] += [_note("old", None, "-"), _note("never", None, "-"), _note("late", 0)]
    return notes


def _note(name: str, t: int | None, op: str = "+") -> dict[str, object]:
    return {"id": name, "text": f"about {name}", "t": t, "op": op}


def bag(rows: Iterable[Mapping[str, object]]) -> Counter[str]:
    """Rows by what they say, told or taken back; calls have no ids of their own, so these do not count."""
    return Counter(
        repr(sorted((name, value) for name, value in row.items() if name not in ("op", "event", "lineage")))
        for row in rows
    )
