"""Every evaluator behind the protocol keeps its laws."""

import random
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.conformance import toy
from tests.conformance.cases import MIXED_STREAMS, MIXTURE, family_cases, mixed_rows
from tests.conformance.forecasts import forecast_cases
from tests.conformance.packs import IN_WORLDS
from tests.conformance.runners import SAMPLED
from tests.kit.evaluator_laws import StageInput, StreamInput, check_evaluator

import inkling
from inkling.analysis import choice
from inkling.evaluators.certain import CertainEvaluator, rows_of
from inkling.evaluators.protocol import EvaluatorContext
from inkling.evaluators.stage.rows import format as r
from inkling.local import IngestedInputs, ingest
from inkling.model.uncertainty import ProbableValue
from inkling.runtime import registry

GOLDEN = Path(__file__).parents[1] / "golden" / "uncertainty"

SEEN = "STREAM Seen(id STRING, who STRING, {tag}room STRING, t BIGINT, p DOUBLE) ID id KEY {key} TIME t PROBABILITY p;"
PLAIN, TAGGED = SEEN.format(tag="", key="who"), SEEN.format(tag="tag STRING, ", key="who, tag")
WALKED = TAGGED.replace("PROBABILITY p", "PROBABILITY p GIVEN before")
NEXT_OF_TAG = "EVENT e(who) AS PATTERN SEQ NEXT(Seen a[room = 'hall'], Seen b[room = 'lab' AND tag = a.tag], Seen c)"
HALL_LAB = "EVENT e(who) AS PATTERN SEQ(Seen a[room = 'hall'], Seen b[room = 'lab'])"
PASSED = "EVENT e(who, tag) AS PATTERN SEQ(Seen a[room = 'hall'], NOT Seen[room = 'yard'], Seen b[room = 'lab'])"
QUERIES = {
    "regular": f"{PLAIN} {HALL_LAB} PARTITION BY who PER END;",
    "ever": f"{PLAIN} {HALL_LAB} PARTITION BY who PER VALUES;",
    "without a key": f"{PLAIN} EVENT e AS PATTERN SEQ NEXT(Seen a, Seen b[room = a.room]) PER END;",
    "sets": f"{PLAIN} EVENT e(who) AS PATTERN SEQ NEXT(Seen a, Seen b[room = a.room]) PARTITION BY who PER END;",
    "sets, ever": f"{TAGGED} {NEXT_OF_TAG} PARTITION BY who PER VALUES;",
    "safe": f"{TAGGED} {NEXT_OF_TAG} PARTITION BY who PER END;",
    "pattern": f"{TAGGED} {PASSED} PARTITION BY who, tag PER END;",
    "toy": f"{PLAIN} EVENT toy_e(who) AS PATTERN Seen a PARTITION BY who;",
}
CHAINS = """
STREAM Login(id STRING, who STRING, t BIGINT) ID id KEY who TIME t ± 2 TICKS;
STREAM Sure(id STRING, who STRING, v BIGINT, t BIGINT) ID id KEY who TIME t DERIVE change = v - PREV(v);
STREAM Alarm(id STRING, who STRING, lo BIGINT, hi BIGINT) ID id KEY who TIME BETWEEN lo AND hi;
EVENT {name}(who) AS PATTERN {pattern} WITHIN 8 TICKS PARTITION BY who;
"""
CERTAIN = """
STREAM V(id STRING, k STRING, t BIGINT, n BIGINT, s STRING, x BIGINT) ID id KEY k TIME t ORDER BY n;
STREAM Stay(id STRING, k STRING, v STRING, since BIGINT, till BIGINT) ID id KEY k, v TIME FROM since TO till;
"""
KINDS = {
    choice.Evaluator.AUTOMATON: "e(k) AS PATTERN SEQ STRICT(V[s = 'a'], V[s = 'b']+) PARTITION BY k PER END",
    choice.Evaluator.NETWORK: """e(k, a.x AS x) AS
  PATTERN SEQ(V a[s = 'a'], NOT V[s = 'c' AND x > a.x], V b[s = 'b' AND x >= a.x]) WITHIN 6 TICKS PARTITION BY k""",
    choice.Evaluator.SEGMENTS: """e(a.v AS one, b.v AS other, k) AS
  PATTERN ALL Stay a STARTS_BEFORE SOME Stay b PARTITION BY k""",
    choice.Evaluator.WINDOW: "e(k, SUM(w.x) AS total) AS PATTERN WINDOW V w LAST 4 TICKS PARTITION BY k ON CHANGE",
    choice.Evaluator.CONSUMPTION: "e(k) AS PATTERN SEQ(V[s = 'a'], V[s = 'b']) PARTITION BY k CONSUME CHRONOLOGICAL",
}
"""What each evaluator of a stage is asked."""
STAGES = (
    CERTAIN.replace("ORDER BY n", "ORDER BY n DERIVE grown = x - PREV(x)")
    + """
EVENT up(k, v.x AS x) AS PATTERN V v[grown > 0] PARTITION BY k;
EVENT twice(k) AS PATTERN SEQ(up a, up b[x > a.x]) WITHIN 5 TICKS PARTITION BY k;
EVENT run(k) AS PATTERN SEQ STRICT(V[s = 'a'], V[s = 'b']) PARTITION BY k PER END;
EVENT after(k) AS PATTERN SEQ(run r, NOT twice, V v[s = 'c']) WITHIN 6 TICKS PARTITION BY k;
"""
)
"""Several evaluators, some of which read what others find."""
PATTERNS = [
    "SEQ(Login l, Alarm a)",
    "SEQ NEXT(Login l, Alarm a)",
    "SEQ(Login l, NOT Alarm, Login m)",
    "SEQ(Login l, Sure s[change > 0])",
]


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "FAMILIES", {toy.NAME: choice.Family(ProbableValue, toy.recognize), **choice.FAMILIES})
    monkeypatch.setitem(registry.MAKERS, toy.NAME, toy.ToyEvaluator.of)


