"""Random programs, row after row: what becomes a result later was an open match before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.kit.arrow import arrow_tables
from tests.kit.programs import Case, Options, seeded_cases
from tests.kit.universe import Kind

import inkling
from inkling.errors import NotSupportedYet
from inkling.logical import plan as p

OPTIONS = Options(kinds=(Kind.POINTS, Kind.ORDERED), n_events=1, bad_rows=False)
CASES_PER_SEED = 60
SEEDS = range(3)


def _in_order(case: Case) -> list[tuple[str, dict[str, object]]]:
    rows = [(name, dict(row)) for name, some in case.rows.items() for row in some]
    return sorted(rows, key=lambda one: (one[1]["t"], one[1].get("seq", 0)))


def _is_chain(event: p.EventPlan) -> bool:
    """Whether its parts are single events, one after the other."""
    pattern = event.pattern
    return isinstance(pattern, p.Sequence) and all(
        isinstance(part, p.Leaf | p.Absent | p.StreamStart) for part in pattern.parts
    )


def _chains(seed: int) -> Iterator[tuple[Case, p.EventPlan]]:
    for case in seeded_cases(seed, CASES_PER_SEED, OPTIONS):
        event = case.plan.events[0]
        if _is_chain(event) and all(stream.schema.id for stream in case.plan.streams):
            yield case, event


@pytest.mark.parametrize("seed", SEEDS)
def test_results_were_open_before(seed: int) -> None:
    n_seen = 0
    for case, event in _chains(seed):
        expected = case.expected()[event.name]
        stream = inkling.parse(case.text).open(arrow_tables(case.plan, case.tables), unbounded=True)
        arrived: set[object] = set()
        rows = _in_order(case)
        try:
            for place, (name, row) in enumerate(rows):
                stream.push({name: [row]})
                arrived.add(row["id"])
                if place + 1 < len(rows) and rows[place + 1][1]["t"] == row["t"]:
                    continue
                listed = {tuple(one["lineage"]) for one in stream.open_matches(event.name).to_pylist()}
                for result in expected:
                    begun = tuple(one for one in result.lineage if one in arrived)
                    if begun and len(begun) < len(result.lineage):
                        n_seen += 1
                        assert begun in listed, f"{case}\n{result} after {row}"
        except NotSupportedYet:
            continue
    assert n_seen, "no result was ever half done"
