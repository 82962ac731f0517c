"""Cuts the text of a rule file into raw tokens and comments."""

import re
from dataclasses import dataclass

from inkling.errors import Diagnostic
from inkling.language.scanning import Scan, Scanner, rest_of_line, without_quotes
from inkling.source import SourceText, Span

_TOKEN = re.compile(
    r"""
      (?P<SPACE>    [\s\ufeff]+ )
    | (?P<COMMENT>  %[^\n]* | /\* .*? \*/ )
    | (?P<NAME>     [^\W\d_A-Z]\w* )
    | (?P<VARIABLE> [A-Z_]\w* )
    | (?P<DECIMAL>  [0-9]+ (?: \.[0-9]+ (?:[eE][+-]?[0-9]+)? | [eE][+-]?[0-9]+ ) )
    | (?P<INTEGER>  [0-9]+ )
    | (?P<QUOTED>   ' (?: [^'\r\n] | '' )+ ' )
    | (?P<TEXT>     " (?: [^"\r\n] | "" )* " )
    | (?P<STOP>     \. (?= \s | % | /\* | \Z ) )
    | (?P<ARROW>    <- )
    | (?P<IF>       :- )
    | (?P<COMPARISON> =:= | =\\= | \\== | \\= | == | =< | >= | < (?! = | > ) | > | = (?! > ) )
    | (?P<FOREIGN>  <= | <> | != | && | \|\| | -> | => | := )
    | (?P<SYMBOL>   \*\* | /(?!\*) | [(){}\[\],:.+*-] )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class RawToken:
    kind: str  # the group of `_TOKEN`
    text: str
    span: Span
    first_on_line: bool

    @property
    def value(self) -> str:
        """The text without quotes and with doubled quotes undone."""
        return without_quotes(self.text) if self.kind in ("QUOTED", "TEXT") else self.text


def scan(source: SourceText) -> Scan[RawToken]:
    """All tokens and comments; what cannot be read is reported and skipped."""
    return _SCANNER.scan(source)


def _token(_: SourceText, group: str, text: str, span: Span, first_on_line: bool) -> RawToken:
    return RawToken(group, text, span, first_on_line)


def _comment_text(written: str) -> str:
    if written.startswith("%"):
        return written.lstrip("%").strip()
    lines = written[2:-2].strip().splitlines()
    return "\n".join(line.strip().removeprefix("*").strip() for line in lines)


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    character = source.text[offset]
    rest = rest_of_line(source, offset)
    whole = Span(offset, offset + max(len(rest), 1))
    if rest.startswith("/*"):
        return Diagnostic(
            "INK0104",
            "the comment /* is not closed",
            Span(offset, len(source.text)),
            source,
            helps=("close it with */",),
        )
    if character in "'\"":
        return Diagnostic(
            "INK0104",
            f"the quote {character} is not closed" if rest[1:2] != character else "a name in quotes has no characters",
            whole,
            source,
            label="a text ends on the line it starts on",
            helps=(f"close it with {character}; inside, write {character * 2} for one quote",),
        )
    helps = {
        ";": ("write one rule for each alternative", "a statement ends with `.`"),
        "#": ("start a comment with `%`",),
        "|": ("lists have no meaning here",),
        "!": ("write `not goal` for the opposite of a goal",),
    }.get(character, ())
    return Diagnostic("INK0106", f"unexpected character `{character}`", Span(offset, offset + 1), source, helps=helps)


_SCANNER = Scanner(_TOKEN, _token, _comment_text, _unreadable)
