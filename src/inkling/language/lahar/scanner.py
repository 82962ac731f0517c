"""Cuts the text of a query file into raw tokens and comments."""

import re
from dataclasses import dataclass

from inkling.errors import Diagnostic
from inkling.language.scanning import Scan, Scanner, rest_of_line, without_quotes
from inkling.source import SourceText, Span

_TOKEN = re.compile(
    r"""
      (?P<SPACE>    [\s\ufeff]+ )
    | (?P<COMMENT>  --[^\n]* )
    | (?P<NAME>     [^\W\d]\w* )
    | (?P<NUMBER>   -? [0-9]+ (?: \.[0-9]+ )? (?: [eE][+-]?[0-9]+ )? (?! \w ) )
    | (?P<TEXT>     ' (?: [^'\r\n] | '' )* ' )
    | (?P<SYMBOL>   != | <= | >= | [;:,|+=<>(){}\[\]] )
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class RawToken:
    kind: str  # the group of `_TOKEN`
    text: str
    span: Span

    @property
    def value(self) -> str:
        return without_quotes(self.text) if self.kind == "TEXT" else self.text

    def is_symbol(self, *symbols: str) -> bool:
        return self.kind == "SYMBOL" and self.text in symbols

    def is_word(self, *words: str) -> bool:
        return self.kind == "NAME" and self.text in words


def scan(source: SourceText) -> Scan[RawToken]:
    """Tokens and comments; what cannot be read is reported and skipped."""
    return _SCANNER.scan(source)


def _token(_: SourceText, group: str, text: str, span: Span, first_on_line: bool) -> RawToken:
    return RawToken(group, text, span)


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    character = source.text[offset]
    rest = rest_of_line(source, offset)
    if character == "'":
        return Diagnostic(
            "INK0104",
            "the quote ' is not closed",
            Span(offset, offset + max(len(rest), 1)),
            source,
            label="it ends on the line it starts on",
        )
    if character.isdigit():
        word = re.match(r"[\w.]+", rest)
        end = offset + (word.end() if word else 1)
        return Diagnostic(
            "INK0106", f"`{source.text[offset:end]}` is neither a number nor a name", Span(offset, end), source
        )
    helps = {
        "/": ("start a comment with `--`",),
        "%": ("start a comment with `--`",),
        '"': ("write texts in single quotes: `'Joe'`",),
        "∧": ("write `and`",),
        "&": ("write `and`",),
        "∨": ("write `or`",),
        "¬": ("write `not`",),
        "!": ("write `not`, or `!=`",),
        "≠": ("write `!=`",),
        "≤": ("write `<=`",),
        "≥": ("write `>=`",),
        "⊥": ("no event is what a stream has no row for",),
    }.get(character, ())
    return Diagnostic("INK0106", f"unexpected character `{character}`", Span(offset, offset + 1), source, helps=helps)


_SCANNER = Scanner(_TOKEN, _token, lambda written: written[2:].strip(), _unreadable)
