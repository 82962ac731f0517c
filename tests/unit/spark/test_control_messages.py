"""Control messages in files: complete lines, each once."""

from __future__ import annotations

from pathlib import Path

from inkling.spark.streaming.control_messages import MessageFile

ORDER = {"forecast": "f", "parameter": "order", "value": "1"}


def test_lines_of_csv_count_once_they_are_complete(tmp_path: Path) -> None:
    path = tmp_path / "control.csv"
    messages = MessageFile(path)
    assert messages.after(0) == ([], 0)
    path.write_text("forecast,parameter,value\nf,order,1\nf,confidence,0.7")
    found, heard = messages.after(0)
    assert (found, heard) == ([ORDER], 1)
    path.write_text("forecast,parameter,value\nf,order,1\nf,confidence,0.75\n\n")
    found, heard = messages.after(heard)
    assert (found, heard) == ([{"forecast": "f", "parameter": "confidence", "value": "0.75"}], 2)
    assert messages.after(heard) == ([], 2)


def test_a_file_that_became_shorter_is_another_one(tmp_path: Path) -> None:
    path = tmp_path / "control.csv"
    path.write_text("forecast,parameter,value\nf,order,1\n")
    assert MessageFile(path).after(5) == ([ORDER], 1)


def test_json_lines_and_lines_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "control.jsonl"
    path.write_text('{"forecast": "f", "parameter": "order", "value": 1}\n{"forecast"\n3\n')
    found, heard = MessageFile(path).after(0)
    assert found == [{**ORDER, "value": 1}, {"line": '{"forecast"'}, {"line": "3"}]
    assert heard == 3
