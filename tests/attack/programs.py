"""Mutated programs in all notations: every one compiles or ends in a message of inkling."""

import ast
import random
import re
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import inkling
from inkling.errors import InklingError, InternalError

HERE = Path(__file__).parents[2]
NOTATIONS = (".ink", ".ele", ".sre", ".lahar", ".sase", ".epsparql")
FOLDERS = ("tests/golden", "tests/errors", "examples", "docs", "benchmarks")
PRINTED = ("tests/oracles/printed",)
TESTS = ("tests/oracles", "tests/unit", "tests/golden", "tests/properties", "tests/conformance", "tests/spark")
SECONDS = 20
"""A program that takes longer to compile is a finding."""

_PARTS = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|\w+|\s+|[^\w\s]")
_EXTREME = ("0", "-1", "1", "2", "999999999999999999999", "1e308", "0.5", "1e-320", "9223372036854775807", "00")
_ODD = ("\0", "\ufeff", "´", "🗼", "'", '"', "(", ")", "[", "]", "{", "}", ";", ".", "\\", "%", "--", "/*", "\r", "\t")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that ended otherwise than it must."""

    what: str
    kind: str  # the exception, or what was wrong
    place: str
    example: str


class TooSlowError(Exception):
    """A program took too long to compile."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def compiled(text: str, notation: str) -> None:
    """All that happens before data is read."""
    program = inkling.parse(text, name=f"attack{notation}")
    program.explain()
    inkling.parse(program.to_ink())


def finding_of(text: str, notation: str) -> Finding | None:
    """What is wrong with the end of a compilation; None if it compiles or ends in a message."""
    try:
        with within(SECONDS):
            compiled(text, notation)
    except InternalError as problem:
        return _finding(problem, text, notation)
    except InklingError:
        return None
    except Exception as problem:
        return _finding(problem, text, notation)
    return None


def _finding(problem: Exception, text: str, notation: str) -> Finding:
    frames = traceback.extract_tb(problem.__traceback__)
    own = [one for one in frames if "/src/inkling/" in one.filename] or list(frames)
    place = f"{own[-1].filename.rpartition('/src/')[2]}:{own[-1].lineno}"
    return Finding(f"program {notation}", type(problem).__name__, place, text)


def compiles(text: str, notation: str) -> bool:
    try:
        with within(SECONDS):
            inkling.parse(text, name=f"seed{notation}").explain()
    except Exception:
        return False
    return True


@cache
def some_seeds(notation: str) -> tuple[str, ...]:
    """The programs in files, and those printed in papers; some of them have errors."""
    paths = sorted(path for folder in FOLDERS for path in (HERE / folder).rglob(f"*{notation}"))
    texts = dict.fromkeys(path.read_text(encoding="utf-8", errors="replace") for path in paths)
    texts.update(dict.fromkeys(text for text in _texts_in(PRINTED) if _looks_like(text, notation)))
    return tuple(texts)


@cache
def all_seeds(notation: str) -> tuple[str, ...]:
    """The programs in files, and those among the texts in tests, that compile; with fewer than 100, mutants of them."""
    texts = dict.fromkeys(text for text in some_seeds(notation) if compiles(text, notation))
    for text in _texts_in(TESTS):
        if _looks_like(text, notation) and compiles(text, notation):
            texts.setdefault(text)
    draw, found = random.Random(1), list(texts)
    for _ in range(20_000):
        if len(found) >= 100 or not found:
            break
        text = mutated(draw.choice(found), found, draw)
        if text not in texts and compiles(text, notation):
            texts.setdefault(text)
            found.append(text)
    return tuple(found)


@cache
def _texts_in(folders: tuple[str, ...]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for folder in folders:
        for path in sorted((HERE / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and 12 <= len(node.value) <= 3000:
                    found.setdefault(node.value)
    return tuple(found)


_SIGNS = {".ink": "EVENT", ".ele": "<-", ".sre": "(", ".lahar": "at", ".sase": "PATTERN", ".epsparql": "SELECT"}


def _looks_like(text: str, notation: str) -> bool:
    return _SIGNS[notation] in text


def mutated(text: str, others: list[str] | tuple[str, ...], draw: random.Random) -> str:
    """The text after one to four changes of its words, characters or halves."""
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 4))):
        text = _changed(text, others, draw)
    return text


def _changed(text: str, others: list[str] | tuple[str, ...], draw: random.Random) -> str:
    parts = _PARTS.findall(text) or [""]
    at, other = draw.randrange(len(parts)), draw.randrange(len(parts))
    match draw.randrange(14):
        case 0 | 1:
            del parts[at]
        case 2:
            parts.insert(at, parts[other])
        case 3:
            parts[at], parts[other] = parts[other], parts[at]
        case 4 | 5:
            parts[at] = parts[other]
        case 6:
            foreign = _PARTS.findall(draw.choice(others)) or [""]
            parts[at] = draw.choice(foreign)
        case 7:
            numbers = [place for place, part in enumerate(parts) if part.isdigit()]
            parts[draw.choice(numbers) if numbers else at] = draw.choice(_EXTREME)
        case 8:
            parts.insert(at, draw.choice(_ODD))
        case 9:
            return text[: draw.randrange(len(text) + 1)]
        case 10:
            begin = draw.randrange(len(text) + 1)
            return text[:begin] + text[begin + draw.randint(1, 12) :]
        case 11:
            foreign_text = draw.choice(others)
            return text[: draw.randrange(len(text) + 1)] + foreign_text[draw.randrange(len(foreign_text) + 1) :]
        case 12:
            first, last = sorted((at, other))
            parts[first:first] = parts[first:last] * draw.randint(1, 3)
        case _:
            words = [one for one in dict.fromkeys(parts) if one.isidentifier()]
            if len(words) > 1:
                old, new = draw.sample(words, 2)
                parts = [new if part == old else part for part in parts]
    return "".join(parts)[:6000]


def attack(seed: int, n: int, *, everywhere: bool) -> tuple[dict[str, int], list[Finding]]:
    """Compile `n` mutants; returns their number by notation, and the first finding of each place."""
    seeds = {one: found for one in NOTATIONS if (found := (all_seeds if everywhere else some_seeds)(one))}
    draw, counts, found = random.Random(seed), dict.fromkeys(seeds, 0), dict[tuple[str, str], Finding]()
    for number in range(n):
        notation = list(seeds)[number % len(seeds)]
        text = mutated(draw.choice(seeds[notation]), seeds[notation], draw)
        counts[notation] += 1
        finding = finding_of(text, notation)
        if finding is not None:
            found.setdefault((finding.kind, finding.place), finding)
    return counts, list(found.values())
