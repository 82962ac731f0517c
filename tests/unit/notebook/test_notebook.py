"""What notebooks show, and the magics, in a shell of IPython."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from IPython.core.interactiveshell import InteractiveShell

import inkling
from inkling.results_html import MOST_MARKS, timeline_html

TEXT = """STREAM Door(id STRING, person STRING, room STRING, t BIGINT) ID id KEY person TIME t;
EVENT back(person) AS
  PATTERN SEQ NEXT(Door a[room = '<lab>'], Door b[room = a.room]) PARTITION BY person;
"""
ROWS = [
    {"id": "1", "person": "ada", "room": "<lab>", "t": 1},
    {"id": "2", "person": "ada", "room": "hall", "t": 3},
    {"id": "3", "person": "ada", "room": "<lab>", "t": 7},
]
PROGRAM = inkling.parse(TEXT, name="doors.ink")


def text_of(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html)


def test_a_program_is_its_highlighted_text_and_its_graph() -> None:
    page = PROGRAM._repr_html_()
    assert "EVENT back(person) AS" in text_of(page)
    assert "&lt;lab&gt;" in page
    assert len(set(re.findall(r"color: (#\w+)", page))) > 3
    picture = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert picture is not None
    assert base64.b64decode(picture[1]).decode() == PROGRAM.graph()


@pytest.mark.parametrize(
    ("name", "text"),
    [("rules.ele", "e(X) <- a(X) SEQ b(X)."), ("q.sase", "STREAM A(t BIGINT) TIME t;\nEVENT SEQ(A a, A b)\nWITHIN 5")],
)
def test_programs_of_other_notations_are_shown(name: str, text: str) -> None:
    assert text.split("\n")[0].replace("<", "&lt;") in text_of(inkling.parse(text, name=name)._repr_html_())


def test_results_have_bars_for_probabilities_and_a_timeline() -> None:
    uncertain = inkling.parse(
        "STREAM A(id STRING, t BIGINT, p DOUBLE) ID id TIME t PROBABILITY p; EVENT e AS PATTERN A a;"
    )
    page = uncertain.run_local([{"id": "x", "t": 1, "p": 0.25}, {"id": "y", "t": 9, "p": 1.0}])._repr_html_()
    assert "transparent 25.0%" in page
    assert page.count("<rect") == 2
    assert re.findall(r'fill-opacity="([^"]+)"', page) == ["1.00", "0.44"]
    assert re.findall(r">(\d+)</text>", page) == ["1", "9"]


def test_a_timeline_of_many_results_has_marks_for_some() -> None:
    program = inkling.parse("STREAM A(t TIMESTAMP) TIME t; EVENT e AS PATTERN A a;")
    rows = [{"t": f"2026-03-02T10:{n // 60:02}:{n % 60:02}Z"} for n in range(1000)]
    page = timeline_html(program.run_local(rows).tables)
    assert page.count("<rect") == MOST_MARKS
    assert "2026-03-02 10:00:00" in page
    assert "2026-03-02 10:16:39" in page


def test_a_report_is_shown_in_a_frame_and_saved(tmp_path: Path) -> None:
    report = PROGRAM.run_local(ROWS).report()
    page = report.save(tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert report._repr_html_().count("<iframe") == 1
    assert "doors.ink" in page
    with pytest.raises(ValueError, match="not made by a run"):
        inkling.Results({}, None, {}, None).report()


def test_why_shows_progress_and_derivations() -> None:
    rows = [ROWS[0], {**ROWS[2], "t": 2}]
    shown = text_of(PROGRAM.why("back", rows)._repr_html_())
    assert "back: 1 result" in shown
    assert "candidates" in shown
    assert "Door" in shown.partition("1 result")[2]


def test_a_model_shows_its_contexts() -> None:
    text = """
        STREAM V(id STRING, s STRING, t BIGINT) ID id TIME t ORDER BY t;
        EVENT ab AS PATTERN SEQ(V a[s = 'a'], V b[s = 'b']) PER END;
        FORECAST ab WITHIN 3 EVENTS;
    """
    models = inkling.parse(text).fit([{"id": str(n), "s": "ab"[n % 2], "t": n} for n in range(20)])
    page = models["ab_model"]._repr_html_()
    assert "tree" in text_of(page)
    assert "data:image/svg+xml" in page


def test_lazy_frames_of_polars_are_read() -> None:
    frame = pl.DataFrame(ROWS).with_columns(unused=pl.lit(0)).lazy()
    eager = PROGRAM.run_local(ROWS)
    assert PROGRAM.run_local(frame)["back"].equals(eager["back"])
    assert PROGRAM.run_local({"Door": frame})["back"].equals(eager["back"])


@pytest.fixture
def shell() -> Iterator[Any]:
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "inkling")
    yield shell
    InteractiveShell.clear_instance()


def test_magics_define_and_run_a_program(shell: Any) -> None:
    assert shell.run_cell_magic("ink", "doors", TEXT).name == "doors.ink"
    assert shell.user_ns["doors"].text == TEXT
    assert shell.run_line_magic("ink", "doors") is shell.user_ns["doors"]
    shell.user_ns["rows"] = [ROWS[0], {**ROWS[2], "t": 2}]
    assert shell.run_line_magic("ink", "doors rows")["back"]["lineage"].to_pylist() == [["1", "3"]]
    assert shell.run_line_magic("ink", "doors Door=rows")["back"].num_rows == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("doors rowz", "there is no variable `rowz`\n   = help: did you mean `rows`?"),
        ("rows", "`rows` is not a program\n   = help: begin a cell with `%%ink rows`"),
    ],
)
def test_errors_of_magics_are_messages(shell: Any, line: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    shell.user_ns |= {"doors": PROGRAM, "rows": ROWS}
    assert shell.run_line_magic("ink", line) is None
    assert message in capsys.readouterr().err
    assert shell.run_cell_magic("ink", "other", "EVENT e AS PATTERN A a;") is None
    assert "error[INK02" in capsys.readouterr().err


def test_magics_run_spark_frames_on_spark(shell: Any, spark: Any) -> None:
    shell.user_ns |= {"doors": PROGRAM, "frame": spark.createDataFrame([ROWS[0], {**ROWS[2], "t": 2}])}
    found = shell.run_line_magic("ink", "doors frame")
    assert found["back"].count() == 1
    assert "doors.ink" in found.collect().report().page
