"""Cuts the text of a rule file into raw tokens and comments, and says which terminals a token can be."""

import re
from collections.abc import Iterator

from inkling.errors import Diagnostic
from inkling.language.machine import terminals
from inkling.language.scanning import RawToken, Scanner, rest_of_line
from inkling.language.syntax import RELATIONS
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


SCANNER = Scanner(_TOKEN, _unreadable, _comment_text)

OPERATORS = terminals("SEQ AND PAR OR FNOT NOT WHERE CHECK TIMESTAMP EVENT_MULTIPLY DO NTIMES STAR_TIMES IS MOD")
SYMBOLS = {
    "(": "LPAR",
    ")": "RPAR",
    "[": "LSQB",
    "]": "RSQB",
    "{": "LBRACE",
    "}": "RBRACE",
    ",": "COMMA",
    ":": "COLON",
    ".": "DOT",
    "+": "PLUS",
    "-": "MINUS",
    "*": "STAR",
    "/": "SLASH",
    "**": "POWER",
}
ABBREVIATED = {"MEET": "MEETS", "START": "STARTS", "FINISH": "FINISHES", "EQUAL": "EQUALS"}


def readings(token: RawToken) -> Iterator[str]:
    """The terminals to be tried, the likeliest first; a word that names an operator is a name elsewhere."""
    match token.kind:
        case "NAME" | "VARIABLE":
            word = token.text.upper()
            if token.text in (word, word.lower()):
                if word in OPERATORS:
                    yield word
                if word in RELATIONS or word in ABBREVIATED:
                    yield "RELATION"
            yield token.kind
        case "QUOTED":
            yield "NAME"
        case "SYMBOL":
            if token.text in SYMBOLS:
                yield SYMBOLS[token.text]
        case "FOREIGN" | "STOP":
            pass
        case kind:
            yield kind


def relation(word: str) -> str:
    """The operator that a word between two patterns stands for."""
    upper = word.upper()
    return ABBREVIATED.get(upper, upper)
