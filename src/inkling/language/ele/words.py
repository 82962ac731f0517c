"""Which terminals of the grammar a token can be; a word that names an operator is a name elsewhere."""

from collections.abc import Iterator

from inkling.language.ele.scanner import RawToken
from inkling.language.parser.machine import terminals
from inkling.language.syntax import RELATIONS

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
    """The terminals to be tried, the likeliest first."""
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
