"""Random windows: what the definition gives, whole, pushed in pieces, over uncertain streams and after a snapshot."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tests.kit.arrival import with_lateness
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.coverage import Coverage, program_features
from tests.kit.oracle import oracle
from tests.kit.probable_comparison import found_in, probable_differences
from tests.kit.programs import Options, seeded_cases
from tests.kit.uncertain import GOOD_ROWS, Uncertainties, uncertain_cases
from tests.properties.pushing import as_arrived, pushed, pushes_of

import inkling
from inkling import Sampling
from inkling.evaluators.stage import member

WINDOWS = frozenset({"WINDOW"})
ORDERED = Options(needing=WINDOWS, without=frozenset({"ties with order"}))
SEEDS = range(2)
PROGRAMS_PER_SEED = 130


@pytest.mark.parametrize("seed", SEEDS)
def test_windows_eq_definition(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, and cut into pieces anywhere; what is no member any more is forgotten at once."""
    monkeypatch.setattr(member, "SPARE_ROWS", 0)
    rng = random.Random(seed)
    coverage = Coverage()
    for case in seeded_cases(seed + 500, PROGRAMS_PER_SEED, ORDERED):
        lateness = rng.choice((0, 2, 5))
        program = inkling.parse(with_lateness(case.text, lateness))
        expected = case.expected()
        coverage.add(case.plan, case.rows, expected)
        whole = program.run_local(arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables))
        found = {name: table.to_pylist() for name, table in whole.tables.items()}
        wrong = differences(case.plan, expected, found)
        assert not wrong, "\n".join([str(case), *wrong])
        has_ids = all(stream.schema.id is not None for stream in case.plan.streams)
        for _ in range(2):
            pushes = pushes_of(rng, case, lateness)
            wanted = expected if has_ids else oracle(case.plan, as_arrived(case.plan, pushes), case.tables)
            wrong = differences(case.plan, wanted, pushed(rng, program, case, pushes))
            assert not wrong, "\n".join([f"{lateness=}", str(case), *wrong])
    assert not coverage.missing(("WINDOW", "LAST EVENTS", "LAST duration", "SINCE", "ON CHANGE")), coverage.report()


@pytest.mark.parametrize("seed", SEEDS)
def test_windows_over_uncertain_streams_eq_definition(seed: int) -> None:
    uncertainties = Uncertainties(
        options=replace(GOOD_ROWS, needing=WINDOWS), accept=lambda plan: "WINDOW" in program_features(plan)
    )
    n_uncertain = 0
    for case in uncertain_cases(seed, 25, 1, uncertainties):
        expected = case.probable()
        results = case.program.run_local(
            arrow_streams(case.plan, case.rows),
            arrow_tables(case.plan, case.tables),
            sampling=Sampling(exact_up_to=1_000_000),
        )
        shown = found_in(case.plan, results.tables)
        wrong = probable_differences(case.plan, case.rows, expected, shown, tolerance=1e-12)
        assert not wrong, "\n".join([str(case), *wrong])
        n_uncertain += any(one.probability < 1 for some in expected.values() for one in some)
    assert n_uncertain > 5
