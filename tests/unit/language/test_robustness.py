"""Whatever the text, the parser returns a program or says what is wrong with it."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from inkling.error_codes import CODES
from inkling.errors import Diagnostic, ProgramError
from inkling.language import parse

PIECES = sorted(
    {
        piece
        for path in Path(__file__).parent.joinpath("programs").glob("*.ink")
        for piece in re.findall(r"\w+|'[^']*'|[^\w\s]", path.read_text(encoding="utf-8"))
    }
)


def errors(text: str) -> tuple[Diagnostic, ...]:
    try:
        parse(text)
    except ProgramError as error:
        return error.diagnostics
    return ()


def read(text: str) -> None:
    for diagnostic in errors(text):
        assert diagnostic.code in CODES
        assert diagnostic.span is not None
        assert diagnostic.span.end <= len(text)
        assert "expected ," not in diagnostic.message
        assert diagnostic.render().startswith(f"error[{diagnostic.code}]: {diagnostic.message}")


@given(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_random_words(text: str) -> None:
    read(text)


@given(st.text(max_size=30))
def test_random_text(text: str) -> None:
    read(text)


@given(st.data())
def test_programs_with_a_word_lost_doubled_or_replaced(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(Path(__file__).parent.joinpath("programs").glob("*.ink"))))
    pieces = re.findall(r"\w+|'[^']*'|[^\w\s]|\s+", path.read_text(encoding="utf-8"))
    at = data.draw(st.integers(0, len(pieces) - 1))
    instead = data.draw(st.sampled_from([[], [pieces[at]] * 2, [data.draw(st.sampled_from(PIECES))]]))
    read("".join(pieces[:at] + instead + pieces[at + 1 :]))
