"""Events that have patterns, or first parts of them, in common: what they find does not depend on who shares what."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.oracle import oracle
from tests.kit.programs import Case, Options, seeded_cases
from tests.properties.pushing import pushed, pushes_of

import inkling
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.rewrites.rules import rewrite
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import plan_program

pytestmark = pytest.mark.long

SEEDS = range(2)
CASES_PER_SEED = 60


def _with_relatives(plan: p.ProgramPlan) -> p.ProgramPlan:
    """The program with more events: each again, for other results, and without its last part."""
    events = [relative for event in plan.events for relative in (event, *_relatives(event))]
    return replace(plan, events=tuple(events))


def _relatives(event: p.EventPlan) -> Iterator[p.EventPlan]:
    if event.timeouts_of is not None or isinstance(event.pattern, p.Quantified | p.Sliding):
        return
    yield _called(event, "again")
    other = p.Per.INTERVAL if event.per is p.Per.END else p.Per.END
    yield _called(replace(event, per=other, returns=()), "other")
    match event.pattern:
        case p.Sequence(parts=(*first, p.Leaf(slot=slot))) if len(first) > 1 and isinstance(first[-1], p.Leaf):
            shorter = replace(event.pattern, parts=tuple(first))
            if any(read >= slot for part in p.expressions_of(shorter) for read in e.slots_of(part)):
                return  # a NOT in it reads the last part
            bare = replace(event, pattern=shorter, slots=event.slots[:slot], head=(), returns=(), having=())
            yield _called(replace(bare, per=p.Per.MATCH, consumption=None), "first")
        case _:
            pass


def _called(event: p.EventPlan, ending: str) -> p.EventPlan:
    name = f"{event.name}_{ending}"
    outputs = tuple(output.name for output in (*event.head, *event.returns))
    columns = tuple(column for column in event.schema.columns if column.name in outputs)
    return replace(event, name=name, schema=replace(event.schema, name=name, columns=columns))


def _found(case: Case, plan: p.ProgramPlan, physical: PhysicalPlan) -> dict[str, list[dict[str, object]]]:
    program = replace(inkling.parse(case.text), plan=plan, physical=physical)
    results = program.run_local(arrow_streams(plan, case.rows), arrow_tables(plan, case.tables))
    return {name: table.to_pylist() for name, table in results.tables.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_sharing_changes_nothing(seed: int) -> None:
    n_twins = n_whole = n_first = 0
    for case in seeded_cases(seed + 7000, CASES_PER_SEED):
        plan = _with_relatives(case.plan)
        rewritten = rewrite(plan).plan
        expected = oracle(plan, case.rows, case.tables)
        together, apart = plan_program(rewritten), plan_program(rewritten, shares=False)
        for stage in together.stages:
            n_twins += len(stage.sharing.twins)
            n_whole += sum(part.n_parts == 0 for part in stage.sharing.parts)
            n_first += sum(part.n_parts > 0 for part in stage.sharing.parts)
        assert not any(stage.sharing.twins or stage.sharing.parts for stage in apart.stages)
        for physical in (together, apart):
            wrong = differences(plan, expected, _found(case, plan, physical))
            assert not wrong, "\n".join([str(case), *wrong])
    assert min(n_twins, n_whole, n_first) > CASES_PER_SEED // 10


@pytest.mark.parametrize("seed", range(2))
def test_sharing_changes_nothing_on_streams(seed: int) -> None:
    rng = random.Random(seed)
    n_shared = 0
    for case in seeded_cases(seed + 7100, CASES_PER_SEED, Options(without=frozenset({"ties with order"}))):
        if any(stream.schema.id is None for stream in case.plan.streams):
            continue  # rows get their numbers as they come
        plan = _with_relatives(case.plan)
        together = plan_program(rewrite(plan).plan)
        n_shared += sum(len(stage.sharing.twins) + len(stage.sharing.parts) for stage in together.stages)
        program = replace(inkling.parse(case.text), plan=plan, physical=together)
        related = replace(case, plan=plan)
        found = pushed(rng, program, related, pushes_of(rng, case, 0))
        wrong = differences(plan, oracle(plan, case.rows, case.tables), found)
        assert not wrong, "\n".join([str(case), *wrong])
    assert n_shared > CASES_PER_SEED // 2
