"""What is told early is what a run over everything tells, with bounds on what is still open."""

from __future__ import annotations

import pytest

from inkling import parse

PROGRAM = """
    STREAM M(m STRING, n BIGINT, what STRING, t BIGINT, total BIGINT) KEY m TIME t NUMBERED BY n SEGMENTS{options};
    EVENT e(x.m AS one, y.m AS other) AS
      PATTERN AT LEAST 2 M x INTERSECTS SOME M y HAVING x.m < y.m CONFIDENCE > 0.5 EARLY;
"""
A = ["mark 0", 10, 14, 20, 30, 40, 55, 60, 70, "mark 80"]
B = ["mark 0", 12, 16, None, 31, 32, 50, 61, 71, "mark 80"]
"""Whether they share a second segment by 31 depends on when the third event of B was: after 16, and before 30 in 14 of
15 parts. By 50 they do."""

Row = dict[str, object]


def rows(*, marks: bool) -> list[Row]:
    found: list[Row] = []
    for key, times in (("A", A), ("B", B)):
        for place, time in enumerate(times):
            if isinstance(time, int):
                what = "on" if place % 2 else "off"
                found.append({"m": key, "n": place, "what": what, "t": time, "total": 8})
            elif marks and isinstance(time, str):
                found.append({"m": key, "n": 8 if place else 0, "what": "mark", "t": int(time.split()[1]), "total": 8})
    return sorted(found, key=lambda row: int(str(row["t"])))


@pytest.mark.parametrize("options", ["", " COUNT total", " ROLE what", " ROLE what COUNT total"])
@pytest.mark.parametrize("step", [1, 3, 100])
def test_bounds_do_not_depend_on_how_rows_come(options: str, step: int) -> None:
    program = parse(PROGRAM.format(options=options))
    given = rows(marks="ROLE" in options)
    stream = program.open(unbounded=True)
    said = [
        row
        for first in range(0, len(given), step)
        for row in stream.push({"M": given[first : first + step]}).tables["e"].to_pylist()
    ]
    said += stream.finish().tables["e"].to_pylist()
    assert said == program.run_local({"M": given}).tables["e"].to_pylist()
    (one,) = said
    assert (one["detected_at"], one["method"]) == (31, "bounds")
    assert one["probability"] - one["error"] == pytest.approx(14 / 15)
    assert one["probability"] + one["error"] == pytest.approx(1)
