"""64 mistakes of people who come from SQL, Esper, Flink or Python, or who have read one page: the message of each.

No message is "a bug in inkling", and nearly all have a help, which says what to write.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

import inkling
from inkling.cli.inputs import given_paths
from inkling.errors import InputError, ProgramError, render
from inkling.io import read_table
from inkling.spark.session import check_master

FOLDER = Path(__file__).parent / "natural"
PROGRAMS = sorted(FOLDER.glob("*.ink"))
MISTAKES, WITH_HELP = 64, 60

STREAM = "STREAM Trip(id STRING, speed DOUBLE, at TIMESTAMP) ID id TIME at; EVENT e AS PATTERN Trip t[speed > 3];"


def of_input(content: str, name: str = "trips.csv") -> str:
    """The message of a run over a file."""
    Path(name).write_text(content)
    with pytest.raises(InputError) as caught:
        inkling.parse(STREAM).run_local({"Trip": name})
    return f"{caught.value}\n"


def of_call(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return f"{caught.value}\n"


CALLS: dict[str, Callable[[], str]] = {
    "call_semicolons": lambda: of_input("id;speed;at\na;4;2026-03-02\n"),
    "call_epoch_seconds": lambda: of_input("id,speed,at\na,4,1772445600\n"),
    "call_another_column": lambda: of_input("id,spead,at\na,4,2026-03-02\n"),
    "call_spreadsheet": lambda: of_input("", "trips.xlsx"),
    "call_topic_in_a_run": lambda: of_call(lambda: read_table("kafka://localhost:9092/trips", what="Trip")),
    "call_nonsense_master": lambda: of_call(lambda: check_master("nonsense")),
    "call_input_without_name": lambda: of_call(lambda: given_paths(inkling.parse(STREAM), ["trips.csv"], [])),
}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trips.csv").touch()


def message_of(program: Path) -> str:
    """The error of a program, or its warnings."""
    try:
        parsed = inkling.parse(program.read_text(encoding="utf-8"), name=program.name)
    except ProgramError as error:
        return f"{error}\n"
    assert parsed.warnings
    return f"{render(parsed.warnings)}\n"


def compare(found: str, expected: Path, *, accept: bool) -> None:
    if accept:
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs(program: Path, accept: bool) -> None:
    compare(message_of(program), program.with_suffix(".txt"), accept=accept)


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str, accept: bool) -> None:
    compare(CALLS[name](), FOLDER / f"{name}.txt", accept=accept)


def test_nearly_all_say_what_to_write() -> None:
    messages = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.txt")]
    assert len(messages) == len(PROGRAMS) + len(CALLS) == MISTAKES
    assert not any("INK09" in message for message in messages)
    assert sum("= help:" in message for message in messages) >= WITH_HELP
