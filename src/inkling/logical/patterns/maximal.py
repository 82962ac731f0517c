"""MAXIMAL repetitions of a pattern, and whether further events can still extend them."""

from collections.abc import Iterator
from dataclasses import replace

from inkling.logical import plan as p
from inkling.logical.plan import can_be_empty
from inkling.logical.rewrites.everywhere import everywhere


def maximal_parts(part: p.Part) -> Iterator[p.Repetition]:
    """The MAXIMAL repetitions; binding rejects those in NOT, COMPLEMENT and EXCEPT."""
    for inner in p.parts_of(part):
        if isinstance(inner, p.Repetition) and inner.maximal:
            yield inner


def without_maximal(pattern: p.Pattern) -> p.Pattern:
    """The pattern with all matches, also those that can be extended; the same object without MAXIMAL."""
    return everywhere(
        pattern,
        lambda inner: replace(inner, maximal=False) if isinstance(inner, p.Repetition) and inner.maximal else inner,
    )


def grows(part: p.Part) -> bool:
    """Whether events after a match can extend a MAXIMAL repetition: nothing that must happen follows it."""
    match part:
        case p.Repetition(maximal=True):
            return True
        case p.Sequence(parts=parts):
            for one in reversed(parts):
                if isinstance(one, p.Absent | p.Deadline | p.StreamStart):
                    continue
                if grows(one):
                    return True
                if not can_be_empty(one):
                    return False
            return False
        case p.Deadline() | p.StreamStart():
            return False
        case _:
            return any(map(grows, p.sub_patterns(part)))
