"""Pattern files of Wayeb (`.sre`) as programs: read, translated into the syntax of `.ink`, printed."""

from inkling.errors import ProgramError
from inkling.language.kit.reading import Notation
from inkling.language.sre.printer import format_file
from inkling.language.sre.reader import read_patterns
from inkling.language.sre.translation import check_predicates, translate
from inkling.source import SourceText, Span

WAYEB = Notation(read_patterns, translate, format_file)
SUFFIX = ".sre"


RESETS = "DECLARE +(IsEventTypePredicate(RESET));"
"""The declaration of files whose rows of type RESET are no events, but reset their key."""


def with_declarations(text: str, declarations: SourceText) -> str:
    """A pattern file together with a file of declarations, which follow the patterns, whose places do not change."""
    file = read_patterns(declarations, declarations=True)
    if file.patterns or file.stream is not None:
        wrong = file.patterns[0].span if file.patterns else Span(0, 0)
        raise ProgramError.of(
            "INK0146",
            "a file of declarations has no patterns",
            span=wrong,
            source=declarations,
            helps=("write only `+(p, …)` and `~(p, q, …)`, separated by commas",),
        )
    check_predicates(file, declarations)
    before = read_patterns(SourceText("", text))
    last_pattern, last_declaration = (
        max((one.span.end for one in some), default=-1) for some in (before.patterns, before.declarations)
    )
    separator = " & " if last_pattern > last_declaration else ""
    return f"{text.rstrip()}\n{separator}{format_file(file)}"
