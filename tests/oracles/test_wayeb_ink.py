"""Programs give the detections of the fleet paper and of the public Wayeb engine.

Cases that need what the language does not run yet, or that are no patterns:

| id | needs |
|---|---|
| O5 `!a` | COMPLEMENT at the border of a sequence |
| O6 | no pattern: a number of minterms, tested with the automata |
| O10 a register that is read before it is set | rejected: a condition cannot name a later part |
| O13 | the file of one vessel, which is not ours to ship |
| O14-O31 | FORECAST |
"""

from __future__ import annotations

import pytest
from tests.kit.rows import word
from tests.oracles import wayeb_numbers as numbers
from tests.oracles.ink_case import Case, Together, run_alone, together
from tests.oracles.wayeb_cases import CASES, DEMO_PATTERNS, LETTERS, MATCHED_PATTERNS, valued

from inkling import ProgramError, parse


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_alone(case: Case) -> None:
    assert run_alone(case) == case.wanted()


@pytest.mark.parametrize("group", together(CASES), ids=lambda group: group.cases[0].id)
def test_in_one_program(group: Together) -> None:
    results = parse(group.program).run_local(group.inputs())
    assert group.found(results) == group.wanted()


def on_demo(pattern: str, *columns: str) -> list[tuple[object, ...]]:
    return run_alone(Case("x", LETTERS, pattern, word(numbers.DEMO), [], columns))


@pytest.mark.parametrize("case", numbers.DEMO_COUNTS)
def test_O8_the_demo_stream(case: str) -> None:
    for clause, expected in zip(("", "CONSUME RESTART"), numbers.DEMO_COUNTS[case], strict=True):
        ends = [end for (end,) in on_demo(f"{DEMO_PATTERNS[case]} {clause} PER END", "end")]
        assert (len(ends), sum(ends)) == expected


@pytest.mark.parametrize("case", numbers.DEMO_MATCHES)
def test_O9_matches_within_a_number_of_events(case: str) -> None:
    count, n_matches, n_ends = numbers.DEMO_MATCHES[case]
    found = on_demo(f"{MATCHED_PATTERNS[case]} WITHIN {count} EVENTS", "end", "lineage")
    assert len(found) == n_matches
    assert n_ends is None or len({end for end, _ in found}) == n_ends


def test_O9_first_pairs_and_the_same_count_by_time() -> None:
    """The engine's time window is strict (`< 5`); inclusively that is 5 points, as ticks are whole."""
    found = on_demo(f"{MATCHED_PATTERNS['any(A,B)']} WITHIN 5 EVENTS", "start", "end", "lineage")
    assert [lineage for *_, lineage in sorted(found)[:3]] == numbers.FIRST_PAIRS
    assert on_demo(f"{MATCHED_PATTERNS['any(A,B)']} WITHIN 5 POINTS", "start", "end", "lineage") == found


def test_O10_registers_on_the_demo_stream() -> None:
    found = on_demo("SEQ(V x[s = 'A'], V y[s = x.s]) WITHIN 4 EVENTS", "end", "lineage")
    assert (len(found), len({end for end, _ in found})) == (32, 22)


def test_O10_an_unset_register_is_rejected() -> None:
    unset = "SEQ STRICT(V y[s = 'B' AND v = x.v], V x[s = 'A'])"
    with pytest.raises(ProgramError) as caught:
        run_alone(Case("x", LETTERS, unset, valued(("B", 3), ("A", 3)), []))
    assert [one.code for one in caught.value.diagnostics] == ["INK0308"]
