"""The cases of imprecise timestamps, written in the notation of SASE, have their confidences and ranges of times."""

from __future__ import annotations

from typing import Any

import pytest
from tests.oracles.imprecise_times import CASES, expected, rows_of
from tests.oracles.test_sase_ink import with_numbers

from inkling import Sampling, parse

STRATEGIES = {"ANY": "skip_till_any_match", "NEXT": "skip_till_next_match", "STRICT": "strict_contiguity"}


def query_of(case: dict[str, Any]) -> str:
    """`!B` is absent, `B+` repeated, `B|Z` either, `B@k` has the `k` of the first event."""
    components, variables, joins = [], [], []
    for number, text in enumerate(case["pattern"]):
        types, _, joined = text.strip("!+").partition("@")
        variable, plus = f"x{number}", "+" * text.endswith("+")
        components.append(f"~({types} {variable})" if text[0] == "!" else f"{types}{plus} {variable}")
        variables += [] if text[0] == "!" else [variable]
        joins += [f"{variable}.k = x0.k"] if joined else []
    where = " AND ".join([f"{STRATEGIES[case['policy']]}({', '.join(variables)})", *joins])
    return f"x: PATTERN SEQ({', '.join(components)}) WHERE {where} WITHIN {case['points']}"


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_confidence(case: dict[str, Any]) -> None:
    rows = with_numbers(rows_of(case))
    weighted = {name for name, some in rows.items() if any(row["weights"] for row in some)}
    streams = "\n".join(
        f"STREAM {name}(id STRING, k BIGINT, lo BIGINT, hi BIGINT) ID id"
        f" TIME BETWEEN lo AND hi{' WEIGHTS weights' if name in weighted else ''};"
        for name in sorted(rows)
    )
    program = parse(f"{streams}\n{query_of(case)}", name="x.sase")
    found = program.run_local(rows, sampling=Sampling(exact_up_to=case["worlds"])).tables["x"].to_pylist()
    wanted = expected(case)
    assert {tuple(one["lineage"]): (one["start"], one["end"]) for one in found} == {
        lineage: (start, end) for lineage, (start, end, _) in wanted.items()
    }
    for one in found:
        assert one["probability"] == pytest.approx(float(wanted[tuple(one["lineage"])][2]), abs=1e-12)
