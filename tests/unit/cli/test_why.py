"""`inkling why` on the command line."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inkling.cli import app

PROGRAM = """\
STREAM Temp(id STRING, v BIGINT, t BIGINT) ID id TIME t;
EVENT m(v) AS PATTERN Temp t WHERE v = t.v PER INTERVAL;
EVENT m(v) AS PATTERN SEQ(m p, Temp t) WHERE t.v > p.v AND v = t.v PER INTERVAL;
EVENT high(x.v AS v) AS PATTERN SEQ(m x, Temp b[v > 10]);
"""
ROWS = "id,v,t\nt1,5,1\nt2,3,2\nt3,7,3\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.ink").write_text(PROGRAM)
    (tmp_path / "Temp.csv").write_text(ROWS)
    return tmp_path


def why(folder: Path, *arguments: str, status: int = 0) -> list[str]:
    result = CliRunner().invoke(app, ["why", str(folder / "p.ink"), *arguments, "-i", str(folder), "-q"])
    assert result.exit_code == status, result.output
    return result.output.splitlines()


def test_how_far_it_got(folder: Path) -> None:
    assert why(folder, "high") == [
        "                  rows  candidates  matches",
        "m x                  5           5        5",
        "Temp b[b.v > 10]     3           0        0",
        "PER MATCH                                 0",
        "",
        "no event satisfies `Temp b[b.v > 10]`",
    ]


def test_each_declaration(folder: Path) -> None:
    lines = why(folder, "m")
    assert [line for line in lines if line.endswith(":")] == ["declaration 1:", "declaration 2:"]
    assert lines[-1] == "m: 5 results"


def test_tree(folder: Path) -> None:
    expected = [
        "m(v=7) at 1 to 3",
        "├─ p: m(v=5) at 1",
        "│  └─ t: Temp #t1(id='t1', v=5, t=1) at 1",
        "└─ t: Temp #t3(id='t3', v=7, t=3) at 3",
    ]
    assert why(folder, "m", "--result", "t3,t1") == expected
    assert why(folder, "m", "--result-number", "3") == expected


def test_no_such_result(folder: Path) -> None:
    assert why(folder, "m", "--result", "t9", status=3)[0] == "error[INK0562]: `m` has no result that depends on t9"
    assert why(folder, "m", "--result-number", "9", status=3)[0] == "error[INK0562]: `m` has no result number 9"


def test_no_such_event(folder: Path) -> None:
    assert why(folder, "hih", status=3) == [
        "error[INK0561]: the program has no event called `hih`",
        "   = note: its events are m, high",
        "   = help: write `high`",
    ]


def test_ids_or_number(folder: Path) -> None:
    why(folder, "m", "--result", "t1", "--result-number", "1", status=2)


UNCERTAIN = """\
STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t PROBABILITY p;
STREAM Call(id STRING, who STRING, lo BIGINT, hi BIGINT) ID id KEY who TIME BETWEEN lo AND hi;
EVENT coffee(who) AS
  PATTERN SEQ(Seen a[room = 'hall'], NOT Call c, Seen b[room = 'kitchen'])
  PARTITION BY who PER VALUES CONFIDENCE >= 0.5;