def checked(text: str, rows: dict[str, Any], seed: int, tables: dict[str, Any] | None = None) -> Counter[str]:
    """How many results each evaluator of a program has, once it has kept the laws."""
    program = inkling.parse(text)
    ingested = ingest(program, rows, tables)
    assert not len(ingested.rejects)
    context = EvaluatorContext(ingested.facts, ingested.context, ingested.unit, SAMPLED)
    found = registry.uncertain_evaluators(program.physical, context)
    rng = random.Random(seed)
    divided = {name: name != choice.Evaluator.WORLDS and "PARTITION BY" in text for name in found}
    assert {name: one.is_divisible for name, one in found.items()} == divided
    return Counter({name: check_evaluator(StreamInput(one, ingested.sources), rng) for name, one in found.items()})


def certain_rows(rng: random.Random) -> dict[str, Any]:
    times = sorted(rng.choices(range(14), k=36))
    rows = [
        {"id": f"v{n}", "k": rng.choice("pqr"), "t": t, "n": n, "s": rng.choice("abc"), "x": rng.randrange(4)}
        for n, t in enumerate(times)
    ]
    stays = [
        {"id": f"s{n}", "k": rng.choice("pqr"), "v": rng.choice("vw"), "since": t, "till": t + rng.randrange(4)}
        for n, t in enumerate(rng.choices(range(14), k=16))
    ]
    return {"V": rows, "Stay": stays}


def checked_stages(text: str, rows: dict[str, Any], seed: int, tables: dict[str, Any] | None = None) -> Counter[str]:
    """How many results each evaluator of a stage has, once it, the stage and the evaluator of stages kept the laws."""
    evaluator, ingested, found = checked_certain(text, rows, seed, tables)
    rng = random.Random(seed)
    for stage in evaluator.stages:
        prepared = {r.STAGE_ROWS: rows_of(stage.stage, ingested.sources, ingested.facts, ingested.context)}
        every = {"stage": stage, **{one.name: one for one in stage.members}}
        found.update({name: check_evaluator(StageInput(stage, one, prepared), rng) for name, one in every.items()})
    return found


def checked_certain(
    text: str, rows: dict[str, Any], seed: int, tables: dict[str, Any] | None = None
) -> tuple[CertainEvaluator, IngestedInputs, Counter[str]]:
    program = inkling.parse(text)
    ingested = ingest(program, rows, tables)
    assert not len(ingested.rejects)
    evaluator = CertainEvaluator(program.physical, EvaluatorContext(ingested.facts, ingested.context, ingested.unit))
    n_results = check_evaluator(StreamInput(evaluator, ingested.sources), random.Random(seed))
    return evaluator, ingested, Counter(all=n_results)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_certain_evaluators(kind: str, seed: int) -> None:
    text = f"{CERTAIN} EVENT {KINDS[kind]};"
    (stage,) = inkling.parse(text).physical.stages
    assert [step.evaluator for step in stage.steps] == [kind]
    found = checked_stages(text, certain_rows(random.Random(f"{kind} {seed}")), seed)
    assert len(found) == 3
    assert len({*found.values()}) == 1
    assert found["all"] > 0


@pytest.mark.parametrize("seed", range(2))
def test_certain_forecasts(seed: int) -> None:
    case = forecast_cases(0)[seed]
    assert checked_stages(case.text, case.given(), seed, case.given_tables())["all"] > 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("is_divisible", [True, False])
def test_stages(is_divisible: bool, seed: int) -> None:
    text = STAGES if is_divisible else f"{STAGES} EVENT pair AS PATTERN SEQ(run a, up b) WITHIN 3 TICKS;"
    evaluator, _, found = checked_certain(text, certain_rows(random.Random(f"stages {seed}")), seed)
    assert found["all"] > 0
    assert evaluator.is_divisible == is_divisible
    assert len(evaluator.stages) == (1 if is_divisible else 2)


