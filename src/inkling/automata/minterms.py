"""Ways in which guards can be true together, given what is known of the predicates they ask for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from inkling.automata.limits import TooManySymbols
from inkling.automata.symbols import members


@dataclass(frozen=True, slots=True)
class Joint:
    """Predicates that depend on each other: the sets of them that can hold on one event, and no others.

    Predicates and sets of them are integers, one bit per predicate.
    """

    mask: int
    sets: frozenset[int]

    def __post_init__(self) -> None:
        if not self.sets or any(one & ~self.mask for one in self.sets):
            raise ValueError(f"sets of the predicates {self.mask:#x} are needed, got {sorted(self.sets)}")

    def among(self, bits: int) -> frozenset[int]:
        """What can hold of those predicates that are looked at."""
        return frozenset(one & bits for one in self.sets)


def allowed(bits: int, exclusive: Iterable[int]) -> bool:
    """Whether at most one predicate of each exclusive set holds."""
    return all((bits & mask).bit_count() <= 1 for mask in exclusive)


def minterms(masks: Mapping[int, int], exclusive: Sequence[int], joint: Sequence[Joint], limit: int) -> list[int]:
    """The sets of guards that can be true together, those that ask for little first.

    ``masks`` has the predicates that each guard asks for. Parts of the predicates that have nothing to do with each
    other are looked at one after the other, and each spoils some guards.
    """
    read = 0
    for mask in masks.values():
        read |= mask
    found = {sum(1 << guard for guard in masks)}
    # parts that restrict most come first, so that few sets are carried through the others
    for part in sorted(_parts(read, exclusive, joint), key=lambda part: (-part.bit_count(), part)):
        kept = {
            sum(1 << guard for guard, mask in masks.items() if not mask & part & ~held)
            for held in _held(part, exclusive, joint, limit)
        }
        found = {before & one for before in found for one in kept}
        if len(found) > limit:
            raise TooManySymbols(len(found), limit)
    return sorted(found, key=lambda truth: _asked(truth, masks))


def _asked(truth: int, masks: Mapping[int, int]) -> int:
    bits = 0
    for guard in members(truth):
        bits |= masks[guard]
    return bits


def _parts(read: int, exclusive: Sequence[int], joint: Sequence[Joint]) -> list[int]:
    """The predicates that are read, divided into parts that nothing known connects."""
    parts = [1 << bit for bit in members(read)]
    for mask in (*exclusive, *(one.mask for one in joint)):
        touched = [part for part in parts if part & mask]
        parts = [part for part in parts if not part & mask]
        if touched:
            parts.append(sum(touched))
    return parts


def _held(part: int, exclusive: Sequence[int], joint: Sequence[Joint], limit: int) -> set[int]:
    """The sets of predicates of a part that can hold."""
    held, rest = {0}, part
    for one in joint:
        if one.mask & part:
            rest &= ~one.mask
            wider = {before | more for before in held for more in one.among(part)}
            held = {bits for bits in wider if allowed(bits, exclusive)}
    for bit in members(rest):
        held |= {bits for bits in (before | 1 << bit for before in held) if allowed(bits, exclusive)}
        if len(held) > limit:
            raise TooManySymbols(len(held), limit)
    return held
