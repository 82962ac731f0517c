"""Every evaluator behind the protocol keeps its laws."""

import random
from collections import Counter
from pathlib import Path

import pytest
from tests.conformance import toy
from tests.kit.evaluator_laws import check_evaluator

import inkling
from inkling.analysis import choice
from inkling.evaluators.protocol import Context
from inkling.local import taken_in
from inkling.model.uncertainty import ProbableValue
from inkling.runtime import registry

GOLDEN = Path(__file__).parents[1] / "golden" / "doubt"

SEEN = "STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t PROBABILITY p;"
QUERIES = {
    "regular": "EVENT e(who) AS PATTERN SEQ(Seen a[room = 'hall'], Seen b[room = 'lab']) PARTITION BY who PER END;",
    "ever": "EVENT e(who) AS PATTERN SEQ(Seen a[room = 'hall'], Seen b[room = 'lab']) PARTITION BY who PER VALUES;",
    "sets": "EVENT e AS PATTERN SEQ NEXT(Seen a, Seen b[room = a.room]) PER END;",
    "toy": "EVENT toy_e(who) AS PATTERN Seen a PARTITION BY who;",
}
CHAINS = """
STREAM Login(id STRING, who STRING, t BIGINT) ID id KEY who TIME t ± 2 TICKS;
STREAM Alarm(id STRING, who STRING, lo BIGINT, hi BIGINT) ID id KEY who TIME BETWEEN lo AND hi;
EVENT {name}(who) AS PATTERN {pattern} WITHIN 8 TICKS PARTITION BY who;
"""
PATTERNS = ["SEQ(Login l, Alarm a)", "SEQ NEXT(Login l, Alarm a)", "SEQ(Login l, NOT Alarm, Login m)"]


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "FAMILIES", {toy.NAME: choice.Family(ProbableValue, toy.recognize), **choice.FAMILIES})
    monkeypatch.setitem(registry.EXACT, toy.NAME, toy.ToyEvaluator.of)


def checked(text: str, rows: dict[str, list[dict[str, object]]], seed: int) -> Counter[str]:
    """How many results each evaluator of a program has, once it has kept the laws."""
    program = inkling.parse(text)
    given = taken_in(program, rows)
    assert not len(given.rejects)
    context = Context(given.facts, given.around, given.measure)
    found = registry.exact_evaluators(program.physical, context)
    rng = random.Random(seed)
    return Counter({name: check_evaluator(one, given.sources, rng) for name, one in found.items()})


def seen(rng: random.Random) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for t in range(8):
        for who in ("ada", "bob"):
            rooms = rng.sample(["hall", "lab", "yard"], rng.randrange(3))
            shares = [rng.choice([0.125, 0.25, 0.5]) for _ in rooms]
            rows += [
                {"id": f"{who}{t}", "who": who, "room": room, "t": t, "p": p}
                for room, p in zip(rooms, shares, strict=True)
            ]
    return rows


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", QUERIES)
def test_queries(name: str, seed: int) -> None:
    found = checked(f"{SEEN}\n{QUERIES[name]}", {"Seen": seen(random.Random(f"{name} {seed}"))}, seed)
    assert found[toy.NAME if name == "toy" else choice.Evaluator.QUERY] > 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pattern", PATTERNS)
def test_chains(pattern: str, seed: int) -> None:
    rng = random.Random(f"{pattern} {seed}")
    logins = [{"id": f"l{n}", "who": rng.choice("ab"), "t": rng.randrange(12)} for n in range(6)]
    alarms = [
        {"id": f"a{n}", "who": rng.choice("ab"), "lo": lo, "hi": lo + rng.randrange(4)}
        for n, lo in enumerate(rng.choices(range(12), k=5))
    ]
    found = checked(CHAINS.format(name="e", pattern=pattern), {"Login": logins, "Alarm": alarms}, seed)
    assert found[choice.Evaluator.CHAIN] > 0


@pytest.mark.parametrize("early", ["", "EARLY"])
def test_relations(early: str) -> None:
    text = (GOLDEN / "relation.ink").read_text().replace("SOME Gate b;", f"SOME Gate b\n  CONFIDENCE >= 0.1 {early};")
    rows: list[dict[str, object]] = [
        {"car": car, "n": n, "t": t}
        for car, places in (("x", {1: 1, 2: 6, 4: 9}), ("y", {1: 4, 3: 10, 4: 12}), ("z", {1: 2, 2: 20}))
        for n, t in places.items()
    ]
    assert checked(text, {"Gate": rows}, 1)[choice.Evaluator.RELATION] > 0
