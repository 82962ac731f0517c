"""What is said about inputs that cannot be read, before anything runs."""

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from inkling import io, parse
from inkling.error_codes import CODES
from inkling.errors import InputError
from inkling.forecasting.learning.files import load_model
from inkling.forecasting.models.counts import WordCounts
from inkling.forecasting.models.model import ForecastModel
from inkling.io import normalize, read_table
from inkling.io.tables import typed_table
from inkling.local_stream import LocalStream
from inkling.model.schema import Column, StreamSchema, TableSchema
from inkling.model.types import Type
from inkling.program_files import ProgramFiles
from inkling.whole_files import write_whole

MESSAGES = Path(__file__).parent / "input"
TRIP = StreamSchema(
    "Trip", (Column("bus", Type.STRING), Column("speed", Type.DOUBLE)), id=None, key=("bus",), start="t", end="t"
)
LIMITS = TableSchema("limits", (Column("road", Type.STRING), Column("top", Type.DOUBLE)), "limits.csv")


def read(content: str, name: str = "trips.csv", encoding: str = "utf-8") -> None:
    Path(name.partition("?")[0]).write_text(content, encoding=encoding)
    normalize(read_table(name, what="Trip"), TRIP)


def read_folder(*names: str) -> None:
    Path("trips").mkdir()
    for name in names:
        (Path("trips") / name).write_text("bus,speed,t\n")
    read_table("trips", what="Trip")


def read_two_types() -> None:
    for name, values in {"a.parquet": [1.0], "b.parquet": ["fast"]}.items():
        pyarrow.parquet.write_table(pyarrow.table({"speed": values}), name)
    read_table(".", what="Trip")


def read_fact(text: str, name: str) -> None:
    """A table of triples in an RDF file."""
    Path(name).write_text(text)
    kb = TableSchema("kb", tuple(Column(one, Type.TERM) for one in ("s", "p", "o")), name)
    typed_table(kb, read_table(name, what="kb"))


def read_without_package() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pyoxigraph", None)
        read_fact("", "kb.ttl")


def read_stream_of_triples() -> None:
    Path("Trip.nt").write_text("")
    normalize(read_table("Trip.nt", what="Trip"), replace(TRIP, columns=(Column("s", Type.TERM),), key=()))


def read_near() -> None:
    Path("trips.csv").write_text("bus,speed,t\n")
    read_table("trip.csv", what="Trip")


def run_rules(rules: str, n_facts: int = 0) -> None:
    """A program that asks rules over a table `known(a)`."""
    text = f"""STREAM S(a INTEGER) TIME t;
    TABLE known(a INTEGER) FROM 'known.csv';
    {rules}
    EVENT found AS PATTERN S s WHERE asked(s.a);"""
    known = pyarrow.table({"a": pyarrow.array(range(n_facts), pyarrow.int64())})
    parse(text).run_local({"S": [{"a": 1, "t": 1}]}, {"known": known})


def run_epoch_seconds(column: str = ", t TIMESTAMP") -> None:
    """Integers for a time that is declared as a timestamp, or not at all."""
    text = f"""STREAM S(a INTEGER{column}) TIME t;
    EVENT pair AS PATTERN SEQ(S s, S u) WITHIN 10 MINUTES;"""
    parse(text).run_local({"S": [{"a": 1, "t": 1767225600}]})


def write_in_file() -> None:
    """A page whose folder is a file."""
    Path("report").touch()
    write_whole("", Path("report") / "page.html")


def restore(change: Callable[[bytes], bytes]) -> None:
    """A snapshot after a change of its bytes."""
    program = parse("STREAM S(a INTEGER, t BIGINT) TIME t; EVENT found AS PATTERN S s;")
    LocalStream.restore(program, change(program.open().snapshot()))


def unreadable_model() -> None:
    """A model with a negative count."""
    model = ForecastModel("hot", ("low", "high"), "f" * 64, 3, WordCounts.empty(2, 1)).to_arrow()
    word = {"what": "word", "group": "", "state": 0, "length": 1, "code": 1, "count": -2.0}
    both = pyarrow.concat_tables([model, pyarrow.Table.from_pylist([word], schema=model.schema)])
    pyarrow.parquet.write_table(both, "hot.parquet")
    load_model("hot.parquet")


