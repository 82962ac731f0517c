"""A column of NUMBERED BY may be left out of the list of columns, also where segments are derived from its stream."""

import inkling

PROGRAM = """
STREAM Bus({columns}) ID id KEY line, bus TIME t NUMBERED BY n SEGMENTS ROLE role;
EVENT stay(line, bus) AS PATTERN SEQ STRICT(Bus a[role = 'open'], Bus b[role = 'close']) PARTITION BY line, bus;
EVENT meet(line, x.bus AS one, y.bus AS other) AS PATTERN SOME stay x INTERSECTS SOME stay y
  PARTITION BY line CONFIDENCE > 0.1;
"""
COLUMNS = "id STRING, line STRING, bus STRING, role STRING, t BIGINT"
ROWS = [
    {"id": f"{bus}{n}", "line": "l", "bus": bus, "role": "open" if n % 2 else "close", "n": n, "t": 10 * n + late}
    for late, bus in enumerate("ab")
    for n in (1, 2, 4)
]


def test_it_is_like_a_declared_one() -> None:
    found = [
        inkling.parse(PROGRAM.format(columns=columns)).run_local({"Bus": ROWS})["meet"].to_pylist()
        for columns in (COLUMNS, f"{COLUMNS}, n BIGINT")
    ]
    assert found[0] == found[1] != []
