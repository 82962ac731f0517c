"""Random programs over streams that are revised: many small datasets side by side, and many scripts for each."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import pytest
from tests.kit.arrow import arrow_tables
from tests.kit.oracle import oracle
from tests.kit.programs import Options, size_for, wanted_program
from tests.kit.revised_streams import Reference
from tests.kit.revision_runs import ByDefinition, Told, follow
from tests.kit.revisions import Mode, Step, random_modes, random_script, revising
from tests.kit.rows import Rows
from tests.kit.rulesets import SIZES, random_rules
from tests.kit.streams import is_packable, pack, random_rows, random_tables

import inkling
from inkling.evaluators.automaton import evaluator as automata
from inkling.evaluators.stage import member
from inkling.logical.plan import ProgramPlan
from inkling.query import Program
from inkling.runtime.revision import replay

MOST_TRIES = 300
Check = Callable[[Reference, int, Told], list[str]]


@dataclass(frozen=True, slots=True)
class Revised:
    """A program without revision, the datasets it is tried on, and how its streams are revised."""

    text: str
    plan: ProgramPlan
    datasets: tuple[Rows, ...]
    tables: Rows
    modes: Mapping[str, Mode]

    @property
    def rows(self) -> Rows:
        return pack(self.datasets) if len(self.datasets) > 1 else self.datasets[0]

    def program(self) -> Program:
        return inkling.parse(revising(self.text, self.modes))


@dataclass(slots=True)
class Tally:
    """What was tried."""

    n_cases: int = 0
    n_checks: int = 0
    n_results: int = 0
    n_withdrawn: int = 0
    n_late: int = 0
    rejected: Counter[str] = field(default_factory=Counter)


def small_streams_are_trimmed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (member, replay):
        monkeypatch.setattr(module, "SPARE_ROWS", 0)
    monkeypatch.setattr(automata, "SPARE_KEYS", 0)


def packed_programs(rng: random.Random, needing: frozenset[str], n: int, n_datasets: int) -> Iterator[Revised]:
    """Programs with the asked features in which keys never meet."""
    without = frozenset({"ties with order", "row numbers as ids"})
    options = Options(partitioned=True, bad_rows=False, without=without, needing=needing, n_events=3)
    for _ in range(n):
        for _ in range(MOST_TRIES):
            streams, program = wanted_program(rng, options)
            if is_packable(program.plan):
                size = size_for(program.plan)
                datasets = [random_rows(rng, streams, n_events=size, bad_rows=False) for _ in range(n_datasets)]
                found = revised_at_random(rng, program.text, program.plan, datasets)
                if _is_fruitful(found):
                    yield found
                    break


def packed_rules(rng: random.Random, n: int, n_datasets: int, *, extending: bool = False) -> Iterator[Revised]:
    """Rule sets, most of them recursive, in which keys never meet; `extending`, they add to their streams."""
    options = Options(partitioned=True, bad_rows=False, without=frozenset({"ties with order", "row numbers as ids"}))
    made = 0
    while made < n:
        rules = random_rules(rng, options, extending=extending)
        if not is_packable(rules.plan):
            continue
        size = rng.choice(SIZES)
        datasets = [random_rows(rng, rules.streams, n_events=size, bad_rows=False) for _ in range(n_datasets)]
        found = revised_at_random(rng, rules.text, rules.plan, datasets)
        if _is_fruitful(found):
            made += 1
            yield found


def loose_programs(rng: random.Random, n: int) -> Iterator[Revised]:
    """Any programs: over all keys together, with rows that are no events, with numbers for ids."""
    options = Options(without=frozenset({"ties with order"}), n_events=3)
    made = 0
    while made < n:
        streams, program = wanted_program(rng, options)
        rows = random_rows(rng, streams, n_events=size_for(program.plan))
        found = revised_at_random(rng, program.text, program.plan, [rows])
        if _is_fruitful(found):
            made += 1
            yield found


def revised_at_random(rng: random.Random, text: str, plan: ProgramPlan, datasets: list[Rows]) -> Revised:
    return Revised(text, plan, tuple(datasets), random_tables(rng), random_modes(rng, plan))


def _is_fruitful(revised: Revised) -> bool:
    """Whether one of the first datasets has results."""
    return any(any(oracle(revised.plan, rows, revised.tables).values()) for rows in revised.datasets[:3])


def tried(rng: random.Random, revised: Revised, n_scripts: int, tally: Tally, check: Check | None = None) -> None:
    """Push scripts for a program, and compare after every push; by the definition unless something else is said."""
    program, tables = revised.program(), arrow_tables(revised.plan, revised.tables)
    definition = check or ByDefinition(revised.plan, revised.tables)
    for _ in range(n_scripts):
        script = random_script(rng, program.plan, revised.rows, revised.modes)
        try:
            run = follow(rng, program, tables, revised.modes, script, definition)
        except AssertionError as problem:
            raise AssertionError("\n".join([str(problem), program.text, *map(_readable, script)])) from problem
        tally.n_cases += len(revised.datasets)
        tally.n_checks += run.n_checks * len(revised.datasets)
        tally.n_results += run.n_results
        tally.n_withdrawn += run.n_withdrawn
        tally.n_late += run.n_late
        tally.rejected += run.rejected


def _readable(step: Step) -> str:
    return str(step.rows or step.idle)
