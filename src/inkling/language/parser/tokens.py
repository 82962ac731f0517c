"""Decides for each token which terminal of the grammar it is, by what the grammar allows at that place.

The scanner cuts the text; which words are keywords is not known yet then.
"""

import re
from collections.abc import Sequence
from functools import cache

from inkling.errors import Diagnostic
from inkling.language.kit.lalr import PUNCTUATION, LalrAutomaton, Reading, terminals
from inkling.language.kit.lalr import read as read_by
from inkling.language.kit.scanning import RawToken, Scanner, rest_of_line, unclosed_quote
from inkling.language.names import WORD
from inkling.language.syntax import RELATIONS
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
        return unclosed_quote(source, offset, "string" if character == "'" else "name")
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


AUTOMATON = LalrAutomaton("inkling.language")

# far more than the nesting a program may have, and few enough to keep every stack
DEEPEST_STACK = 1000

SYMBOLS = {
    **PUNCTUATION,
    "|": "VBAR",
    "=": "EQUAL",
    "±": "PLUS_MINUS",
    "%": "PERCENT",
    "?": "QUESTION",
    **dict.fromkeys(("<", "<=", ">", ">=", "<>", "!="), "COMPARISON"),
}
_NUMBERS = ("INTEGER", "DECIMAL")
_NOT_WORDS = terminals(
    "NAME INTEGER DECIMAL STRING RELATION COMPARISON ANYTHING EQUAL PLUS MINUS STAR SLASH PERCENT "
    "QUESTION COMMA LPAR RPAR LSQB RSQB LBRACE RBRACE VBAR DOT"
)


@cache
def keywords() -> frozenset[str]:
    """Every word the grammar spells out, in capitals."""
    terminals = {terminal for row in AUTOMATON.table.states.values() for terminal in row}
    return frozenset(word for word in terminals if word.isupper() and word.isalpha()) - _NOT_WORDS


def read(raw: Sequence[RawToken]) -> Reading:
    """Reads as many tokens of one statement as the grammar of `.ink` allows."""
    return read_by(AUTOMATON, raw, readings, DEEPEST_STACK)


def readings(raw: Sequence[RawToken], idx: int) -> tuple[str, ...]:
    """The terminals a token can stand for, the preferred one first."""
    token = raw[idx]
    match token.kind:
        case "WORD":
            return _word_readings(raw, idx)
        case "QUOTED":
            return ("NAME",)
        case "INTEGER" | "DECIMAL" | "STRING":
            return (token.kind,)
        case "SYMBOL" if token.text == "{" and idx + 1 < len(raw) and raw[idx + 1].kind == "WORD":
            return ("RELATIONS_OPEN",)
        case "SYMBOL" if token.text in SYMBOLS:
            return (SYMBOLS[token.text],)
        case _:
            return ()


def _word_readings(raw: Sequence[RawToken], idx: int) -> tuple[str, ...]:
    word = raw[idx].upper
    if word == "_":
        return ("ANYTHING",)
    if word in RELATIONS:
        return ("RELATION", "NAME")
    if word == "AT" and idx + 1 < len(raw) and raw[idx + 1].upper == "MOST":
        return ("NAME", "AT")  # an option of a stream, where no name can stand
    if word == "AT" and not _is_time_point(raw[idx + 1 : idx + 5]):
        return ("NAME",)
    if word == "ON" and idx + 1 < len(raw) and raw[idx + 1].upper == "SAME":
        return ("_ON_SAME", "NAME")
    if word in keywords():
        return (word, "NAME")
    return ("NAME",)


def _is_time_point(following: Sequence[RawToken]) -> bool:
    """Whether `AT` is the keyword, and not a stream of that name."""
    match [token.upper or token.text for token in following]:
        case ["START", "," | ")", *_] | ["START"]:
            return True
        case ["LEAST", _, *rest]:
            return following[1].kind in _NUMBERS or (rest[:1] in (["FROM"], ["TO"]) and following[-1].kind in _NUMBERS)
        case [_, *_]:
            return following[0].kind in (*_NUMBERS, "STRING")
        case _:
            return False


def starts_statement(raw: Sequence[RawToken], idx: int) -> bool:
    """Whether a token, by itself and the next two, can only be the start of a statement."""
    if idx + 2 >= len(raw) or raw[idx + 1].kind not in ("WORD", "QUOTED"):
        return False
    if raw[idx + 1].upper in ("CHECK", "IN", "OVER"):
        return False
    third = raw[idx + 2].upper or raw[idx + 2].text
    match raw[idx].upper:
        case "STREAM" | "TABLE" | "RULE":
            return third == "("
        case "EVENT":
            return third in ("(", "AS", "PATTERN")
        case "FORECAST":
            return third in ("WITHIN", "AROUND", "POINT", "INTERVAL")
        case _:
            return False
