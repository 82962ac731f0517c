"""Files that are written otherwise than with commas and a header, compressed, or stored elsewhere.

Each variant holds the same rows as a plain file.
"""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest

import inkling
from inkling.errors import InputError
from inkling.io import read_table
from inkling.io.readers.files import read_sample
from inkling.io.readers.places import files_at
from inkling.io.readers.records import MALFORMED

ROWS = [
    {"k": "Müller; A", "v": "1,5", "t": "1"},
    {"k": None, "v": "2|x", "t": "2"},
    {"k": 'say "y"', "v": "a\tb", "t": "3"},
]
NAMES = ["k", "v", "t"]


def text(separator: str, header: list[str] | None, encoding: str = "utf-8") -> bytes:
    """The rows, with every field that is not null in quotes."""
    cells = [[None if row[name] is None else row[name].replace('"', '""') for name in NAMES] for row in ROWS]
    lines = [separator.join("" if cell is None else f'"{cell}"' for cell in row) for row in cells]
    return "".join(f"{line}\n" for line in [*([separator.join(header)] if header else []), *lines]).encode(encoding)


def rows_at(address: str | Path) -> list[dict[str, object]]:
    """The rows of a file, the same as a sample of all of its rows."""
    rows = read_table(address, what="S").select(NAMES).to_pylist()
    kind, files = files_at(Path(address), what="S")
    assert read_sample(kind, files, 10, what="S").select(NAMES).to_pylist() == rows
    return rows


@pytest.mark.parametrize(
    ("option", "separator"),
    [
        *(("sep=;", ";"), ("sep=|", "|"), ("sep=pipe", "|"), ("sep=tab", "\t"), ("sep=\\t", "\t"), ("sep=%09", "\t")),
        *(("sep=space", " "), ("sep=%26", "&"), ("sep=:", ":"), ("sep=,", ","), ("format=tsv", "\t")),
    ],
)
def test_separators(option: str, separator: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(text(separator, NAMES))
    assert rows_at(f"{tmp_path}/a.csv?{option}") == ROWS


def test_no_header(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf" + text(",", None))
    assert rows_at(f"{tmp_path}/a.csv?header=no&columns=k,v,t") == ROWS
    found = read_table(f"{tmp_path}/a.csv?header=no&columns=k,,t", what="S")
    assert found["k"].to_pylist() == [row["k"] for row in ROWS]


def test_other_names_than_in_the_header(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(text(";", ["Kunde", "Wert", "Zeit"]))
    assert rows_at(f"{tmp_path}/a.csv?sep=;&columns=k,v,t") == ROWS


def test_a_record_of_another_length_is_malformed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a;1;1\nb;2\n")
    found = read_table(f"{tmp_path}/a.csv?sep=;&header=no&columns=k,v,t", what="S").to_pylist()
    assert [row[MALFORMED] for row in found] == [None, "expected 3 fields, found 2"]


def test_a_file_without_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"")
    assert rows_at(f"{tmp_path}/a.csv?header=no&columns=k,v,t") == []


def test_options_and_an_encoding(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes(text(";", None, "latin-1"))
    assert rows_at(f"{tmp_path}/old.txt?format=csv&encoding=latin-1&sep=;&header=no&columns=k,v,t") == ROWS


def test_bytes_that_are_not_utf8_keep_the_separator_of_the_record(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"k;v;t\ncaf\xe9;1;1\n")
    (row,) = read_table(f"{tmp_path}/a.csv?sep=;", what="S").to_pylist()
    assert row[MALFORMED] == "not UTF-8: byte 0xe9 in `k`"
    assert row["@original"] == "caf\\xe9;1;1"


def test_tabs_by_the_name_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(text("\t", NAMES))
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(text("\t", NAMES)))
    assert rows_at(tmp_path) == ROWS + ROWS


def zstandard(data: bytes) -> bytes:
    compressed: bytes = pa.Codec("zstd").compress(data).to_pybytes()
    return compressed


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard,
}


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_compressed_files(suffix: str, tmp_path: Path) -> None:
    """Also of several pieces, as tools write that append."""
    compress = COMPRESSIONS[suffix]
    data = text(",", NAMES)
    (tmp_path / f"a.csv{suffix}").write_bytes(compress(data[:20]) + compress(data[20:]))
    (tmp_path / f"b.csv{suffix.upper()}").write_bytes(compress(data))
    assert rows_at(tmp_path) == ROWS + ROWS


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_damaged_compressed_files(suffix: str, tmp_path: Path) -> None:
    data = COMPRESSIONS[suffix](text(",", NAMES) * 50)
    for name, damaged in {"cut": data[: len(data) // 2], "other": b"k,v,t\n1,2,3\n"}.items():
        path = tmp_path / f"{name}.csv{suffix}"
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="INK0503"):
            read_table(path, what="S")


def test_files_of_another_file_system(tmp_path: Path) -> None:
    """`file://` goes the way of `s3://`, `gs://` and `abfs://`: through the file systems of Arrow."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_bytes(text(";", NAMES))
    (tmp_path / "in" / "b.csv.gz").write_bytes(gzip.compress(text(";", NAMES)))
    (tmp_path / "in" / "_SUCCESS").write_bytes(b"")
    assert rows_at(f"file://{tmp_path}/in/a.csv?sep=;") == ROWS
    assert rows_at(f"file://{tmp_path}/in?sep=;") == ROWS + ROWS
    pa.parquet.write_table(pa.table({"k": ["x"], "v": [1], "t": [2]}), tmp_path / "c.parquet")
    assert rows_at(f"file://{tmp_path}/c.parquet") == [{"k": "x", "v": 1, "t": 2}]
    with pytest.raises(InputError, match="INK0550"):
        read_table(f"file://{tmp_path}/none.csv", what="S")


def test_tables_in_another_file_system(tmp_path: Path) -> None:
    (tmp_path / "rooms.csv").write_text("name\nhall\n")
    source = (
        "STREAM S(k STRING, t BIGINT) TIME t;\n"
        f"TABLE rooms(name STRING) FROM 'file://{tmp_path}/rooms.csv';\n"
        "EVENT e AS PATTERN S s[rooms(k)];"
    )
    given = {"S": [{"k": "hall", "t": 1}, {"k": "lab", "t": 2}]}
    assert len(inkling.parse(source, folder=tmp_path).run_local(given)["e"]) == 1
    with pytest.raises(InputError, match="INK0580"):
        inkling.parse(source, folder=tmp_path, root=tmp_path).run_local(given)


def test_files_of_fsspec() -> None:
    """An address that Arrow does not know is one of fsspec."""
    with fsspec.open("memory://bucket/in/a.csv", "w") as file:
        file.write("k;v;t\nx;1;2\n")
    one = [{"k": "x", "v": "1", "t": "2"}]
    assert rows_at("memory://bucket/in/a.csv?sep=;") == one
    assert rows_at("memory://bucket/in?format=csv&sep=;") == one
    with pytest.raises(InputError, match="zz9"):
        read_table("zz9://bucket/a.csv", what="S")
