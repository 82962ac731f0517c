"""The tokens of a rule file: how the text is cut, and which terminals of the grammar a token can be."""

import re
from collections.abc import Iterator, Sequence

from inkling.errors import Diagnostic
from inkling.language.kit.lalr import PUNCTUATION, terminals
from inkling.language.kit.scanning import RawToken, Scanner, unclosed_quote, unexpected_character
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
    | (?P<NAF>      \\\+ )
    | (?P<FOREIGN>  <= | <> | != | && | \|\| | => | := )
    | (?P<SYMBOL>   -> | \*\* | /(?!\*) | [(){}\[\],:;!.+*-] )
    """,
    re.VERBOSE | re.DOTALL,
)


_INSTEAD = {"#": "start a comment with `%`", "|": "lists have a fixed length: write their items, `[X, Y]`"}


def _comment_text(written: str) -> str:
    if written.startswith("%"):
        return written.lstrip("%").strip()
    lines = written[2:-2].strip().splitlines()
    return "\n".join(line.strip().removeprefix("*").strip() for line in lines)


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    if source.text.startswith("/*", offset):
        return Diagnostic(
            "INK0104",
            "the comment /* is not closed",
            Span(offset, len(source.text)),
            source,
            helps=("close it with */",),
        )
    if source.text[offset] in "'\"":
        return unclosed_quote(source, offset, "name" if source.text[offset] == "'" else "string")
    return unexpected_character(source, offset, _INSTEAD)


SCANNER = Scanner(_TOKEN, _unreadable, _comment_text)

OPERATORS = terminals("SEQ AND PAR OR FNOT CNOT NOT WHERE CHECK TIMESTAMP EVENT_MULTIPLY DO NTIMES STAR_TIMES IS MOD")
SYMBOLS = {**PUNCTUATION, ":": "COLON", "**": "POWER", "->": "THEN", ";": "ELSE", "!": "CUT"}
ABBREVIATED = {"MEET": "MEETS", "START": "STARTS", "FINISH": "FINISHES", "EQUAL": "EQUALS"}


def readings(raw: Sequence[RawToken], idx: int) -> Iterator[str]:
    """The terminals to be tried, the likeliest first; a word that names an operator is a name elsewhere."""
    token = raw[idx]
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
            if token.value == "rule:":
                yield "COLON"
            elif token.value.upper() in OPERATORS and token.value == token.value.lower():
                yield token.value.upper()
            yield "NAME"
        case "NAF":
            yield "NOT"
        case "SYMBOL" if token.text == ":" and not _ends_label(raw, idx):
            yield "PREFIX"
        case "SYMBOL" if token.text == "[" and _opens_properties(raw, idx):
            yield "PROPERTIES"
        case "SYMBOL":
            if token.text in SYMBOLS:
                yield SYMBOLS[token.text]
        case "FOREIGN" | "STOP":
            pass
        case kind:
            yield kind


def _ends_label(raw: Sequence[RawToken], idx: int) -> bool:
    """Whether a colon follows the label of a rule, or a column of a directive; others follow a prefix."""
    if raw[0].kind == "IF" or raw[idx - 1].is_symbol(")"):
        return True
    return idx == 1 and any(token.kind == "ARROW" for token in raw)


def _opens_properties(raw: Sequence[RawToken], idx: int) -> bool:
    """Whether a bracket opens the properties of a label; others open a list."""
    if idx != 2 or not raw[1].is_symbol("("):
        return False
    closing = next((place for place in range(idx, len(raw)) if raw[place].is_symbol("]")), len(raw))
    after = raw[closing + 1 : closing + 3]
    return len(after) == 2 and after[0].is_symbol(")") and after[1].value in (":", "rule:")


def relation(word: str) -> str:
    """The operator that a word between two patterns stands for."""
    upper = word.upper()
    return ABBREVIATED.get(upper, upper)
