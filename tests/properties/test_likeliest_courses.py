"""The most probable course of events up to an answer is the most probable world in which the answer is true."""

from __future__ import annotations

import random
import re
from fractions import Fraction

import numpy as np
import pytest
from tests.kit.oracle import oracle
from tests.kit.queries import QueryCase, random_query
from tests.kit.rows import Rows

import inkling
from inkling.evaluators.query.answers import END, GROUNDING
from inkling.evaluators.query.course import Course, likeliest_course
from inkling.evaluators.query.program import QueryProgram
from inkling.evaluators.query.sets.sampled import WorldSampler
from inkling.io.normalize import ID
from inkling.local import ingest
from inkling.logical.plan import Per
from inkling.meaning.worlds import joint_worlds

QUERIES_PER_SEED = 30


@pytest.mark.property
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 20))])
def test_courses_are_the_most_probable_worlds(seed: int) -> None:
    rng = random.Random(seed)
    n_courses = 0
    for _ in range(QUERIES_PER_SEED):
        case = random_query(rng, rng.choice(("regular", "regular", "extended")), worlds=24)
        program = inkling.parse(case.text)
        known = ingest(program, case.rows)
        queries = QueryProgram.of(program.physical, known.context, known.unit, WorldSampler())
        if queries is None:
            continue
        one = queries.evaluators["q"]
        _, found = one.advance(one.start(), known.sources)
        for answer in found.to_pylist():
            course = likeliest_course(one, known.sources, np.uint64(answer[GROUNDING]), answer[END])
            if course is None:
                continue
            n_courses += 1
            ids = {name: table[ID].to_pylist() for name, table in known.sources.items()}
            mine = _read(course, np.uint64(answer[GROUNDING]), answer[END], ids)
            some = {name: rows[[rng.random() < 0.6 for _ in rows]] for name, rows in course.rows.items()}
            best, together = _by_worlds(case, one.event.per, answer[END], mine, _ids(some, ids))
            assert course.probability == pytest.approx(float(best), abs=1e-12), case.text
            assert course.together(some) == pytest.approx(float(together), abs=1e-12), case.text
    assert n_courses > 10


PATTERNS = (
    "SEQ({s} a[v = 1], NOT {s} b[v = 2], {s} c[v = 1])",
    "SEQ({s} a[v = 1]{{2}}, {s} b[v = 2])",
    "SEQ({s} a[v = 1], ({s} b[v = 2] OR {s} c[v = 1]), {s} d) CONSUME RESTART",
)
"""Regular patterns that are no queries of Lahar."""


def _random_case(rng: random.Random) -> QueryCase:
    """A query of Lahar, or a regular pattern over one stream of it."""
    case = random_query(rng, rng.choice(("regular", "regular", "extended")), worlds=24)
    keyed = re.findall(r"(STREAM (\w)\(.* v BIGINT\) KEY k TIME t PROBABILITY.*;)", case.text)
    if not keyed or rng.random() < 0.4:
        return case
    declared, name = keyed[0]
    pattern, _, consume = rng.choice(PATTERNS).format(s=name).partition(" CONSUME")
    per = rng.choice(("END", "VALUES"))
    text = f"{declared}\nEVENT q(k) AS PATTERN {pattern} PARTITION BY k{consume and ' CONSUME'}{consume} PER {per};"
    return QueryCase("pattern", text, {name: case.rows[name]})


def _read(course: Course, grounding: np.uint64, until: int, ids: dict[str, list[int]]) -> dict[str, set[int]]:
    """The ids of the rows that the grounding reads."""
    chain, events = course.chain, course.chain.events
    (unit,) = np.flatnonzero(chain.names == grounding).tolist()
    found: dict[str, set[int]] = {name: set() for name in ids}
    for step in chain.steps[unit]:
        for group in step.groups.tolist() if step.time <= until else ():
            source = events.sources[events.source[events.stream[group]]]
            for row in range(events.offsets[group], events.offsets[group + 1]):
                found[source].add(ids[source][events.row[row]])
    return found


def _ids(rows: dict[str, np.ndarray], ids: dict[str, list[int]]) -> dict[str, set[int]]:
    return {name: {ids[name][row] for row in some.tolist()} for name, some in rows.items()}


def _by_worlds(
    case: QueryCase, per: Per, end: int, read: dict[str, set[int]], chosen: dict[str, set[int]]
) -> tuple[Fraction, Fraction]:
    """The probability of the best world with a result, and that of all worlds with some rows."""
    certain = inkling.parse(re.sub(r" PROBABILITY p( GIVEN g)?", "", case.text))
    schemas = [stream.schema for stream in inkling.parse(case.text).plan.streams]
    numbered: Rows = {
        name: [row | {"number": at} for at, row in enumerate(rows, start=1) if at in read.get(name, ())]
        for name, rows in case.rows.items()
    }
    best, together = Fraction(0), Fraction(0)
    for weight, rows in joint_worlds(numbered, schemas):
        results = oracle(certain.plan, rows)["q"]
        if any(per is Per.VALUES or one.end == end for one in results):
            best = max(best, weight)
        happened = {name: {row["number"] for row in some} for name, some in rows.items()}
        if all(one <= happened[name] for name, one in chosen.items()):
            together += weight
    return best, together
