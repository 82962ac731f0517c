"""Programs give what the language reference says beside its examples, by their numbers.

Examples that need what the language does not run yet:

| number | needs |
|---|---|
| 1 with CONSUME RECENT | CONSUME RECENT |
| 3 | an event that uses itself; it runs as a repetition |
| 6 | WINDOW … LAST |
| 11 | FORECAST |
| 13 | TIME BETWEEN; such worlds run in `test_sase_ink` |
| 22-25 | relations between segments |
"""

from __future__ import annotations

import pytest
from tests.oracles.ink_case import Case, Together, run_alone, together
from tests.oracles.language_cases import CASES

from inkling import parse


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_alone(case: Case) -> None:
    assert run_alone(case) == case.wanted()


@pytest.mark.parametrize("group", together(CASES), ids=lambda group: group.cases[0].id)
def test_in_one_program(group: Together) -> None:
    results = parse(group.program).run_local(group.inputs(), group.tables)
    assert group.found(results) == group.wanted()
