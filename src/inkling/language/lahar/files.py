"""Query files from text to program, and from text to text."""

from inkling.language.lahar.printer import format_file
from inkling.language.lahar.reader import read_queries
from inkling.language.lahar.translation import translate
from inkling.language.syntax import Program
from inkling.source import SourceText


def parse_queries(text: str, name: str = "<queries>") -> Program:
    """The program that a query file stands for; raises `ProgramError` with every mistake found."""
    source = SourceText(name, text)
    return translate(read_queries(source), source)


def format_queries(text: str, name: str = "<queries>") -> str:
    """The same queries in one layout."""
    return format_file(read_queries(SourceText(name, text)))
