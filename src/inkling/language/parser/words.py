"""Decides for each raw token, from what may stand there, which terminal of the grammar it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from inkling.language.machine import END, Machine, States, terminals
from inkling.language.scanning import RawToken
from inkling.language.syntax import RELATIONS

MACHINE = Machine("inkling.language")

# far more than the nesting a program may have, and few enough to keep every stack
DEEPEST_STACK = 1000

SYMBOLS = {
    "(": "LPAR",
    ")": "RPAR",
    "[": "LSQB",
    "]": "RSQB",
    "{": "LBRACE",
    "}": "RBRACE",
    ",": "COMMA",
    ".": "DOT",
    "|": "VBAR",
    "=": "EQUAL",
    "+": "PLUS",
    "±": "PLUS_MINUS",
    "-": "MINUS",
    "*": "STAR",
    "/": "SLASH",
    "%": "PERCENT",
    "?": "QUESTION",
    "<": "COMPARISON",
    "<=": "COMPARISON",
    ">": "COMPARISON",
    ">=": "COMPARISON",
    "<>": "COMPARISON",
    "!=": "COMPARISON",
}
_NUMBERS = ("INTEGER", "DECIMAL")
_NOT_WORDS = terminals(
    "NAME INTEGER DECIMAL STRING RELATION COMPARISON ANYTHING EQUAL PLUS MINUS STAR SLASH PERCENT "
    "QUESTION COMMA LPAR RPAR LSQB RSQB LBRACE RBRACE VBAR DOT"
)


@cache
def keywords() -> frozenset[str]:
    """Every word the grammar spells out, in capitals."""
    terminals = {terminal for row in MACHINE.automaton.states.values() for terminal in row}
    return frozenset(word for word in terminals if word.isupper() and word.isalpha()) - _NOT_WORDS


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a statement could be read: its terminals, and the states before each of them."""

    raw: tuple[RawToken, ...]
    terminals: tuple[str, ...]
    states: tuple[States, ...]
    complete: bool
    too_deep: bool = False

    @property
    def stopped_at(self) -> int:
        """The position of the token that could not come next."""
        return len(self.terminals)


def read(raw: Sequence[RawToken]) -> Reading:
    """Reads as many tokens of one statement as the grammar allows."""
    found: list[str] = []
    history = [MACHINE.initial()]
    for idx in range(len(raw)):
        before = history[-1]
        for terminal in readings(raw, idx):
            after = before.after(terminal)
            if after is not None:
                found.append(terminal)
                history.append(after)
                break
        else:
            return Reading(tuple(raw), tuple(found), tuple(history), complete=False)
        if len(history[-1].stack) > DEEPEST_STACK:
            return Reading(tuple(raw), tuple(found), tuple(history), complete=False, too_deep=True)
    complete = history[-1].after(END) is not None
    return Reading(tuple(raw), tuple(found), tuple(history), complete)


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
    if raw[idx + 1].upper in ("CHECK", "OVER"):
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
