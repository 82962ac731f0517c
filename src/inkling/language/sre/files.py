"""Pattern files from text to program, and from text to text."""

from inkling.language.sre.printer import format_file
from inkling.language.sre.reader import read_patterns
from inkling.language.sre.translation import translate
from inkling.language.syntax import Program
from inkling.source import SourceText


def parse_patterns(text: str, name: str = "<patterns>") -> Program:
    """The program that a pattern file stands for; raises `ProgramError` with every mistake found."""
    source = SourceText(name, text)
    return translate(read_patterns(source), source)


def format_patterns(text: str, name: str = "<patterns>") -> str:
    """The same patterns in one layout."""
    return format_file(read_patterns(SourceText(name, text)))
