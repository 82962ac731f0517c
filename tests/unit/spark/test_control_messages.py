"""Control messages in files: complete lines, each once."""

from __future__ import annotations

from pathlib import Path

from inkling.forecasting.adaptation.steering import steered
from inkling.spark.streaming.sources.control_messages import MessageFile

ORDER = {"forecast": "f", "parameter": "order", "value": "1"}


def test_lines_of_csv_count_once_they_are_complete(tmp_path: Path) -> None:
    path = tmp_path / "control.csv"
    messages = MessageFile(path)
    assert messages.after(0) == ([], 0)
    path.write_text("forecast,parameter,value\nf,order,1\nf,confidence,0.7")
    found, heard = messages.after(0)
    assert found == [ORDER]
    path.write_text("forecast,parameter,value\nf,order,1\nf,confidence,0.75\n\n")
    found, heard = messages.after(heard)
    assert found == [{"forecast": "f", "parameter": "confidence", "value": "0.75"}]
    assert messages.after(heard) == ([], heard)


def test_a_file_that_became_shorter_is_another_one(tmp_path: Path) -> None:
    path = tmp_path / "control.csv"
    path.write_text("forecast,parameter,value\nf,order,1\n")
    assert MessageFile(path).after(5)[0] == [ORDER]
    _, heard = MessageFile(path).after(0)
    path.write_text("f,order,2\n")
    assert MessageFile(path).after(heard)[0] == [{**ORDER, "value": "2"}]


def test_a_file_that_was_overwritten_is_another_one_whatever_its_length(tmp_path: Path) -> None:
    path = tmp_path / "control.csv"
    path.write_text("forecast,parameter,value\nf,order,2\n")
    _, heard = MessageFile(path).after(0)
    path.write_text("forecast,parameter,value\nf,order,1\n")
    found, heard = MessageFile(path).after(heard)
    assert found == [ORDER]
    path.write_text("forecast,parameter,value\nf,order,3\nf,order,1\n")
    assert [one["value"] for one in MessageFile(path).after(heard)[0]] == ["3", "1"]


def test_lines_without_a_header_have_the_fields_in_their_usual_order(tmp_path: Path) -> None:
    path = tmp_path / "control.csv"
    path.write_text("f,order,1\nf,order\nf,order,2,3\n")
    found, _ = MessageFile(path).after(0)
    assert found[0] == ORDER
    settings, rejected = steered({}, found, lambda _: None)
    assert settings == {"f": {"order": 1}}
    assert [one.reason for one in rejected] == ["the field `value` is missing", "the field `forecast` is missing"]


def test_the_place_in_a_topic_is_none_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "control.csv"
    path.write_text("f,order,1\n")
    assert MessageFile(path).after('{"topic": {"0": 7}}')[0] == [ORDER]


def test_json_lines_and_lines_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "control.jsonl"
    path.write_text('{"forecast": "f", "parameter": "order", "value": 1}\n{"forecast"\n3\n')
    found, heard = MessageFile(path).after(0)
    assert found == [{**ORDER, "value": 1}, {"line": '{"forecast"'}, {"line": "3"}]
    assert MessageFile(path).after(heard) == ([], heard)