"""


@pytest.fixture
def uncertain(tmp_path: Path) -> Path:
    (tmp_path / "p.ink").write_text(UNCERTAIN)
    (tmp_path / "Seen.csv").write_text("id,who,room,t,p\na2,ada,hall,3,0.5\na3,ada,kitchen,8,0.8\nb1,bob,hall,8,0.9\n")
    (tmp_path / "Call.csv").write_text("id,who,lo,hi\nc1,ada,2,5\n")
    return tmp_path


def test_possible_results(uncertain: Path) -> None:
    assert why(uncertain, "coffee") == [
        "coffee: 0 results, and 1 possible result left out",
        "",
        "  1  0.2  coffee(who='ada') at 3 to 8, left out by CONFIDENCE >= 0.5",
        "",
        "one of several most probable worlds:",
        "",
        "                            rows  candidates  matches",
        "Seen a[a.room = 'hall']        3           2        2",
        "Seen b[b.room = 'kitchen']     3           1        1",
        "NOT Call c                                          1",
        "PER VALUES                                          1",
        "",
        "coffee: 1 result",
    ]


def test_worlds_of_a_result(uncertain: Path) -> None:
    """Seen in the hall (0.5), called at 2 or 3 (0.5), then seen in the kitchen (0.8)."""
    assert why(uncertain, "coffee", "--result", "a2") == [
        "coffee(who='ada') at 3 to 8",
        "probability 0.2, exact: 2 of 16 possible worlds have it",
        "not reported: left out by CONFIDENCE >= 0.5",
        "",
        "most probable worlds with the result:",
        "  probability 0.2:",
        "    Seen #a2 has room='hall'",
        "    Seen #a3 has room='kitchen'",
        "    Call #c1 at 2 to 3",
        "  with the derivation:",
        "    coffee(who='ada') at 3 to 8",
        "    ├─ a: Seen #a2(id='a2', who='ada', room='hall', t=3, p=0.5) at 3",
        "    └─ b: Seen #a3(id='a3', who='ada', room='kitchen', t=8, p=0.8) at 8",
        "",
        "most probable worlds without the result:",
        "  probability 0.2:",
        "    Seen #a2 has room='hall'",
        "    Seen #a3 has room='kitchen'",
        "    Call #c1 at 4 to 5",
        "  probability 0.2:",
        "    Seen #a2 does not happen",
        "    Seen #a3 has room='kitchen'",
        "    Call #c1 at 2 to 3",
        "",
        "depends on              chance  result then",
        "Seen #a2 at 3",
        "  room='hall'              0.5          0.4",
        "  does not happen          0.5            0",
        "  left out of the data                    0",
        "Call #c1 at 2 to 5",
        "  at 2 to 3                0.5          0.4",
        "  at 4 to 5                0.5            0",
        "  left out of the data                  0.4",
        "Seen #a3 at 8",
        "  room='kitchen'           0.8         0.25",
        "  does not happen          0.2            0",
        "  left out of the data                    0",
    ]
    assert why(uncertain, "coffee", "--result-number", "1") == why(uncertain, "coffee", "--result", "a2,a3")


def test_rows_of_the_most_probable_world(uncertain: Path) -> None:
    """Ada is in the hall or nowhere (0.5 each), then in the kitchen (0.8); Bob is in the hall (0.9)."""
    why(uncertain, "coffee", "--world", str(uncertain / "world"))
    seen = (uncertain / "world" / "Seen.csv").read_text().splitlines()
    assert seen[0] == "id,who,room,t,p"
    assert {line.split(",")[0] for line in seen[1:]} >= {"a3", "b1"}
    (call,) = (uncertain / "world" / "Call.csv").read_text().splitlines()[1:]
    assert call in {f"c1,ada,{tick},{tick}" for tick in range(2, 6)}


def test_a_certain_event_has_no_worlds(folder: Path) -> None:
    assert "its streams are certain" in why(folder, "m", "--world", str(folder / "world"), status=3)[0]


def test_no_world(uncertain: Path) -> None:
    lines = why(uncertain, "coffee", "--result", "b1")
    assert lines[0] == "no possible world has a result of `coffee` that depends on b1"
    assert lines[-1] == "no event satisfies `Seen b[b.room = 'kitchen']`"
    sampled = why(uncertain, "coffee", "--result", "b1", "--exact-up-to", "0", "--epsilon", "0.05", "--delta", "0.05")
    # (1 - p) ** 448 = 0.025 for p = 0.0082
    assert sampled[0] == (
        "none of 448 sampled worlds (seed 0) has a result of `coffee` that depends on b1:"
        " its probability is below 0.0082 with 95 % confidence"
    )
    assert sampled[2:] == lines[2:]


def test_a_sample_says_so(uncertain: Path) -> None:
    options = ("--exact-up-to", "0", "--epsilon", "0.05", "--delta", "0.05", "--seed", "7")
    lines = why(uncertain, "coffee", "--result-number", "1", *options)
    assert re.fullmatch(r"probability 0\.\d+ ± 0\.0\d+ with 95 % confidence", lines[1])
    assert re.fullmatch(r"\d+ of 448 sampled worlds \(seed 7\) have it", lines[2])
    assert "most frequent worlds with the result:" in lines
    assert why(uncertain, "coffee", "--result-number", "1", *options) == lines


def test_no_such_possible_result(uncertain: Path) -> None:
    assert why(uncertain, "coffee", "--result", "zz", status=3) == [
        "error[INK0562]: `coffee` has no result that depends on zz",
        "   = note: it has 1 possible result",
        "   = help: leave the option out to see how far the pattern got",
    ]


def test_a_result_that_is_too_rare_for_samples(tmp_path: Path) -> None:
    """The match may begin at any of 17 times, and 7 is the most probable one."""
    (tmp_path / "p.ink").write_text(
        "STREAM At(who STRING, room STRING, t BIGINT) KEY who TIME t PROBABILITY p;"
        "EVENT m(who) AS PATTERN SEQ NEXT(At a[room = 'lab'], At b[room = 'roof']) PARTITION BY who PER END;"
    )
    rows = [f"ann,lab,{t},{0.002 if t == 7 else 0.001}" for t in range(1, 18)]
    (tmp_path / "At.csv").write_text("\n".join(["who,room,t,p", *rows, "ann,roof,18,0.001", ""]))
    lines = why(tmp_path, "m", "--result-number", "1", "--epsilon", "0.1", "--delta", "0.1")
    assert lines[3:] == [
        "on the most probable course of events with the result, the derivation",
        "    m(who='ann') at 7 to 18",
        "    ├─ a: At #7(who='ann', room='lab', t=7) at 7",
        "    └─ b: At #18(who='ann', room='roof', t=18) at 18",
        "whose events happen together with probability 2e-06",
    ]
