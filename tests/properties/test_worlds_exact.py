"""Random programs over uncertain streams: counting out all worlds gives exactly what the definition gives.

The definition goes through the worlds of all rows at once. The runner cuts rows into parts that have nothing to do
with each other, by key and by time, and writes the worlds of each part side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

import pytest
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.coverage import Coverage
from tests.kit.look_back import require_all
from tests.kit.oracle import ProbableResult
from tests.kit.probable_comparison import found_in, probable_differences
from tests.kit.rule_coverage import chosen_from
from tests.kit.rulesets import rule_set_text
from tests.kit.seeds import at_length
from tests.kit.uncertain import UncertainCase, Uncertainties, uncertain_cases
from tests.kit.world_data import counted_out, world_data

from inkling import Sampling
from inkling.logical.recursion import groups_of
from inkling.model.uncertainty import ProbableValue

PROGRAMS_PER_SEED = 50
DATASETS = 5
SEEDS = range(8)
RULE_SET_SEEDS = SEEDS[:4]
LONG_SEEDS = at_length(range(8, 88))
ALL_WORLDS = 1_000_000
RULE_SETS_PER_SEED = 8
RULE_SETS = Uncertainties(accept=lambda plan: not chosen_from(plan), write=rule_set_text)

Expected = dict[str, tuple[ProbableResult, ...]]


@dataclass(slots=True)
class Tally:
    """What the cases of this module had in them."""

    n_seeds: int = 0
    n_cases: int = 0
    n_in_public: int = 0
    had: Counter[str] = field(default_factory=Counter)
    coverage: Coverage = field(default_factory=Coverage)

    def add(self, case: UncertainCase, expected: Expected, uncertain: Collection[str], n_parts: int) -> None:
        self.n_cases += 1
        self.coverage.add(case.plan, case.rows, expected)
        probabilities = [one.probability for name in uncertain for one in expected[name]]
        uncertainties = {_name(case, stream.schema.name) for stream in case.plan.streams} - {"nothing"}
        self.had.update(uncertainties)
        self.had["several kinds of uncertainty"] += len(uncertainties) > 1
        self.had["results"] += bool(probabilities)
        self.had["results with a probability below 1"] += any(one < 1 for one in probabilities)
        self.had["several parts"] += n_parts > 1
        self.had["more than 32 worlds"] += case.n_worlds > 32


def _name(case: UncertainCase, stream: str) -> str:
    uncertainty = next(one.schema.uncertainty for one in case.plan.streams if one.schema.name == stream)
    if uncertainty is None:
        return "nothing"
    chain = " with GIVEN" if isinstance(uncertainty, ProbableValue) and uncertainty.given else ""
    return f"{type(uncertainty).__name__}{chain}"


@pytest.fixture(scope="module")
def tally() -> Iterator[Tally]:
    counted = Tally()
    yield counted
    print(f"\n{counted.had}\n{counted.coverage.report()}")  # noqa: T201


def _check(case: UncertainCase, tally: Tally, *, public: bool) -> Expected:
    expected = case.probable()
    data = world_data(case, ALL_WORLDS)
    found = counted_out(data)
    uncertain = replace(case.plan, events=tuple(event for event in case.plan.events if event.name in found))
    tally.add(case, expected, found, data.parts.count)
    wrong = probable_differences(uncertain, case.rows, expected, found)
    assert not wrong, "\n".join([str(case), *wrong])
    if public:
        tally.n_in_public += 1
        results = case.program.run_local(
            arrow_streams(case.plan, case.rows),
            arrow_tables(case.plan, case.tables),
            sampling=Sampling(exact_up_to=ALL_WORLDS),
        )
        shown = found_in(case.plan, results.tables)
        wrong = probable_differences(case.plan, case.rows, expected, shown, tolerance=1e-12)
        assert not wrong, "\n".join(["in the public columns:", str(case), *wrong])
        methods = {one for table in results.tables.values() for one in table["method"].to_pylist()}
        assert methods <= {"exact"}
        assert not any(one.error for some in shown.values() for one in some)
    return expected


@pytest.mark.parametrize("seed", SEEDS)
def test_counting_worlds_eq_definition(seed: int, tally: Tally) -> None:
    tally.n_seeds += 1
    for number, case in enumerate(uncertain_cases(seed, PROGRAMS_PER_SEED, DATASETS)):
        _check(case, tally, public=number % DATASETS == 0)


@pytest.mark.parametrize("seed", RULE_SET_SEEDS)
def test_counting_worlds_of_rule_sets_eq_definition(seed: int, tally: Tally) -> None:
    tally.n_seeds += 1
    n_recursive = n_uncertain = 0
    for number, case in enumerate(uncertain_cases(seed + 300, RULE_SETS_PER_SEED, DATASETS, RULE_SETS)):
        expected = _check(case, tally, public=number % DATASETS == 0)
        names = [name for group in groups_of(case.plan) if group.is_recursive for name in group.names]
        n_recursive += any(expected[name] for name in names)
        n_uncertain += any(one.probability < 1 for name in names for one in expected[name])
    assert n_recursive > RULE_SETS_PER_SEED // 2
    assert n_uncertain > RULE_SETS_PER_SEED // 4


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_counting_worlds_eq_definition_at_length(seed: int, tally: Tally) -> None:
    for case in uncertain_cases(seed, PROGRAMS_PER_SEED, DATASETS):
        _check(case, tally, public=True)


def test_the_cases_are_many_and_of_all_kinds(tally: Tally) -> None:
    require_all(tally.n_seeds, len(SEEDS) + len(RULE_SET_SEEDS))
    assert tally.n_cases >= 2000
    assert tally.n_in_public >= 400
    assert tally.had["results"] >= 800
    for what in (
        "ImpreciseTime",
        "ProbableValue",
        "ProbableValue with GIVEN",
        "LostEvents",
        "several kinds of uncertainty",
        "results with a probability below 1",
        "several parts",
    ):
        assert tally.had[what] >= 200, (what, tally.had)


def test_almost_every_operator_was_hit(tally: Tally) -> None:
    """Rows that are no events are left to the checks of uncertain streams; the rest is hit if it is not too rare."""
    require_all(tally.n_seeds, len(SEEDS) + len(RULE_SET_SEEDS))
    missing = tally.coverage.missing()
    assert len(missing) <= 8, missing
    assert not set(missing) & {
        *("SEQ ANY", "SEQ NEXT", "SEQ STRICT", "SEQ in SEQ", "AND", "OR", "PAR", "+", "*", "?", "_", "A | B"),
        *("NOT first", "NOT between", "NOT last", "AFTER", "AT START", "KEEP FOR", "ON TIMEOUT", "CONSUME RESTART"),
        *("WITHIN duration", "WITHIN POINTS", "WITHIN EVENTS", "PARTITION BY", "OVER", "HAVING", "START or END"),
        *("PER MATCH", "PER INTERVAL", "PER END", "PER VALUES", "derived event as input", "ORDER BY", "PREV"),
        *("SINCE_CHANGE", "table binds", "table tests", "ties without order", "ties with order", "null values"),
    }
