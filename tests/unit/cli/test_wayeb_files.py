"""Files as they are written for the public Wayeb engine: patterns, declarations, and rows without a header."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tests.oracles.wayeb_numbers import DEMO, DEMO_PAIRS
from typer.testing import CliRunner, Result

from inkling import InputError, load
from inkling.cli import app
from inkling.io.readers.wayeb import read_wayeb

TYPE, OUT, IN = "IsEventTypePredicate", "OutsideCirclePredicate(1.5,50.25,4.0)", "WithinCirclePredicate(1.5,50.25,4.0)"
PATTERNS = {
    "order and window": f";({TYPE}(A),+({TYPE}(B),{TYPE}(C))){{order:2}}{{window:0}}\n",
    "port": f";({OUT},{OUT},{IN}){{order:2}}{{partitionBy:mmsi}}{{window:500}}\n",
    "port, order 0": f";({OUT},{IN}){{order:0}}{{partitionBy:mmsi}}",
    "port with a register": f';({OUT},{OUT}["r"],^({IN},GTAttr(speed,"r")))'
    "{partitionBy:mmsi}{window:500}{windowType:time}",
    "meters": '#(;(EQ(home,1.0)["r"],EQ(home,3.0),^(EQ(home,5.0),GTAttr(load,"r")))){window:8}{windowType:time}',
    "stocks": f'#(;(^({TYPE}(SELL),EQStr(name,AA))["r"],^({TYPE}(BUY),EQStr(name,BB),GTAttr(price,"r"))))'
    "{window:60}{windowType:time}",
    "register, order and window": f';({TYPE}(A)["r"],*(EQAttr(v,"r"))){{order:0}}{{window:3}}',
    "register that is not set": f';(^({TYPE}(B),EQAttr(v,"r")),{TYPE}(A)["r"]){{partitionBy:k}}',
}
RINGS = ",".join(f"DistanceBetweenPredicate(1.5,50.25,{km}.0,{km + 1}.0)" for km in range(4, 7))
DECLARATIONS = f"""+({RINGS}),
+(HeadingTowardsPredicate(BrestPort)),
+({TYPE}(RESET)),
~({TYPE}(RESET),HeadingTowardsPredicate(BrestPort)),
~({TYPE}(RESET),{IN},{RINGS}),
~({TYPE}(RESET),{OUT})
"""
VESSEL = """\
10,227,1.40,50.25,5.0,90,90,00000
20,227,1.42,50.25,6.0,90,90,00000
-1,227,0,0,0,0,0,0
30,227,1.50,50.25,7.0,90,90,00000
40,227,1.40,50.25,5.0,90,90,00000
50,227,1.42,50.25,5.0,90,90,00000
60,227,1.50,50.25,7.0,90,90,00000
"""


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--runner", "local"])


def found(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_are_programs_without_warnings(name: str) -> None:
    Path("x.sre").write_text(PATTERNS[name])
    result = CliRunner().invoke(app, ["check", "x.sre"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "OK" in result.stdout


def test_an_order_without_a_model_is_recognition() -> None:
    Path("x.sre").write_text(PATTERNS["order and window"])
    Path("demo.csv").write_text("".join(f"{letter},{ts}\n" for ts, letter in enumerate(DEMO, 1)))
    run = ("run", "x.sre", "-i", "events=demo.csv", "-o", "-")
    result = call(*run)
    assert "no forecasts: there is no model `p1_model`; `inkling fit` learns it" in result.stderr
    assert [row["end"] for row in found(result)] == DEMO_PAIRS
    assert call("fit", "x.sre", "-i", "events=demo.csv", "--order", "1").exit_code == 0
    events = [row["event"] for row in found(call(*run, "--quiet"))]
    assert (events.count("p1"), events.count("p1_forecast") > 0) == (len(DEMO_PAIRS), True)


def test_rows_that_reset_their_vessel() -> None:
    Path("x.sre").write_text(PATTERNS["port"])
    Path("vessel.csv").write_text(VESSEL)
    run = ("run", "x.sre", "-i", "events=vessel.csv", "-o", "-", "--quiet")
    assert [(row["mmsi"], row["start"], row["end"]) for row in found(call(*run))] == [("227", 40, 60)]
    Path("declarations.sre").write_text(DECLARATIONS)
    declared = ("--declarations", "declarations.sre")
    assert call("fit", "x.sre", *declared, "-i", "events=vessel.csv").exit_code == 0
    rows = found(call(*run, *declared))
    assert [(row["start"], row["end"]) for row in rows if row["event"] == "p1"] == [(40, 60)]
    # the second event after the reset, not the fourth
    assert [row["event_number"] for row in rows if row["end"] == 40][:1] == [2]


@pytest.mark.parametrize("seed", range(3))
def test_matches_with_registers_end_at_resets(seed: int) -> None:
    """Compared with three neighbors of one vessel between two resets, tried one by one."""
    rng = random.Random(seed)
    rows: list[tuple[int, str, bool, float]] = []
    for ts in sorted(rng.sample(range(1, 6000), 120)):
        rows.append(
            (-1 if rng.random() < 0.1 else ts, rng.choice(("227", "228")), rng.random() < 0.6, rng.randrange(9))
        )
    rows[0] = (1, *rows[0][1:])
    text = (f"{ts},{ship},{1.40 if far else 1.50},50.25,{speed},90,90,00000\n" for ts, ship, far, speed in rows)
    Path("vessel.csv").write_text("".join(text))
    expected: list[tuple[str, list[int]]] = []
    runs: dict[str, list[int]] = {"227": [], "228": []}
    for number, (ts, ship, far, speed) in enumerate(rows):
        runs[ship] = [] if ts == -1 else [*runs[ship], number]
        if len(runs[ship]) >= 3:
            one, two, _ = last = runs[ship][-3:]
            if rows[one][2] and rows[two][2] and not far and speed > rows[two][3] and ts - rows[one][0] < 500:
                expected.append((ship, [each + 1 for each in last]))
    Path("x.sre").write_text(PATTERNS["port with a register"])
    Path("declarations.sre").write_text(DECLARATIONS)
    Path("rings.sre").write_text(f"+({RINGS})")
    run = ("run", "x.sre", "-i", "events=vessel.csv", "-o", "-", "--quiet")
    given = [(), ("--declarations", "declarations.sre"), ("--declarations", "rings.sre")]
    for result in [call(*run, *declarations) for declarations in given]:
        assert sorted((row["mmsi"], row["lineage"]) for row in found(result)) == sorted(expected)
    assert len(expected) > 1
    checked = CliRunner().invoke(app, ["check", "x.sre", "--declarations", "declarations.sre"])
    assert checked.exit_code == 0, checked.output


def test_matches_that_need_not_be_consecutive_cannot_be_reset() -> None:
    Path("x.sre").write_text(PATTERNS["port with a register"].replace(";(", "#(;(", 1).replace("{", "){", 1))
    Path("vessel.csv").write_text(VESSEL)
    result = call("run", "x.sre", "-i", "events=vessel.csv", "-o", "-")
    assert result.exit_code == 1
    assert "INK0420" in result.output


def test_features_of_declarations() -> None:
    Path("x.sre").write_text(PATTERNS["port"])
    Path("declarations.sre").write_text(DECLARATIONS)
    program = load("x.sre", declarations="declarations.sre")
    (forecast,) = (event.forecast for event in program.plan.events if event.forecast is not None)
    assert len(forecast.features) == 4, "three rings and a heading; resets are not events"
    (stream,) = program.plan.streams
    assert stream.reset_when is not None


def test_an_intersection_with_declarations_and_a_program_that_takes_none() -> None:
    Path("x.ink").write_text("")
    Path("declarations.sre").write_text(DECLARATIONS)
    with pytest.raises(InputError, match="is not a pattern file"):
        load("x.ink", declarations="declarations.sre")


def test_what_rows_without_a_header_are() -> None:
    Path("vessel.csv").write_text(VESSEL)
    rows = read_wayeb("vessel.csv").to_pylist()
    assert [row["ts"] for row in rows] == [10, 20, 20, 30, 40, 50, 60]
    assert [row["type"] for row in rows] == ["SampledCritical"] * 2 + ["RESET"] + ["SampledCritical"] * 4
    assert [row["seq"] for row in rows] == [*range(1, 8)]


def test_other_files_are_not_taken_for_them() -> None:
    for name, text in {"header.csv": "type,ts\nA,1\n", "three.csv": "A,1,2\n", "empty.csv": "\n"}.items():
        Path(name).write_text(text)
        with pytest.raises(InputError, match="is not a file of the Wayeb engine"):
            read_wayeb(name)


@pytest.mark.parametrize(("rows", "row"), [("A,2\nB,1\n", 2), ("A,1\nR,-1\nB,3\nA,2\n", 4)])
def test_rows_that_go_back_in_time(rows: str, row: int) -> None:
    Path("demo.csv").write_text(rows)
    with pytest.raises(InputError, match=f"row {row} of `demo.csv` is earlier"):
        read_wayeb("demo.csv")


def test_times_that_are_none() -> None:
    Path("demo.csv").write_text("A,1\nB,soon\n")
    with pytest.raises(InputError, match="is not a whole number"):
        read_wayeb("demo.csv")