CASES: dict[str, Callable[[], object]] = {
    "damaged_snapshot": lambda: restore(lambda data: data[:30] + b"?" + data[31:]),
    "cut_snapshot": lambda: restore(lambda data: data[:40]),
    "no_snapshot": lambda: restore(lambda data: b"a,b,t\n1,2,3\n"),
    "snapshot_of_an_older_version": lambda: restore(lambda data: b"INKSTRM2" + data),
    "damaged_model": unreadable_model,
    "file_outside_of_the_root": lambda: ProgramFiles(Path("programs"), Path("programs")).path("../trips.csv"),
    "file_in_a_file": write_in_file,
    "no_such_file": read_near,
    "unknown_suffix": lambda: read("", "trips.xlsx"),
    "folder_without_files": read_folder,
    "folder_of_two_formats": lambda: read_folder("a.csv", "b.jsonl"),
    "folder_with_another_file": lambda: read_folder("a.csv", "notes.txt"),
    "no_parquet": lambda: read("bus,speed,t\n", "trips.parquet"),
    "two_types_of_one_column": read_two_types,
    "header_in_latin_1": lambda: read("bus,spéed,t\n", encoding="latin-1"),
    "utf_16": lambda: read("bus,speed,t\n", encoding="utf-16"),
    "no_header": lambda: read("\n"),
    "missing_column": lambda: read("bus,sped,t\n"),
    "semicolons": lambda: read("bus;speed;t\na;30;1\n"),
    "doubled_column": lambda: read("bus,speed,t,speed\n"),
    "unfit_type": lambda: normalize(read_table([{"bus": "a", "speed": date(2024, 1, 1), "t": 1}], what="Trip"), TRIP),
    "unknown_kind_of_data": lambda: read_table(5, what="Trip"),
    "items_that_are_no_rows": lambda: read_table(["a"], what="Trip"),
    "bad_fact": lambda: typed_table(LIMITS, read_table([{"road": "A1", "top": "high"}], what="limits")),
    "unknown_storage": lambda: read_table("zz9://bucket/trips.csv", what="Trip"),
    "unknown_option": lambda: read("bus;speed;t\n", "trips.csv?delimiter=;"),
    "header_without_names": lambda: read("a;1;1\n", "trips.csv?sep=;&header=no"),
    "names_for_another_header": lambda: read("bus,speed,t\n", "trips.csv?columns=bus,t"),
    "unusual_separator": lambda: read("bus,speed,t\n", "trips.csv?sep=::"),
    "options_of_csv_for_json": lambda: read("{}", "trips.jsonl?sep=;"),
    "topic_in_batch": lambda: read_table("kafka://broker:9092/trips", what="Trip"),
    "epoch_seconds": run_epoch_seconds,
    "integers_and_minutes": lambda: run_epoch_seconds(""),
    "rule_with_too_many_facts": lambda: run_rules("RULE asked(a) IF known(a) AND known(b) AND a < b;", 8000),
    "rule_without_end": lambda: run_rules("RULE asked(1); RULE asked(n + 1) IF asked(n);"),
    "turtle_with_an_error": lambda: read_fact("@prefix ex: <http://ex.org/> .\nex:a ex:p .", "kb.ttl"),
    "line_that_is_no_statement": lambda: read_fact('<http://a.org/s> <http://a.org/p> "1" .\nno', "kb.nt"),
    "fact_that_is_no_term": lambda: read_fact("s,p,o\n<http://a.org/s>,ex:p,1\n", "kb.csv"),
    "rdf_without_package": read_without_package,
    "triples_without_time": read_stream_of_triples,
    "table_without_column": lambda: typed_table(LIMITS, read_table([{"road": "A1"}], what="limits")),
}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", CASES)
def test_message(case: str, accept: bool) -> None:
    with pytest.raises(InputError) as caught:
        CASES[case]()
    golden = MESSAGES / f"{case}.txt"
    said = f"{caught.value}\n"
    if accept:
        golden.write_text(said, encoding="utf-8")
    assert said == golden.read_text(encoding="utf-8")
    assert {finding.code for finding in caught.value.diagnostics} <= CODES.keys()


def test_every_message_belongs_to_a_case() -> None:
    assert {path.stem for path in MESSAGES.glob("*.txt")} == set(CASES)


def test_every_code_of_the_package_has_a_case() -> None:
    sources = Path(io.__file__).parent.rglob("*.py")
    used = {code for path in sources for code in re.findall(r'"(INK05\d\d)"', path.read_text())}
    shown = {code for path in MESSAGES.glob("*.txt") for code in re.findall(r"INK05\d\d", path.read_text())}
    # INK0554 and INK0580 speak of the program, INK0565 to INK0567 of what is written; INK0507 of clocks
    assert used - {"INK0554"} == shown - {"INK0507", "INK0565", "INK0566", "INK0567", "INK0580"}
