"""Random queries over probable streams, cut somewhere: their open matches are those of the definition, in all worlds.

Partial matches with equally many parts and equal values of the variables count together. Every engine is seen.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from tests.kit.look_back import require_all
from tests.kit.open_oracle import OpenGroup, OpenShare, Variables, open_groups
from tests.kit.probable_oracle import base_event
from tests.kit.queries import random_query
from tests.kit.regular_queries import random_regular
from tests.kit.safe_queries import PATTERNS, safe_program, safe_rows
from tests.kit.seeds import at_length

import inkling
from inkling.analysis.query.normal_form import query_of
from inkling.analysis.query.strategy import Engine, Strategy, strategy_of
from inkling.errors import NotSupportedYet
from inkling.evaluators.query.sets import universal
from inkling.evaluators.sampling import Sampling
from inkling.local_stream import LocalStream
from inkling.logical import plan as p
from inkling.meaning.open_matches import is_covered

SEEDS = range(4)
LONG_SEEDS = at_length(range(100, 164))
CASES_PER_SEED = 60
SAMPLING = Sampling(epsilon=0.1, delta=1e-7, seed=5)

Rows = dict[str, list[dict[str, Any]]]

tally: Counter[str] = Counter()


def named(text: str, rows: Mapping[str, Any]) -> tuple[str, Rows]:
    """The program with ids of events, which all alternatives of an event share."""
    text = re.sub(r"^(STREAM \w+\()(.*?)\)", r"\1id STRING, \2) ID id", text, flags=re.MULTILINE)
    found: Rows = {}
    for name, some in rows.items():
        is_certain = re.search(rf"STREAM {name}\(.*PROBABILITY", text) is None
        found[name] = [
            {**row, "id": f"{name} {row.get('k')} {row.get('j')} {row['t']}{f' {place}' if is_certain else ''}"}
            for place, row in enumerate(some)
        ]
    return text, found


def is_plain(event: p.EventPlan) -> bool:
    """Whether the definition knows all that is asked: conditions on taken events end attempts, it says nothing of."""
    checked = any(leaf.checks for leaf in p.leaves(event.pattern))
    return is_covered(event) and not event.having and not checked and event.within is None and not event.restart


def variables_of(program: inkling.Program, how: Strategy, rows: Rows) -> Variables:
    """The values of the variables in an event that a match begins with."""
    schemas = {stream.schema.name: stream.schema for stream in program.plan.streams}
    query, by_event = how.query, {}
    for name, some in rows.items():
        for row in some:
            by_event[base_event(schemas[name], row, 0)] = row
    columns = [
        min(one for one in query.variable(name).columns_in(0) if query.source(0).is_key(one)) for name in how.variables
    ]
    return lambda event: tuple(by_event[event][column] for column in columns)


def found_in(stream: LocalStream, rows: Rows, columns: list[str]) -> dict[OpenGroup, dict[str, Any]]:
    ids = {row["id"]: row for some in rows.values() for row in some}
    listed = stream.open_matches("q").to_pylist()
    groups = {(one["reached"], tuple(ids[one["lineage"][0]][column] for column in columns)): one for one in listed}
    assert len(groups) == len(listed), "a group is listed once"
    return groups


def agree(
    wanted: Mapping[OpenGroup, OpenShare], found: Mapping[OpenGroup, dict[str, Any]], once: bool, case: object
) -> None:
    for group in wanted.keys() | found.keys():
        share = wanted[group].probability if group in wanted else 0
        if group not in found:
            assert share == 0, (case, group, wanted[group])
            continue
        one = found[group]
        assert abs(float(share) - one["probability"]) <= one["error"] + 1e-9, (case, group, share, one)
        if one["error"] <= 1e-7:
            assert one["method"] == "exact"
        if one["start"] is not None and not one["error"]:
            # with PER VALUES, the earliest start is that of any world, with or without a match
            early = one["start"] <= wanted[group].start if once else one["start"] == wanted[group].start
            assert early, (case, group, wanted[group], one)


def compare(text: str, given: Mapping[str, Any], rng: random.Random, sampling: Sampling | None = None) -> None:
    text, rows = named(text, given)
    program = inkling.parse(text)
    (event,) = program.plan.events
    how = strategy_of(event, program.plan).conclusion
    if how is None or not is_plain(event):
        tally["not compared"] += 1
        return
    times = sorted({row["t"] for some in rows.values() for row in some})
    now = rng.choice(times) if times else 0
    known = {name: [row for row in some if row["t"] <= now] for name, some in rows.items()}
    stream = program.open(unbounded=True, sampling=sampling)
    for time in [one for one in times if one <= now]:
        if rng.random() < 0.2:
            stream = LocalStream.restore(program, stream.snapshot(), sampling=sampling)
        stream.push({name: here for name, some in known.items() if (here := [r for r in some if r["t"] == time])})
    try:
        stream.open_matches("q")
    except NotSupportedYet:
        tally[f"{how.engine.name} rejected"] += 1
        tally["safe PER END rejected"] += how.engine is Engine.SAFE and event.per is p.Per.END
        return
    variables = variables_of(program, how, known)
    query = how.query
    columns = [
        min(one for one in query.variable(name).columns_in(0) if query.source(0).is_key(one)) for name in how.variables
    ]
    found = found_in(stream, known, columns)
    agree(
        open_groups(program.plan, known, "q", now, variables),
        found,
        event.per is p.Per.VALUES,
        (text, known, now, how.engine),
    )
    tally[how.engine.name] += 1
    tally["open"] += len(found)
    tally["sampled"] += sum(one["method"] == "sampled" for one in found.values())
    tally["uncertain"] += sum(0 < one["probability"] < 1 for one in found.values())


def kinds(text: str) -> dict[str, str]:
    """Of the streams that a query reads."""
    plan = inkling.parse(text).plan
    query = query_of(plan.events[0], plan).conclusion
    assert query is not None
    return {
        name: "certain" if one.certain else "chain" if one.markov else "independent"
        for name, one in query.sources.items()
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_queries(seed: int) -> None:
    rng = random.Random(seed)
    tally["seeds"] += 1
    for _ in range(CASES_PER_SEED):
        case = random_query(rng)
        compare(case.text, case.rows, rng)


@pytest.mark.parametrize("seed", SEEDS)
def test_regular_patterns(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(CASES_PER_SEED):
        case = random_regular(rng, keys=2, worlds=16)
        compare(case.text, {"S": case.rows}, rng)


@pytest.mark.parametrize("seed", SEEDS)
def test_safe_plans(seed: int) -> None:
    rng = random.Random(seed)
    for pattern in PATTERNS.values():
        text = safe_program(rng, pattern, "END")
        compare(text, safe_rows(rng, kinds(text), 48), rng)


@pytest.mark.parametrize("seed", SEEDS)
def test_sampled_sets_of_partial_matches(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(universal, "MOST_STATES", 1)
    monkeypatch.setitem(universal.Universal.__init__.__kwdefaults__, "cap", 1)
    rng = random.Random(seed)
    for _ in range(CASES_PER_SEED // 2):
        case = random_query(rng, "unsafe")
        compare(case.text, case.rows, rng, SAMPLING)


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_at_length(seed: int) -> None:
    test_queries(seed)
    test_regular_patterns(seed)
    test_safe_plans(seed)


def test_every_engine_was_seen() -> None:
    require_all(tally["seeds"], len(SEEDS))
    assert min(tally[one.name] for one in (Engine.CHAINS, Engine.AUTOMATON, Engine.SAFE, Engine.UNIVERSAL)) >= 30
    assert tally["uncertain"] >= 100
    assert tally["sampled"] >= 5
    rejected = sum(n for name, n in tally.items() if name.endswith("rejected"))
    assert rejected < tally["open"] / 10
    assert not tally["AUTOMATON rejected"]
    assert not tally["CHAINS rejected"]
    assert not tally["safe PER END rejected"]


def test_nothing_has_happened_that_ends_waiting() -> None:
    text = """
    STREAM B(t BIGINT, k BIGINT) KEY k TIME t;
    STREAM A(t BIGINT, k BIGINT) KEY k TIME t;
    STREAM C(t BIGINT, k BIGINT, j BIGINT, v BIGINT) KEY k, j TIME t PROBABILITY p GIVEN g;
    EVENT q AS PATTERN SEQ NEXT(B x0, A x1[k = x0.k], C x2[j = 2]) PER END;
    """
    c = {"k": 1, "j": 1, "t": 2, "v": 1, "p": 0.5, "g": None}
    rows = {"A": [{"k": 2, "t": 2}], "B": [{"k": 2, "t": 1}], "C": [c]}
    compare(text, rows, random.Random(2))
    assert tally["SAFE"]
