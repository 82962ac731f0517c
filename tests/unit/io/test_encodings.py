"""Text in other encodings is read where the path names them, in this process and, by the same readers, on Spark."""

import gzip
from pathlib import Path

import pytest
from tests.attack.files import program_of

import inkling

PROGRAM = inkling.parse("STREAM S(k STRING, t BIGINT) KEY k TIME t;\nEVENT e(s.k AS k) AS PATTERN S s;")
NAMES = ["Müller", "Ångström", "Noël"]


def text(suffix: str, names: list[str]) -> str:
    if suffix.startswith(".csv"):
        return "k,t\n" + "".join(f"{name},{t}\n" for t, name in enumerate(names))
    return "".join(f'{{"k": "{name}", "t": {t}}}\n' for t, name in enumerate(names))


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".csv.gz", ".jsonl.gz"])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "utf-8", "UTF8"])
def test_encodings(suffix: str, encoding: str, tmp_path: Path) -> None:
    path = written(tmp_path / f"S{suffix}", text(suffix, NAMES).encode(encoding))
    for given in (
        f"{path}?encoding={encoding}",
        Path(f"{path}?encoding={encoding}"),
        f"{tmp_path}?encoding={encoding}",
    ):
        assert PROGRAM.run_local({"S": given})["e"]["k"].to_pylist() == NAMES


def test_bytes_that_an_encoding_does_not_have(tmp_path: Path) -> None:
    """The record is rejected; the others are read."""
    path = written(tmp_path / "S.csv", b"k,t\n\x81,1\nM\xfcller,2\n")
    results = PROGRAM.run_local({"S": f"{path}?encoding=cp1252"})
    assert results["e"]["k"].to_pylist() == ["Müller"]
    assert [row["detail"] for row in results.rejects.to_pylist()] == ["not UTF-8: byte 0x81 in `k`"]


def test_a_file_of_another_encoding(tmp_path: Path) -> None:
    path = written(tmp_path / "S.csv", b"k,t\nabcd,1\n")
    with pytest.raises(inkling.InklingError, match=r"INK0503[^$]*the file is not utf-16"):
        PROGRAM.run_local({"S": f"{path}?encoding=utf-16"})


@pytest.mark.parametrize("name", ["hex", "", "no-such"])
def test_unknown_encodings(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "S.csv", b"k,t\nabc,1\n")
    with pytest.raises(inkling.InklingError, match=r"INK0515[^$]*not a valid encoding[^$]*write for example"):
        PROGRAM.run_local({"S": f"{path}?encoding={name}"})


def test_formats_without_encodings(tmp_path: Path) -> None:
    path = written(tmp_path / "S.parquet", b"")
    with pytest.raises(inkling.InklingError, match=r"INK0515[^$]*which Parquet does not have"):
        PROGRAM.run_local({"S": f"{path}?encoding=utf-16"})


def test_a_file_whose_name_looks_like_that(tmp_path: Path) -> None:
    path = written(tmp_path / "S.csv?encoding=utf-16", b"k,t\nabc,1\n")
    with pytest.raises(inkling.InklingError, match=r"INK0502"):
        PROGRAM.run_local({"S": path})


def test_tables(tmp_path: Path) -> None:
    written(tmp_path / "rooms.csv", "name\nBüro\n".encode("utf-16"))
    program = inkling.parse(
        "STREAM S(k STRING, t BIGINT) TIME t;\nTABLE rooms(name STRING) FROM 'rooms.csv?encoding=utf-16';\n"
        "EVENT e AS PATTERN S s[rooms(k)];",
        folder=tmp_path,
    )
    assert len(program.run_local({"S": [{"k": "Büro", "t": 1}]})["e"]) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_messages_name_the_option(encoding: str, tmp_path: Path) -> None:
    """Without it, the message says how to name the encoding; with it, the rows are those of the same text in UTF-8."""
    header = "schlüssel,k,x,y,up,t\n"
    path = written(tmp_path / "S.csv", f"{header}a,b,1,2,true,3\n".encode(encoding))
    program = program_of("ticks")
    with pytest.raises(inkling.InklingError, match=rf"name the encoding, as in `{path}\?encoding={encoding}`"):
        program.run_local({"S": path})
    assert len(program.run_local({"S": f"{path}?encoding={encoding}"})["one"]) == 1
