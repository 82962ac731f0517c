"""Cuts program text into raw tokens, before anyone knows which words are keywords."""

import re

from inkling.errors import Diagnostic
from inkling.language.names import WORD
from inkling.language.scanning import RawToken, Scanner, rest_of_line
from inkling.source import SourceText, Span

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
    | (?P<SYMBOL>   <= | >= | <> | != | /(?![/*]) | [(){{}}\[\],;.|=<>+*%?±-] )
    """,
    re.VERBOSE,
)
_CURLY_QUOTES = dict.fromkeys("‘’‚‛", "'") | dict.fromkeys("“”„‟", "'")


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    character = source.text[offset]
    rest = rest_of_line(source, offset)
    if character in "'\"`":
        if rest[1:2] == character:
            return Diagnostic(
                "INK0104",
                "a quoted name cannot be empty",
                Span(offset, offset + 2),
                source,
                helps=("write '' for an empty string",) if character == '"' else (),
            )
        what = "string" if character == "'" else "name"
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
            f"curly quote `{character}`, expected a straight quote",
            here,
            source,
            helps=("write strings between straight single quotes, for example 'parked'",),
        )
    if character == "#" or rest.startswith(("//", "/*")):
        return _foreign_comment(source, offset, rest)
    return Diagnostic(
        "INK0106", f"unexpected character {_character_name(character)}", here, source, helps=_instead_of(rest)
    )


def _foreign_comment(source: SourceText, offset: int, rest: str) -> Diagnostic:
    marker = rest[:1] if rest[0] == "#" else rest[:2]
    end = offset + len(rest)
    if marker == "/*":
        closing = source.text.find("*/", offset)
        end = len(source.text) if closing < 0 else closing + 2
    lines = [line.strip(" \t\r*") for line in source.text[offset + len(marker) : end].removesuffix("*/").split("\n")]
    written = [f"`-- {line}`" for line in lines if line][:1] or ["`--`"]
    return Diagnostic(
        "INK0106",
        f"`{marker}` does not start a comment",
        Span(offset, end),
        source,
        notes=("a comment starts with `--` and ends with the line",),
        helps=(f"write {written[0]}" + (", and `--` before each further line" if len(lines) > 1 else ""),),
    )


def _instead_of(rest: str) -> tuple[str, ...]:
    match rest[0]:
        case "!":
            return ("write `NOT` to negate a condition or a pattern, `<>` for not equal",)
        case "&":
            return ("write `AND`",)
        case ":":
            return ("write `name TYPE` for a column, without a colon",)
        case "$":
            return ("write the value itself; programs have no parameters",)
        case "^":
            return ("write `pow(x, y)`",)
        case _ if rest[1:2].isalpha():
            return ("put a name with this character in double quotes",)
        case _:
            return ()


def _character_name(character: str) -> str:
    return f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"


def _odd_word(source: SourceText, token: RawToken) -> Diagnostic | None:
    word = token.text
    if token.kind != "WORD" or word.isidentifier():
        return None
    good = next(n for n in range(len(word), -1, -1) if n == 0 or word[:n].isidentifier())
    odd = token.span.start + good
    return Diagnostic(
        "INK0106",
        f"unexpected character {_character_name(word[good])} in the name `{word}`",
        Span(odd, odd + 1),
        source,
        helps=(f'write "{word}" between double quotes to keep it in the name',),
    )


SCANNER = Scanner(_TOKEN, _unreadable, rejected=_odd_word)
