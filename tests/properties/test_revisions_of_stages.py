"""Late and withdrawn rows of segments, of forecasts, and of events that go through stages with other keys."""

from __future__ import annotations

import random
from random import Random

import pytest
from tests.kit import segments
from tests.kit.naive_forecasts import RESET, STREAM, learned, some_asked, some_rows
from tests.kit.oracle import bound
from tests.kit.revision_runs import ByFreshRun, follow
from tests.kit.revisions import REVISING, Mode, random_modes, random_script, revising
from tests.kit.rows import Rows
from tests.properties.revised import Revised, Tally, small_streams_are_trimmed_too, tried

import inkling
from inkling.model.event import Value
from inkling.runtime.revision import versions

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def _trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    small_streams_are_trimmed_too(monkeypatch)


STAGES = """
STREAM A(id STRING, k STRING, g STRING, x INT, t INT) ID id KEY k TIME t;
STREAM B(id STRING, k STRING, g STRING, x INT, t INT) ID id KEY k TIME t DERIVE d = x - PREV(x);
EVENT pair(k, b.g AS g, a.x + b.x AS x) AS PATTERN SEQ(A a, B b[d IS NULL OR d >= -1]) WITHIN 6 TICKS PARTITION BY k;
EVENT followed(g, p.x AS x) AS PATTERN SEQ NEXT (pair p, A a) WITHIN 8 TICKS PARTITION BY g;
EVENT total(g) AS PATTERN WINDOW followed w LAST 2 EVENTS PARTITION BY g RETURN COUNT(w) AS n, SUM(w.x) AS s;
EVENT alone AS PATTERN SEQ(followed f, NOT B b[x = 0]) WITHIN 3 TICKS;
EVENT once(f.x AS x) AS PATTERN SEQ(pair f, B b[x = f.x]) CONSUME CHRONOLOGICAL;
"""


def _stage_rows(rng: random.Random, n: int) -> Rows:
    return {
        name: [
            {
                "id": f"{name}{number}",
                "k": rng.choice("pq"),
                "g": rng.choice("uv"),
                "x": rng.choice((0, 1, 1, None)),
                "t": rng.randint(0, 12),
            }
            for number in range(n)
        ]
        for name in "AB"
    }


@pytest.mark.parametrize("seed", range(3))
def test_events_go_through_stages_with_other_keys(seed: int) -> None:
    rng, tally, plan = random.Random(seed), Tally(), bound(STAGES)
    for _ in range(12):
        revised = Revised(STAGES, plan, (_stage_rows(rng, rng.randint(4, 8)),), {}, random_modes(rng, plan))
        tried(rng, revised, 3, tally)
    assert tally.n_cases == 36
    assert tally.n_withdrawn > 5


HELD = """
STREAM L(id STRING, k STRING, x INT, begun INT, ended INT) ID id KEY k TIME FROM begun TO ended;
EVENT e0(k) AS PATTERN ((L v2 FINISHES L v3) ENDS_AFTER AT 5) OR L v4[x = 1] PARTITION BY k;
EVENT e1(k) AS PATTERN SEQ (L v1, e0 v3) WITHIN 4 POINTS PARTITION BY k CONSUME CHRONOLOGICAL KEEPING PER END;
"""


def test_events_that_are_held_back_to_the_end_reach_the_next_stage() -> None:
    rng, tally, plan = random.Random(1), Tally(), bound(HELD)
    for _ in range(10):
        rows: Rows = {"L": []}
        for number in range(6):
            begun = rng.randint(0, 6)
            row: dict[str, Value] = {"id": f"l{number}", "k": rng.choice("pq"), "x": rng.randint(0, 1)}
            rows["L"].append({**row, "begun": begun, "ended": begun + rng.randint(0, 2)})
        tried(rng, Revised(HELD, plan, (rows,), {}, {"L": rng.choice(REVISING)}), 2, tally)
    assert tally.n_results > 20


@pytest.mark.parametrize("seed", range(2))
def test_segments_of_streams_that_change(seed: int) -> None:
    """They are told at the end only, so nothing of them is taken back; what is withdrawn until then does not count."""
    rng, tally = Random(seed), Tally()
    streams = segments.STREAMS.replace("(k STRING", "(id BIGINT, k STRING").replace(") KEY", ") ID id KEY")
    for _ in range(12):
        text = streams + "".join(segments.relation(rng, f"e{one}") for one in range(2))
        rows = segments.random_rows(rng, sizes=(2, 6))
        plan = bound(text)
        revised = Revised(text, plan, (rows,), {}, random_modes(rng, plan))
        tried(rng, revised, 2, tally)
    assert tally.n_cases == 24
    assert tally.n_results > 5


@pytest.mark.parametrize("seed", range(4))
def test_forecasts_are_corrected(seed: int) -> None:
    """Compared with a run that neither waits nor corrects; what that says is compared with the definition elsewhere."""
    rng = random.Random(seed)
    resets = seed % 2 == 1
    asked = [some_asked(rng, number, resets=resets) for number in range(3)]
    text = STREAM.format(reset=RESET if resets else "") + "".join(one.text for one in asked)
    plain = inkling.parse(text)
    models = learned(plain, asked, some_rows(rng, 40, resets=resets))
    tables = dict(models)
    n_withdrawn = n_results = 0
    for _ in range(4):
        modes = {"V": rng.choice(REVISING)}
        program = inkling.parse(revising(text, modes))
        script = random_script(rng, program.plan, {"V": some_rows(rng, 12, resets=resets)}, modes)
        run = follow(rng, program, tables, modes, script, ByFreshRun(plain, tables))
        n_withdrawn += run.n_withdrawn
        n_results += run.n_results
    assert n_results


def test_ledgers_that_forget_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that nobody can withdraw any more are forgotten at once; nothing else depends on them."""
    monkeypatch.setattr(versions, "SPARE", 0)
    rng, tally, plan = random.Random(3), Tally(), bound(STAGES)
    for _ in range(12):
        revised = Revised(STAGES, plan, (_stage_rows(rng, 6),), {}, dict.fromkeys("AB", Mode(20, True, 20)))
        tried(rng, revised, 2, tally)
    assert tally.n_withdrawn > 10
