"""Guards (conditions on one event), and the finite alphabet of minterms that they distinguish.

A minterm is a set of guards that hold on an event while all others do not; each event has exactly one, its symbol
(Ntoulias et al., section 3.1). Known exclusions and dependencies of predicates reduce the number of minterms.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import or_

from inkling.automata.limits import MAX_SYMBOLS, TooManySymbols


@dataclass(frozen=True, slots=True)
class Joint:
    """Dependent predicates, with all combinations of them that can hold on one event.

    A set of predicates is an integer, one bit per predicate.
    """

    mask: int
    sets: frozenset[int]

    def __post_init__(self) -> None:
        if not self.sets or any(one & ~self.mask for one in self.sets):
            raise ValueError(f"sets of the predicates {self.mask:#x} are needed, got {sorted(self.sets)}")

    def among(self, bits: int) -> frozenset[int]:
        """The possible combinations, restricted to some predicates."""
        return frozenset(one & bits for one in self.sets)


def allowed(bits: int, exclusive: Iterable[int]) -> bool:
    """Whether at most one predicate of each exclusive set holds."""
    return all((bits & mask).bit_count() <= 1 for mask in exclusive)


def minterms(masks: Mapping[int, int], exclusive: Sequence[int], joint: Sequence[Joint], limit: int) -> list[int]:
    """The sets of guards that can be true together, in order of the predicates that they require.

    ``masks`` has the predicates that each guard requires. Independent groups of predicates are enumerated one after the
    other; each combination of a group makes some guards false.
    """
    read = 0
    for mask in masks.values():
        read |= mask
    found = {sum(1 << guard for guard in masks)}
    # the largest groups first: they exclude most sets, so that intermediate results stay small
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
    """Independent groups of the predicates that guards require."""
    parts = [1 << bit for bit in members(read)]
    for mask in (*exclusive, *(one.mask for one in joint)):
        touched = [part for part in parts if part & mask]
        parts = [part for part in parts if not part & mask]
        if touched:
            parts.append(sum(touched))
    return parts


def _held(part: int, exclusive: Sequence[int], joint: Sequence[Joint], limit: int) -> set[int]:
    """The combinations of predicates of a group that can hold."""
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


N_BITS = 64
RESET = 0  # the symbol of a row that resets its key: it ends all runs and is no event


@dataclass(frozen=True, slots=True)
class Guard:
    """The event comes from one of ``streams`` (any when None) and all the numbered predicates hold.

    >>> Guard(frozenset({2}), frozenset({0, 3})).admits(2, 0b1011)
    True
    """

    streams: frozenset[int] | None = None
    bits: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if any(not 0 <= bit < N_BITS for bit in self.bits):
            raise ValueError(f"predicates are numbered 0 to {N_BITS - 1}, got bits={sorted(self.bits)}")
        if self.streams is not None and any(stream < 0 for stream in self.streams):
            raise ValueError(f"streams are numbered from 0, got streams={sorted(self.streams)}")

    @property
    def mask(self) -> int:
        """The required predicates as an integer."""
        return sum(1 << bit for bit in self.bits)

    def reads(self, stream: int) -> bool:
        return self.streams is None or stream in self.streams

    def admits(self, stream: int, bits: int) -> bool:
        return self.reads(stream) and bits & self.mask == self.mask


ANY_EVENT = Guard()


@dataclass(frozen=True, slots=True)
class Alphabet:
    """The minterms of some guards, one symbol each.

    Sets of symbols and sets of guards are integers, one bit per member. Symbol 0 is reserved for rows that reset a key;
    no guard contains it, not even the one that admits every event.
    """

    guards: tuple[Guard, ...]
    n_streams: int
    exclusive: tuple[int, ...]  # masks of predicates of which at most one holds
    truths: tuple[int, ...]  # [symbol]: the guards that hold
    joint: tuple[Joint, ...] = ()  # dependencies of predicates

    @classmethod
    def of(
        cls,
        guards: Iterable[Guard],
        n_streams: int,
        *,
        exclusive: Sequence[frozenset[int]] = (),
        joint: Sequence[Joint] = (),
        max_symbols: int = MAX_SYMBOLS,
    ) -> "Alphabet":
        """The alphabet of some guards; ``exclusive`` lists sets of predicates of which at most one holds.

        >>> fast, slow = Guard(bits=frozenset({0})), Guard(bits=frozenset({1}))
        >>> Alphabet.of([fast, slow], 1).n_symbols  # including RESET
        5
        >>> Alphabet.of([fast, slow], 1, exclusive=[frozenset({0, 1})]).n_symbols
        4
        >>> Alphabet.of([fast, slow], 1, joint=[Joint(0b11, frozenset({0b01, 0b10}))]).n_symbols
        3
        """
        distinct = tuple(dict.fromkeys(guards))
        masks = tuple(sum(1 << bit for bit in bits) for bits in exclusive)
        if any(one.mask & other.mask for one, other in combinations(joint, 2)):
            raise ValueError("each predicate depends on those of one group only")
        truths: dict[int, None] = {}
        for stream in range(n_streams):
            readers = {index: guard.mask for index, guard in enumerate(distinct) if guard.reads(stream)}
            truths |= dict.fromkeys(minterms(readers, masks, joint, max_symbols))
            if len(truths) > max_symbols:
                raise TooManySymbols(len(truths), max_symbols)
        return cls(distinct, n_streams, masks, (0, *truths), tuple(joint))

    @property
    def n_symbols(self) -> int:
        return len(self.truths)

    @property
    def every_event(self) -> int:
        """The set of all symbols except `RESET`."""
        return (1 << self.n_symbols) - 2

    def symbols_of(self, guard: Guard) -> int:
        """The set of symbols on which a guard of this alphabet holds."""
        if guard == ANY_EVENT:
            return self.every_event
        bit = 1 << self.guards.index(guard)
        held = "".join("1" if truth & bit else "0" for truth in reversed(self.truths))
        return int(held, 2) & self.every_event

    def symbol(self, stream: int, bits: int) -> int | None:
        """The symbol of an event; None if its predicates contradict the known exclusions and dependencies."""
        read = bits_read(self.guards, stream)
        known = all(bits & one.mask & read in one.among(read) for one in self.joint)
        if not known or not allowed(bits, self.exclusive):
            return None
        return self.truths.index(_truth(self.guards, stream, bits), 1)


def bits_read(guards: Iterable[Guard], stream: int) -> int:
    """The predicates that matter for events of a stream."""
    return reduce(or_, (guard.mask for guard in guards if guard.reads(stream)), 0)


def _truth(guards: Sequence[Guard], stream: int, bits: int) -> int:
    return sum(1 << index for index, guard in enumerate(guards) if guard.admits(stream, bits))


def members(bits: int) -> list[int]:
    """The members of a set written as an integer, smallest first."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found
