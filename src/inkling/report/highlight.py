"""Program text as lines of colored words; it colors what it knows and refuses nothing."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from inkling.language.parser.words import keywords
from inkling.language.syntax import RELATIONS, TIME_UNITS
from inkling.model.types import TYPE_NAMES

WordKind: TypeAlias = Literal["keyword", "type", "event", "string", "number", "comment", "plain"]

TOKEN = re.compile(
    r"""
      (?P<comment>--.*)
    | (?P<string>'(?:[^']|'')*'?)
    | (?P<number>(?<![\w.])\d+(?:\.\d+)?(?!\w))
    | (?P<word>[^\W\d]\w*)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Word:
    """A stretch of one line that has one color."""

    kind: WordKind
    text: str


def highlight(program_text: str, event_names: Collection[str] = ()) -> list[list[Word]]:
    """The lines of a program, each as words whose texts join to the line.

    Examples
    --------
    >>> [(word.kind, word.text) for word in highlight("EVENT stop AS", {"stop"})[0]]
    [('keyword', 'EVENT'), ('plain', ' '), ('event', 'stop'), ('plain', ' '), ('keyword', 'AS')]
    """
    lines = program_text.rstrip().replace("\r\n", "\n").split("\n")
    # who writes EVENT in capitals writes columns named `id` or `end` in small letters
    keywords_in_capitals = re.search(r"\b(STREAM|EVENT)\b", program_text) is not None
    return [_words(line, event_names, keywords_in_capitals) for line in lines]


def _words(line: str, event_names: Collection[str], keywords_in_capitals: bool) -> list[Word]:
    words: list[Word] = []
    position = 0
    for token in TOKEN.finditer(line):
        if token.start() > position:
            words.append(Word("plain", line[position : token.start()]))
        words.append(Word(_kind(token, event_names, keywords_in_capitals), token.group()))
        position = token.end()
    if position < len(line):
        words.append(Word("plain", line[position:]))
    return words


def _kind(token: re.Match[str], event_names: Collection[str], keywords_in_capitals: bool) -> WordKind:
    match token.lastgroup:
        case "comment":
            return "comment"
        case "string":
            return "string"
        case "number":
            return "number"
        case _:
            word = token.group()
            if word in event_names:
                return "event"
            is_column = token.string[: token.start()].endswith(".")
            if is_column or (keywords_in_capitals and not word.isupper()):
                return "plain"
            if word.upper() in _reserved_words():
                return "keyword"
            return "type" if word.upper() in TYPE_NAMES else "plain"


@cache
def _reserved_words() -> frozenset[str]:
    units = {"POINTS", "EVENTS", *TIME_UNITS}
    return keywords().union(RELATIONS, units, (unit.removesuffix("S") for unit in units))
