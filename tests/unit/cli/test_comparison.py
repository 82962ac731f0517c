"""`inkling run --truth --decided`: results of other runs are drawn beside those of this one."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from inkling.cli import app

PROGRAM = """
STREAM At(person STRING, room STRING, t BIGINT) KEY person TIME t PROBABILITY p;
EVENT back(person) AS PATTERN SEQ NEXT(At a, At b) HAVING a.room = 'hall' AND b.room = 'desk'
  PARTITION BY person PER END;
"""
RESULT = {"event": "back", "person": "joe", "start": 1, "end": 2, "detected_at": 2, "probability": 1.0}
REST = {"method": "exact", "error": 0.0, "op": "+", "lineage": []}


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("back.ink").write_text(PROGRAM)
    Path("At.csv").write_text("person,room,t,p\njoe,hall,1,0.5\njoe,desk,2,0.5\n")


def run(*words: str) -> Result:
    given = ["run", "back.ink", "-i", "At=At.csv", "-o", "found.jsonl", "--runner", "local", "--report", "page.html"]
    return CliRunner().invoke(app, [*given, *words])


def curves() -> list[list[object]]:
    page = Path("page.html").read_text()
    start = page.index('id="report-data">') + len('id="report-data">')
    return json.loads(page[start : page.index("</script>", start)])["curves"]


def test_the_truth_is_on_the_page() -> None:
    Path("true.jsonl").write_text(json.dumps(RESULT | REST) + "\n")
    assert run("--truth", "true.jsonl").exit_code == 0
    assert curves() == [[0, "joe", [[1, 0.25]], [1], [], 1, True, False]]


def test_decisions_are_on_the_page() -> None:
    Path("decided.jsonl").write_text(json.dumps(RESULT | REST | {"event": "other"}) + "\n")
    assert run("--decided", "decided.jsonl").exit_code == 0
    assert curves() == [[0, "joe", [[1, 0.25]], [], [], 1, False, True]]


def test_what_is_no_result_is_rejected() -> None:
    Path("true.csv").write_text("person,end\njoe,2\n")
    result = run("--truth", "true.csv")
    assert result.exit_code == 3
    assert "no column `event`" in result.stderr
