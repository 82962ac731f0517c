"""A state that intervals carry on, in the order in which they end, is the one that the definition gives."""

from __future__ import annotations

import random

import pytest
from tests.kit.oracle import oracle

from inkling import Program, parse
from inkling.errors import ProgramError

pytestmark = pytest.mark.long

STREAMS = """
STREAM B(id STRING, k BIGINT, t BIGINT) ID id KEY k TIME t;
STREAM P(id STRING, k BIGINT, w BIGINT, t BIGINT, till BIGINT) ID id KEY k TIME FROM t TO till;
"""
ENDING_BEFORE = ("PRECEDES", "OVERLAPS", "STARTS", "DURING")
N_CASES = 40


def program(pattern: str, policy: str) -> Program:
    clauses = f"PARTITION BY k {policy} PER INTERVAL"
    return parse(f"""{STREAMS}
EVENT state(k, 0 AS n) AS PATTERN B b {clauses};
EVENT state(k, s.n + p.w) AS PATTERN {pattern} {clauses};
""")


def rows(rng: random.Random) -> dict[str, list[dict[str, object]]]:
    begins = [{"id": f"b{n}", "k": rng.randint(0, 1), "t": rng.randint(0, 6)} for n in range(rng.randint(1, 4))]
    steps = []
    for n in range(rng.randint(0, 8)):
        t, till = sorted((rng.randint(0, 10), rng.randint(0, 10)))
        steps.append({"id": f"p{n}", "k": rng.randint(0, 1), "w": 10**n, "t": t, "till": till})
    return {"B": begins, "P": steps}


@pytest.mark.parametrize("policy", ["CONSUME RECENT", "CONSUME CHRONOLOGICAL", "CONSUME RECENT PREFER LONGER", ""])
def test_states_are_those_of_the_definition(policy: str) -> None:
    rng = random.Random(policy)
    n_found = 0
    for _ in range(N_CASES):
        relations = rng.sample(ENDING_BEFORE, rng.randint(1, 4))
        asked = program(f"state s {{{', '.join(relations)}}} P p", policy)
        inputs = rows(rng)
        found = asked.run_local(inputs).tables["state"].to_pylist()
        said = oracle(asked.plan, inputs)["state"]
        assert sorted((row["k"], row["n"], row["start"], row["end"]) for row in found) == sorted(
            (*one.values, one.start, one.end) for one in said
        )
        n_found += len(found) - len(inputs["B"])
    assert n_found > N_CASES // 2


def test_a_state_on_the_right_would_stand_in_its_own_way() -> None:
    with pytest.raises(ProgramError, match="INK0337"):
        program("P p ENDS_AFTER state s", "CONSUME RECENT")
