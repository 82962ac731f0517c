"""Programs over streams of single letters: their definition against local runs, pushed streams and worlds."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.oracle import bound, probable_oracle
from tests.kit.probable_comparison import found_in, probable_differences
from tests.kit.programs import Case
from tests.kit.rows import Rows
from tests.properties.pushing import pushed, pushes_of

import inkling
from inkling.meaning.semantics import Result
from inkling.model.event import Value

LETTERS = "ABCDE"
ALL_OF_THEM = f"OVER ({', '.join(LETTERS)})"


def lettered_case(rng: random.Random, events: Sequence[str], often: str, *, lasting: bool = False) -> Case:
    """Events over some rows of the streams A to E; `often` has a letter as often as its rows are likely."""
    time, ends = ("since BIGINT, until BIGINT", "FROM since TO until") if lasting else ("t BIGINT", "t")
    lines = [f"STREAM {name}(id STRING, k BIGINT, x BIGINT, {time}) ID id KEY k TIME {ends};" for name in LETTERS]
    text = "\n".join([*lines, *events])
    rows: Rows = {name: [] for name in LETTERS}
    for number in range(18):
        letter, moment = rng.choice(often), rng.randint(1, 18)
        when: dict[str, Value] = {"t": moment}
        if lasting:
            when = {"since": moment, "until": moment + rng.choice((0, 0, 1, 3))}
        row = {"id": f"{letter}{number}", "k": rng.randint(0, 1), "x": rng.choice((0, 1, 2, None)), **when}
        rows[letter].append(row)
    return Case(text, bound(text), rows, {})


def check_local(case: Case) -> dict[str, tuple[Result, ...]]:
    """Compares a run in this process with the definition, whose results are returned."""
    expected = case.expected()
    found = inkling.parse(case.text).run_local(
        arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables)
    )
    wrong = differences(case.plan, expected, {name: table.to_pylist() for name, table in found.tables.items()})
    assert not wrong, "\n".join([str(case), *wrong])
    return expected


def check_pushed(rng: random.Random, case: Case) -> None:
    found = pushed(rng, inkling.parse(case.text), case, pushes_of(rng, case, 0))
    wrong = differences(case.plan, case.expected(), found)
    assert not wrong, "\n".join([str(case), *wrong])


def check_in_worlds(rng: random.Random, case: Case, kind: str) -> bool:
    """Events of B are uncertain; whether some result is."""
    certain = "STREAM B(id STRING, k BIGINT, x BIGINT, t BIGINT) ID id KEY k TIME t;"
    columns, time = {
        "probable": ("", "TIME t PROBABILITY p"),
        "imprecise": (", late BIGINT", "TIME BETWEEN t AND late"),
    }[kind]
    text = case.text.replace(certain, f"STREAM B(id STRING, k BIGINT, x BIGINT, t BIGINT{columns}) ID id KEY k {time};")
    apart = {(row["k"], row["t"]): row for row in case.rows["B"]}
    few = [*apart.values()][:5]
    if kind == "probable":
        uncertain = [row | {"p": 0.25} for row in few]
    else:
        uncertain = [row | {"late": row["t"] + rng.randint(0, 2)} for row in few]  # type: ignore[operator]
    rows: Rows = {**case.rows, "B": uncertain}
    plan = bound(text)
    expected = probable_oracle(plan, rows)
    found = found_in(plan, inkling.parse(text).run_local(arrow_streams(plan, rows)).tables)
    wrong = probable_differences(plan, rows, expected, found, tolerance=1e-9)
    assert not wrong, "\n".join([text, str(rows), *wrong])
    return any(0 < one.probability < 1 for some in expected.values() for one in some)
