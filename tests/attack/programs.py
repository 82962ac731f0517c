"""Mutated programs in all notations: every one compiles or ends in a message of inkling."""

import random
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.attack.findings import Finding, finding_about
from tests.attack.seed_programs import NOTATIONS, seeds_of

import inkling
from inkling.errors import InklingError, InternalError
from inkling.language import parse

ALSO = {".epsparql": ".rq"}
"""Every other program of a notation has this suffix."""

SECONDS = 20
"""A program that takes longer to compile is a finding."""

_PARTS = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|\w+|\s+|[^\w\s]")
_EXTREME = ("0", "-1", "1", "2", "999999999999999999999", "1e308", "0.5", "1e-320", "9223372036854775807", "00")
_ODD = ("\0", "\ufeff", "´", "🗼", "'", '"', "(", ")", "[", "]", "{", "}", ";", ".", "\\", "%", "--", "/*", "\r", "\t")


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
    parse(program.to_ink())


def outcome(text: str, notation: str) -> bool | Finding:
    """Whether the text compiles; or what is wrong with an end that is no message."""
    try:
        with within(SECONDS):
            compiled(text, notation)
    except InternalError as problem:
        return finding_about(problem, f"program {notation}", text)
    except InklingError:
        return False
    except Exception as problem:
        return finding_about(problem, f"program {notation}", text)
    return True


def mutated(text: str, others: list[str] | tuple[str, ...], draw: random.Random) -> str:
    """The text after one to four changes of its words, characters or halves."""
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 4))):
        text = _changed(text, others, draw)
    return text


def _changed(text: str, others: list[str] | tuple[str, ...], draw: random.Random) -> str:
    parts = _PARTS.findall(text) or [""]
    at, other = draw.randrange(len(parts)), draw.randrange(len(parts))
    if draw.random() < 0.6:
        return _like_for_like(parts, _PARTS.findall(draw.choice(others)), draw)
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


def _like_for_like(parts: list[str], foreign: list[str], draw: random.Random) -> str:
    """The text after one word, number or sign is replaced by another: so it often still compiles."""
    at = draw.choice([place for place, part in enumerate(parts) if not part.isspace()] or [0])
    kind = _kind(parts[at])
    like = [one for one in (foreign if draw.random() < 0.3 else parts) if _kind(one) == kind] or [parts[at]]
    parts[at] = draw.choice(_EXTREME) if kind == "number" and draw.random() < 0.5 else draw.choice(like)
    return "".join(parts)


def _kind(part: str) -> str:
    if part[:1] in ("'", '"') and len(part) > 1:
        return "text"
    if part.isdigit():
        return "number"
    if part.isidentifier():
        return "keyword" if part.isupper() else "name"
    return "space" if part.isspace() else "sign"


def program(seed: int, number: int, seeds: dict[str, tuple[str, ...]]) -> tuple[str, str]:
    """The notation, as a suffix, and the text of one mutant."""
    draw, notation = random.Random(seed * 10**9 + number), NOTATIONS[number % len(NOTATIONS)]
    shorter = min(draw.choice(seeds[notation]), draw.choice(seeds[notation]), key=len)  # twice as many in the same time
    text = mutated(shorter, seeds[notation], draw)
    return ALSO.get(notation, notation) if number // len(NOTATIONS) % 2 else notation, text


def attack(
    seed: int, numbers: range, *, everywhere: bool, begin: Callable[[int], object] = int
) -> tuple[Counter[str], list[Finding]]:
    """Compile mutants; returns how many were tried and compiled by notation, and the findings."""
    seeds, counts, found = seeds_of(everywhere=everywhere), Counter[str](), list[Finding]()
    for number in numbers:
        begin(number)
        notation, text = program(seed, number, seeds)
        counts[f"programs {notation}"] += 1
        match outcome(text, notation):
            case Finding() as finding:
                found.append(finding)
            case True:
                counts[f"programs {notation} that compiled"] += 1
    return counts, found
