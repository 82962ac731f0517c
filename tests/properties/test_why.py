"""Random programs: the reported progress and the events behind results agree with the definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.oracle import oracle
from tests.kit.programs import Case, seeded_cases
from tests.kit.rulesets import seeded_rule_sets

import inkling
from inkling.local import ingest
from inkling.logical import plan as p
from inkling.meaning.semantics import Result
from inkling.why.explanation import Why
from inkling.why.progress import needed_part, progress_of

CASES_PER_SEED = 40
RULES_PER_SEED = 10
SEEDS = range(3)
MATCHES = "matches"


def _cases(seed: int) -> Iterator[Case]:
    """Programs, and sets of rules that are united and depend on themselves."""
    yield from seeded_cases(seed, CASES_PER_SEED)
    yield from seeded_rule_sets(seed, RULES_PER_SEED)


def _n_matches(case: Case, event: p.EventPlan, pattern: p.Pattern) -> int:
    """How many matches a pattern has before anything is consumed and before PER, by the definition."""
    bare = replace(
        event,
        name=MATCHES,
        pattern=pattern,
        having=event.having if pattern is event.pattern else (),
        per=p.Per.MATCH,
        keep=None,
        restart=False,
        consumption=None,
        on_change=False,
        timeouts_of=None,
        schema=replace(event.schema, name=MATCHES),
    )
    plan = replace(case.plan, events=(*case.plan.events, bare))
    return len(oracle(plan, case.rows, case.tables)[MATCHES])


def _are_told_apart(expected: dict[str, tuple[Result, ...]]) -> bool:
    """Whether no event has two results that differ in nothing that others could see of them."""
    return all(
        len({(one.values, one.start, one.end, one.lineage) for one in results}) == len(results)
        for results in expected.values()
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_last_part_has_the_matches_of_the_definition(seed: int) -> None:
    for case in _cases(seed):
        program = inkling.parse(case.text)
        ingested = ingest(program, arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables))
        expected = case.expected()
        if not _are_told_apart(expected):
            continue
        for event in case.plan.events:
            found = progress_of(event, needed_part(case.plan, event), ingested)
            assert found.n_results == len(expected[event.name]), case
            patterns = event.pattern.items if isinstance(event.pattern, p.Disjunction) else (event.pattern,)
            ways = list(dict.fromkeys(step.way for step in found.steps if step.way is not None)) or [None]
            for way, pattern in zip(ways, patterns, strict=True):
                steps = [step for step in found.steps if step.way == way and not step.what.startswith(AFTERWARDS)]
                assert steps[-1].matches == _n_matches(case, event, pattern), f"{case}\n{event.name} {steps}"
            assert bool(found.obstacles) >= (found.n_results == 0), case


AFTERWARDS = ("PER ", "KEEP FOR", "CONSUME", "ON CHANGE", "all together")


@pytest.mark.parametrize("seed", SEEDS)
def test_trees_rest_on_the_lineage(seed: int) -> None:
    for case in _cases(seed):
        program = inkling.parse(case.text)
        for event in case.plan.events:
            why = Why(program, event.name, arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables))
            for number, result in enumerate(why.results.to_pylist(), start=1):
                tree = why.tree(number)
                lineage = [one for row in tree.rows() for one in row.ids]
                assert lineage == result["lineage"], f"{case}\n{event.name} {result}"
                assert tree.end == result["end"], case
