"""Cuts program text into raw tokens, before anyone knows which words are keywords."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from inkling.errors import Diagnostic
from inkling.language.names import WORD
from inkling.language.scanning import Scan, Scanner, rest_of_line, without_quotes
from inkling.source import SourceText, Span

TokenKind: TypeAlias = Literal["WORD", "QUOTED", "INTEGER", "DECIMAL", "STRING", "SYMBOL", "FOREIGN"]

_TOKEN = re.compile(
    rf"""
      (?P<SPACE>    [\s\ufeff]+ )
    | (?P<COMMENT>  --[^\n]* )
    | (?P<WORD>     {WORD} )
    | (?P<DECIMAL>  [0-9]+ (?: \.[0-9]+ (?:[eE][+-]?[0-9]+)? | [eE][+-]?[0-9]+ ) )
    | (?P<INTEGER>  [0-9]+ )
    | (?P<STRING>   ' (?: [^'\r\n] | '' )* ' )
    | (?P<QUOTED>   " (?: [^"\r\n] | "" )+ " | ` (?: [^`\r\n] | `` )+ ` )
    | (?P<FOREIGN>  == | && | \|\| | := | -> | => )
    | (?P<SYMBOL>   <= | >= | <> | != | [(){{}}\[\],;.|=<>+*/%?±-] )
    """,
    re.VERBOSE,
)
_CURLY_QUOTES = dict.fromkeys("‘’‚‛", "'") | dict.fromkeys("“”„‟", "'")


@dataclass(frozen=True, slots=True)
class RawToken:
    """A word, number, text or symbol; `value` is without quotes and with doubled quotes undone."""

    kind: TokenKind
    text: str
    span: Span
    first_on_line: bool

    @property
    def value(self) -> str:
        if self.kind not in ("STRING", "QUOTED"):
            return self.text
        return without_quotes(self.text)

    @property
    def upper(self) -> str:
        """The word in capitals, or nothing for what cannot be a keyword."""
        return self.text.upper() if self.kind == "WORD" and self.text.isascii() else ""

    def is_symbol(self, symbols: str) -> bool:
        return self.kind == "SYMBOL" and self.text in symbols


def scan(source: SourceText) -> Scan[RawToken]:
    """All tokens and comments; what cannot be read is reported and skipped."""
    return _SCANNER.scan(source)


def _token(source: SourceText, group: str, text: str, span: Span, first_on_line: bool) -> RawToken | Diagnostic:
    if group == "WORD" and not text.isidentifier():
        return _odd_word(source, text, span)
    return RawToken(_kind(group), text, span, first_on_line)


def _kind(group: str) -> TokenKind:
    match group:
        case "WORD" | "QUOTED" | "INTEGER" | "DECIMAL" | "STRING" | "SYMBOL" | "FOREIGN":
            return group
        case _:
            raise AssertionError(f"the scanner has no token kind {group}")


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    character = source.text[offset]
    rest = rest_of_line(source, offset)
    if character in "'\"`":
        if rest[1:2] == character:
            return Diagnostic(
                "INK0104",
                "a name in quotes has at least one character",
                Span(offset, offset + 2),
                source,
                helps=("write '' for an empty text",) if character == '"' else (),
            )
        what = "text" if character == "'" else "name"
        return Diagnostic(
            "INK0104",
            f"the quote {character} is not closed",
            Span(offset, offset + len(rest)),
            source,
            label=f"a {what} ends on the line it starts on",
            helps=(f"close it with {character}; inside, write {character * 2} for one quote",),
        )
    here = Span(offset, offset + 1)
    if character in _CURLY_QUOTES:
        return Diagnostic(
            "INK0106",
            f"curly quote `{character}` where a straight quote belongs",
            here,
            source,
            helps=("write texts between straight single quotes, for example 'parked'",),
        )
    if character == "#" or rest.startswith("//"):
        return Diagnostic(
            "INK0106",
            f"unexpected character `{character}`",
            Span(offset, offset + len(rest)),
            source,
            helps=("start a comment with `--`",),
        )
    return Diagnostic(
        "INK0106",
        f"unexpected character {_character_name(character)}",
        here,
        source,
        helps=_instead_of(rest),
    )


def _instead_of(rest: str) -> tuple[str, ...]:
    match rest[0]:
        case "!":
            return ("write `NOT` to negate a condition or a pattern, `<>` for unequal",)
        case "&":
            return ("write `AND`",)
        case "^":
            return ("write a product or a function for powers",)
        case _ if rest[1:2].isalpha():
            return ("write a name with such a character between double quotes",)
        case _:
            return ()


def _character_name(character: str) -> str:
    return f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"


def _odd_word(source: SourceText, word: str, span: Span) -> Diagnostic:
    good = next(n for n in range(len(word), -1, -1) if n == 0 or word[:n].isidentifier())
    odd = span.start + good
    return Diagnostic(
        "INK0106",
        f"unexpected character {_character_name(word[good])} in the name `{word}`",
        Span(odd, odd + 1),
        source,
        helps=(f'write "{word}" between double quotes to keep it in the name',),
    )


_SCANNER = Scanner(_TOKEN, _token, lambda written: written[2:].strip(), _unreadable)
