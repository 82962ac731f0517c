"""Rule files from text to program, and from text to text."""

from inkling.language.ele.printer import format_file
from inkling.language.ele.reader import read_rules
from inkling.language.ele.translation import translate
from inkling.language.syntax import Program
from inkling.source import SourceText


def parse_rules(text: str, name: str = "<rules>") -> Program:
    """The program that a rule file stands for; raises `ProgramError` with every mistake found."""
    source = SourceText(name, text)
    return translate(read_rules(source), source)


def format_rules(text: str, name: str = "<rules>") -> str:
    """The same rules in one layout."""
    return format_file(read_rules(SourceText(name, text)))
