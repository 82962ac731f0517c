"""Random programs whose batches are cut into blocks of keys: the results are those of the whole batch."""

from __future__ import annotations

import pytest
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.programs import Options, parsed, seeded_cases

from inkling.evaluators.stage import engine


@pytest.mark.parametrize("rows", [1, 4])
def test_blocks_change_nothing(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BLOCK_ROWS", rows)
    n_results = 0
    for case in seeded_cases(rows, 120, Options(n_events=1)):
        given = arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables)
        expected = case.expected()
        found = parsed(case.text).run_local(*given).tables
        wrong = differences(case.plan, expected, {name: table.to_pylist() for name, table in found.items()})
        assert not wrong, "\n".join([str(case), *wrong])
        n_results += sum(map(len, expected.values()))
    assert n_results > 50
