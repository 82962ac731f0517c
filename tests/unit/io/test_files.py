"""Files of rows, well formed or not, become tables of records."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from inkling.errors import InputError
from inkling.io import read_table
from inkling.io.readers.csv_text import BLOCK_BYTES
from inkling.io.readers.files import read_sample
from inkling.io.readers.places import files_at
from inkling.io.readers.records import MALFORMED, ORIGINAL


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows_of(path: Path | str) -> list[dict[str, object]]:
    return read_table(path, what="S").to_pylist()


def error_of(data: object) -> str:
    with pytest.raises(InputError) as caught:
        read_table(data, what="S")
    return str(caught.value)


def test_csv_values_are_texts(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", 'k,v\n1,"x ""y"", z"\n 2 ,\n3,""\n4,null\n')
    assert rows_of(file) == [
        {"k": "1", "v": 'x "y", z'},
        {"k": " 2 ", "v": None},
        {"k": "3", "v": ""},
        {"k": "4", "v": "null"},
    ]


def test_csv_with_byte_order_mark_blank_lines_and_other_line_ends(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", b"\xef\xbb\xbf\r\n \r\nk, v \r\n1,2\r\n\r\n   \r\n3,4")
    assert rows_of(file) == [{"k": "1", "v": "2"}, {"k": "3", "v": "4"}]
    assert rows_of(written(tmp_path / "b.csv", b"k,v\r1,2\r3,4\r")) == rows_of(file)


def test_csv_values_may_have_lines(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", 'k,v\n1,"one\n\ntwo"\n2,x\n')
    assert rows_of(file) == [{"k": "1", "v": "one\n\ntwo"}, {"k": "2", "v": "x"}]


def test_csv_records_with_other_numbers_of_fields_keep_their_places(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", "k,v\n1,2\n  \n3\n4,5\n6,7,8\n")
    assert rows_of(file) == [
        {"k": "1", "v": "2", MALFORMED: None, ORIGINAL: None},
        {"k": None, "v": None, MALFORMED: "expected 2 fields, found 1", ORIGINAL: "3"},
        {"k": "4", "v": "5", MALFORMED: None, ORIGINAL: None},
        {"k": None, "v": None, MALFORMED: "expected 2 fields, found 3", ORIGINAL: "6,7,8"},
    ]


def test_csv_that_is_not_utf8(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", b'k,v\n1,caf\xe9\n2\xff\n\n3,caf\xc3\xa9\n4,"\xff""x\ny"\n')
    assert rows_of(file) == [
        {"k": None, "v": None, MALFORMED: "not UTF-8: byte 0xe9 in `v`", ORIGINAL: "1,caf\\xe9"},
        {"k": None, "v": None, MALFORMED: "expected 2 fields, found 1", ORIGINAL: "2\\xff"},
        {"k": "3", "v": "café", MALFORMED: None, ORIGINAL: None},
        {"k": None, "v": None, MALFORMED: "not UTF-8: byte 0xff in `v`", ORIGINAL: '4,"\\xff""x\ny"'},
    ]


def test_json_that_is_not_utf8(tmp_path: Path) -> None:
    lines = b'{"k":1,"v":"caf\xe9"}\n{"k":2,"v":"caf\xc3\xa9"}\n\xff{\n{"\xe9":3}\n'
    file = written(tmp_path / "a.jsonl", lines)
    assert [(row["v"], row[MALFORMED], row[ORIGINAL]) for row in rows_of(file)] == [
        (None, "not UTF-8: byte 0xe9 in `v`", '{"k":1,"v":"caf\\xe9"}'),
        ("café", None, '{"k":2,"v":"café"}'),
        (None, "not a JSON object", "\\xff{"),
        (None, "not UTF-8: byte 0xe9", '{"\\xe9":3}'),
    ]


def test_characters_for_private_use_are_none_of_bytes(tmp_path: Path) -> None:
    private = "\U0010fff0"
    file = written(tmp_path / "a.csv", f"k\n{private}\n".encode() + b"\xf0\n")
    assert [(row["k"], row[MALFORMED]) for row in rows_of(file)] == [
        (private, None),
        (None, "not UTF-8: byte 0xf0 in `k`"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.csv", "k,v\n1,2\n".encode("utf-16"), "the file is UTF-16, not UTF-8"),
        ("a.csv", "k,v\n1,2\n".encode("utf-16-le"), "the file has zero bytes, as text in UTF-16 has"),
        ("a.csv", "k,v\n1,2\n".encode("utf-32"), "the file is UTF-32, not UTF-8"),
        ("a.csv", b"k,caf\xe9\n1,2\n", "its header is not UTF-8: byte 0xe9"),
        ("a.jsonl", '{"k":1}\n'.encode("utf-16"), "the file is UTF-16, not UTF-8"),
    ],
)
def test_files_in_other_encodings(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    file = written(tmp_path / name, content)
    with pytest.raises(InputError) as whole:
        rows_of(file)
    with pytest.raises(InputError) as sample:
        read_sample(*files_at(file, what="S"), 5, what="S")
    assert str(whole.value) == str(sample.value)
    assert reason in str(whole.value)


def test_csv_record_larger_than_a_block(tmp_path: Path) -> None:
    long = "x" * (BLOCK_BYTES + 10)
    file = written(tmp_path / "a.csv", f"k,v\n1,{long}\n2,y\n")
    assert [row["v"] for row in rows_of(file)] == [long, "y"]


@pytest.mark.parametrize("content", ["k,v\n", "k,v", "k,v\n\n  \n"])
def test_csv_with_nothing_but_a_header(tmp_path: Path, content: str) -> None:
    table = read_table(written(tmp_path / "a.csv", content), what="S")
    assert (table.column_names, table.num_rows) == (["k", "v"], 0)


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff"])
def test_csv_without_a_header(tmp_path: Path, content: str) -> None:
    assert "INK0509" in error_of(written(tmp_path / "a.csv", content))


def test_compressed_csv(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv.gz", gzip.compress(b"k\n1\n"))
    assert rows_of(file) == [{"k": "1"}]
    assert "INK0503" in error_of(written(tmp_path / "b.csv.gz", b"k\n1\n"))


def test_json_values_are_the_texts_that_spell_them(tmp_path: Path) -> None:
    lines = ['{"i": 1, "d": 1.50, "s": "ü", "b": true}', '{"i": 1e400, "s": 3.0, "n": null, "o": {"x": [1, "y"]}}']
    file = written(tmp_path / "a.jsonl", "\n\n".join(lines) + "\n")
    table = read_table(file, what="S").drop_columns([ORIGINAL])
    assert table.to_pylist() == [
        {"i": "1", "d": "1.50", "s": "ü", "b": "true", "n": None, "o": None},
        {"i": "1e400", "d": None, "s": "3.0", "b": None, "n": None, "o": '{"x": [1, "y"]}'},
    ]


def test_json_lines_that_are_no_objects_keep_their_places(tmp_path: Path) -> None:
    lines = ['{"k": 1}', '{"k": 2', "[1]", '{"k": 3}', "{'k': 4}"]
    file = written(tmp_path / "a.json", "\ufeff" + "\r\n".join(lines))
    table = read_table(file, what="S")
    assert table["k"].to_pylist() == ["1", None, None, "3", None]
    assert [fault is not None for fault in table[MALFORMED].to_pylist()] == [False, True, True, False, True]
    assert table[ORIGINAL].to_pylist() == lines


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ('"\\ud83d"', "unpaired surrogate"),
        ('{"inside": ["\\uDE00"]}', "unpaired surrogate"),
        (f"[{'7' * 4301}]", "more than 4300 digits"),
        (f'{{"inside": -{"7" * 5000}}}', "more than 4300 digits"),
        (f"{'[' * 970}{']' * 970}", "nested too deep"),
        (f"{'[' * 200_000}{']' * 200_000}", "nested too deep"),
    ],
)
def test_json_that_cannot_be_held_keeps_its_place(tmp_path: Path, value: str, fault: str) -> None:
    lines = ['{"k": 1, "v": "\\ud83d\\ude00"}', f'{{"k": 2, "v": {value}}}', f'{{"k": 3, "v": [{"7" * 4300}]}}']
    table = read_table(written(tmp_path / "a.jsonl", "\n".join(lines)), what="S")
    assert table["k"].to_pylist() == ["1", None, "3"]
    assert table["v"].to_pylist() == ["\N{GRINNING FACE}", None, f"[{'7' * 4300}]"]
    assert fault in table[MALFORMED].to_pylist()[1]
    assert table[ORIGINAL].to_pylist() == lines


def test_a_name_with_half_a_character_is_no_column(tmp_path: Path) -> None:
    table = read_table(written(tmp_path / "a.jsonl", '{"k": 1}\n{"\\udc00": 2}\n'), what="S")
    assert table.column_names == ["k", ORIGINAL, MALFORMED]
    assert table["k"].to_pylist() == ["1", None]


def test_a_json_number_of_any_length_is_a_value(tmp_path: Path) -> None:
    digits = "7" * 5000
    file = written(tmp_path / "a.jsonl", f'{{"k": {digits}, "v": [1]}}\n')
    assert read_table(file, what="S").drop_columns([ORIGINAL]).to_pylist() == [{"k": digits, "v": "[1]"}]


def test_empty_json_lines(tmp_path: Path) -> None:
    assert read_table(written(tmp_path / "a.jsonl", ""), what="S").num_rows == 0


def test_parquet_reads_the_columns_that_matter(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"k": [1, 2], "v": ["a", "b"], "x.y": [0, 0]}), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet", what="S", columns=["x.y", "k"])
    assert table.to_pylist() == [{"k": 1, "x.y": 0}, {"k": 2, "x.y": 0}]


def test_folders_are_read_in_the_order_of_names_by_the_names_of_columns(tmp_path: Path) -> None:
    written(tmp_path / "b.csv", "v,k\n3,4\n")
    written(tmp_path / "a.csv", "k,v\n1,2\n")
    written(tmp_path / "_SUCCESS", "")
    assert rows_of(tmp_path) == [{"k": "1", "v": "2"}, {"k": "4", "v": "3"}]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    written(tmp_path / "readings.csv", "k\n")
    assert "did you mean" in error_of(tmp_path / "reading.csv")
    assert "INK0502" in error_of(written(tmp_path / "a.xlsx", ""))
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    assert "INK0502" in error_of(mixed)
    written(mixed / "a.csv", "k\n")
    written(mixed / "b.jsonl", "")
    assert "mixes formats" in error_of(mixed)
    assert "INK0503" in error_of(written(tmp_path / "a.parquet", "no parquet"))
    assert "INK0501" in error_of(5)
    assert "INK0501" in error_of(["no row"])


def test_frames_and_rows() -> None:
    rows = [{"k": 1, "v": "a"}, {"k": 2, "v": None}]
    for data in (rows, pa.Table.from_pylist(rows), pd.DataFrame(rows), pl.DataFrame(rows)):
        assert read_table(data, what="S").to_pylist() == rows


def test_values_that_share_no_type_are_texts() -> None:
    rows = [{"k": 1, "n": 2**70}, {"k": "a", "n": True}, {"n": None}]
    expected = [{"k": "1", "n": str(2**70)}, {"k": "a", "n": "true"}, {"k": None, "n": None}]
    assert read_table(rows, what="S").to_pylist() == expected
    mixed = pd.DataFrame({"k": pd.Series([1, "a", None], dtype=object)})
    assert read_table(mixed, what="S")["k"].to_pylist() == ["1", "a", None]


def test_json_lines_of_any_order_of_keys_eq_python(tmp_path: Path) -> None:
    objects = [{"a": 1}, {"b": 2, "a": 3}, {"c": "x"}]
    file = written(tmp_path / "a.ndjson", "\n".join(json.dumps(one) for one in objects))
    table = read_table(file, what="S")
    for name in ("a", "b", "c"):
        expected = [None if one.get(name) is None else str(one[name]) for one in objects]
        assert table[name].to_pylist() == expected