def seen(rng: random.Random) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for t in range(8):
        for who, tag in (("ada", "x"), ("ada", "y"), ("bob", "x"), ("cyd", "x")):
            rooms = rng.sample(["hall", "lab", "yard"], rng.randrange(3))
            shares = [rng.choice([0.125, 0.25, 0.5]) for _ in rooms]
            rows += [
                {"id": f"{who}{tag}{t}", "who": who, "tag": tag, "room": room, "t": t, "p": p}
                for room, p in zip(rooms, shares, strict=True)
            ]
    return rows


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", QUERIES)
def test_queries(name: str, seed: int) -> None:
    rows = seen(random.Random(f"{name} {seed}"))
    if "tag" not in QUERIES[name]:
        rows = [{key: value for key, value in row.items() if key != "tag"} for row in rows if row["tag"] == "x"]
    found = checked(QUERIES[name], {"Seen": rows}, seed)
    assert found[toy.NAME if name == "toy" else choice.Evaluator.QUERY] > 0


def test_an_engine_that_may_give_way_to_another_is_not_divided() -> None:
    program = inkling.parse(f"{WALKED} {NEXT_OF_TAG} PARTITION BY who PER END;")
    ingested = ingest(program, {"Seen": []})
    found = registry.uncertain_evaluators(
        program.physical, EvaluatorContext(ingested.facts, ingested.context, ingested.unit)
    )
    assert not found[choice.Evaluator.QUERY].is_divisible


@pytest.mark.parametrize("seed", range(3))
def test_mixtures(seed: int) -> None:
    rng = random.Random(f"mixture {seed}")
    pieces = [mixed_rows(rng, f"k{key}") for key in range(4)]
    rows = {name: [row for piece in pieces for row in piece[name]] for name in pieces[0]}
    found = checked(MIXED_STREAMS + MIXTURE, rows, seed, {"near": [{"one": "hall", "other": "lab"}]})
    assert min(found[name] for name in (choice.Evaluator.CHAIN, choice.Evaluator.QUERY, choice.Evaluator.WORLDS)) > 0


@pytest.mark.parametrize("seed", range(2))
def test_forecasts(seed: int) -> None:
    case = forecast_cases(seed)[2]
    found = checked(case.text, case.given(), seed, case.given_tables())
    assert found[choice.Evaluator.QUERY] > 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pattern", PATTERNS)
def test_chains(pattern: str, seed: int) -> None:
    rng = random.Random(f"{pattern} {seed}")
    logins = [{"id": f"l{n}", "who": rng.choice("ab"), "t": rng.randrange(12)} for n in range(6)]
    alarms = [
        {"id": f"a{n}", "who": rng.choice("ab"), "lo": lo, "hi": lo + rng.randrange(4)}
        for n, lo in enumerate(rng.choices(range(12), k=5))
    ]
    sure = [{"id": f"s{n}", "who": rng.choice("ab"), "v": rng.randrange(9), "t": 2 * n} for n in range(8)]
    rows = {"Login": logins, "Alarm": alarms, "Sure": sure}
    found = checked(CHAINS.format(name="e", pattern=pattern), rows, seed)
    assert found[choice.Evaluator.CHAIN] > 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", IN_WORLDS)
def test_worlds(family: str, seed: int) -> None:
    """On streams worlds are sampled; over complete data the same ones can be asked for."""
    cases = [(case, checked(case.text, case.given(), seed, case.given_tables())) for case in family_cases(family, seed)]
    assert all(found[choice.Evaluator.WORLDS] > 0 for case, found in cases if any(case.expected.values()))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("early", ["", "EARLY"])
@pytest.mark.parametrize("by_site", [False, True])
@pytest.mark.parametrize("ends", ["", " TIMEOUT 9 TICKS"])
def test_relations(ends: str, by_site: bool, early: str, seed: int) -> None:
    """With TIMEOUT, keys that can no longer be related are forgotten."""
    text = (GOLDEN / "relation.ink").read_text().replace("Gate(car", "Gate(site STRING, car")
    text = text.replace("KEY car", "KEY site, car").replace(" SEGMENTS", f" SEGMENTS{ends}")
    asked = f"SOME Gate b {'PARTITION BY site' if by_site else ''}\n  CONFIDENCE >= 0.1 {early};"
    shown = "" if by_site else ", a.site AS here, b.site AS there"
    text = text.replace("SOME Gate b;", asked).replace("b.car AS other)", f"b.car AS other{shown})")
    rng = random.Random(f"relation {seed}")
    rows: list[dict[str, object]] = []
    for site, (place, car) in product(("north", "south", "west"), enumerate("xyz")):
        first = 8 * place if ends else 0
        times = sorted(rng.sample(range(first, first + 30 - len(ends)), 8))
        rows += [
            {"site": site, "car": car, "n": n, "t": t} for n, t in enumerate(times, 1) if n == 1 or rng.random() < 0.7
        ]
    assert checked(text, {"Gate": rows}, seed)[choice.Evaluator.RELATION] > 0
