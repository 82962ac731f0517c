"""Random forecasts, and what they must say by definition: symbols, states, laws and waiting times worked out plainly.

Nothing of the automata, of counting or of chains is used: a row's symbol is the truth of the conditions, written here a
second time; a state is a set of places in the pattern; probabilities are fractions.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from tests.reference.markov.meaning import Law, block, expected, forecast, occurrences, threshold_tree, tree_law

import inkling
from inkling import Program, parse
from inkling.forecasting.models.forecasts import Argmax, Around, Fixed, Kind, PointForecast, Shortest, Within
from inkling.forecasting.models.model import ForecastModel

Row = dict[str, object]
Symbol = tuple[bool, ...]
Test = tuple[str, Callable[[Row], bool]]

STREAM = """
STREAM V(id BIGINT, k STRING, g STRING, s STRING, x BIGINT, y BIGINT, t BIGINT) ID id KEY k TIME t ORDER BY t{reset};
"""
RESET = " RESET WHEN s = 'R'"
TESTS: tuple[Test, ...] = (
    ("s = 'a'", lambda row: row["s"] == "a"),
    ("s = 'b'", lambda row: row["s"] == "b"),
    ("s = 'c'", lambda row: row["s"] == "c"),
    ("s = 'a' AND x >= 1", lambda row: row["s"] == "a" and _number(row["x"]) >= 1),
    ("x >= 1", lambda row: _number(row["x"]) >= 1),
    ("y < 1", lambda row: _number(row["y"]) < 1),
)
EVERY_ROW: list[Row] = [{"s": s, "x": x, "y": y} for s, x, y in itertools.product(("a", "b", "c", "d"), (0, 1), (0, 1))]
SHRINKAGE = Fraction(20)
NEAR = 1e-9
Said = tuple[int, int, int, Fraction, Fraction, list[Fraction]]
"""Number, first, last, chance, expected, and all waiting times."""


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


@dataclass(frozen=True)
class Automaton:
    """The smallest one over all symbols that are possible; 0 is the beginning."""

    symbols: tuple[Symbol, ...]
    delta: list[list[int]]
    final: list[bool]

    @cached_property
    def distance(self) -> list[int]:
        away = [0 if final else -1 for final in self.final]
        for steps in range(1, len(away) + 1):
            near = [q for q, row in enumerate(self.delta) if away[q] < 0 and any(away[to] == steps - 1 for to in row)]
            for q in near:
                away[q] = steps
        return away


@dataclass(frozen=True)
class Asked:
    """One event and its forecast."""

    number: int
    policy: str  # STRICT, NEXT or ANY
    parts: tuple[Test, ...]
    features: tuple[Test, ...]
    restart: bool
    keyed: bool
    kind: Kind
    words: str
    horizon: int
    confidence: Fraction
    spread: int | None
    remaining: tuple[Fraction, Fraction] | None
    including_final: bool
    by: bool
    learner: str
    order: int
    resets: bool

    @property
    def text(self) -> str:
        parts = ", ".join(f"V[{text}]" for text, _ in self.parts)
        seq = "SEQ" if self.policy == "ANY" else f"SEQ {self.policy}"
        event = f"EVENT e{self.number} AS PATTERN {seq}({parts})"
        event += " PARTITION BY k" if self.keyed else ""
        event += (" CONSUME RESTART" if self.restart else "") + " PER END;\n"
        said = f"FORECAST f{self.number} OF e{self.number} {self.words} MODEL m{self.number}"
        if self.by:
            said += " BY g"
        if self.features:
            said += f" FEATURES ({', '.join(text for text, _ in self.features)})"
        if self.remaining is not None:
            said += f" REMAINING {float(self.remaining[0])} TO {float(self.remaining[1])}"
        return event + said + (" INCLUDING FINAL" if self.including_final else "") + ";\n"

    def symbol(self, row: Row) -> Symbol:
        return tuple(holds(row) for _, holds in (*self.parts, *self.features))

    @cached_property
    def automaton(self) -> Automaton:
        """Sets of places reached, all that follow from the beginning, and equivalent ones made one."""
        symbols = tuple(sorted({self.symbol(row) for row in EVERY_ROW}))
        start = frozenset({0})
        states, moves = [start], {}
        for state in states:
            for symbol in symbols:
                onward = self._after(state, symbol)
                moves[state, symbol] = onward
                if onward not in states:
                    states.append(onward)
        parts = {state: int(len(self.parts) in state) for state in states}
        while True:
            finer = {state: (parts[state], *(parts[moves[state, one]] for one in symbols)) for state in states}
            numbers = {key: number for number, key in enumerate(dict.fromkeys(finer[state] for state in states))}
            refined = {state: numbers[finer[state]] for state in states}
            if len(numbers) == len(set(parts.values())):
                break
            parts = refined
        first = {refined[state]: state for state in reversed(states)}
        delta = [[refined[moves[first[q], one]] for one in symbols] for q in range(len(first))]
        return Automaton(symbols, delta, [len(self.parts) in first[q] for q in range(len(first))])

    def _after(self, state: frozenset[int], symbol: Symbol) -> frozenset[int]:
        done = len(self.parts)
        if done in state and self.restart:
            state = frozenset({0})
        onward = {0}
        for place in state - {done}:
            if symbol[place]:
                onward.add(place + 1)
            if place and (self.policy == "ANY" or (self.policy == "NEXT" and not symbol[place])):
                onward.add(place)
        return frozenset(onward)


@dataclass(frozen=True)
class Reading:
    """Rows of one key as symbols, in pieces between resets; with every row its group."""

    rows: tuple[Row, ...]
    symbols: tuple[int, ...]  # -1 for a reset

    def positions(self) -> list[tuple[Row, tuple[int, ...]]]:
        """Every event with the symbols of its piece up to it."""
        found, piece = [], []
        for row, symbol in zip(self.rows, self.symbols, strict=True):
            if symbol < 0:
                piece = []
                continue
            piece.append(symbol)
            found.append((row, tuple(piece)))
        return found


def readings(asked: Asked, rows: Sequence[Row]) -> list[Reading]:
    keys = dict.fromkeys(row["k"] if asked.keyed else None for row in rows)
    symbols = asked.automaton.symbols
    found = []
    for key in keys:
        mine = tuple(row for row in rows if not asked.keyed or row["k"] == key)
        spelled = (-1 if asked.resets and row["s"] == "R" else symbols.index(asked.symbol(row)) for row in mine)
        found.append(Reading(mine, tuple(spelled)))
    return found


@dataclass(frozen=True)
class Definition:
    """A forecast learned from some rows."""

    asked: Asked
    learned_from: Sequence[Row]
    _waits: dict[tuple[object, ...], Fraction] = field(default_factory=dict)
    _laws: dict[tuple[object, ...], Sequence[Fraction]] = field(default_factory=dict)

    def said(self, rows: Sequence[Row]) -> dict[int, Said]:
        """By id of a row, the forecast after it."""
        found = {}
        for reading in readings(self.asked, rows):
            for row, piece in reading.positions():
                times = self._times(row, piece)
                if times is None:
                    continue
                asked = self.asked
                center = asked.automaton.distance[self._state(piece)]
                chosen = forecast(asked.kind, times, asked.confidence, spread=asked.spread, center=center)
                if chosen is not None:
                    first, last, chance = chosen
                    found[_number(row["id"])] = (len(piece), first, last, chance, expected(times, first, last), times)
        return found

    def said_of_alternatives(
        self, worlds: Sequence[tuple[Fraction, Sequence[Row]]], times: Sequence[int]
    ) -> dict[int, Said]:
        """By time, the forecast of a key that has rows at these times: the mean over its worlds of what each expects.

        A world without an event at a time expects what it expected after its last event, and before that nothing.
        """
        mixed = {time: [Fraction(0)] * self.asked.horizon for time in times}
        for weight, rows in worlds:
            (reading,) = readings(self.asked, rows) or [Reading((), ())]
            after = {row["t"]: self._times(row, piece) for row, piece in reading.positions()}
            for time in times:
                last = max((_number(one) for one in after if _number(one) <= time), default=None)
                waits = None if last is None else after[last]
                if waits is not None:
                    mixed[time] = [one + weight * wait for one, wait in zip(mixed[time], waits, strict=True)]
        found = {}
        for number, time in enumerate(times, start=1):
            chosen = forecast(self.asked.kind, mixed[time], self.asked.confidence, spread=self.asked.spread)
            if chosen is not None:
                first, last, chance = chosen
                found[time] = (number, first, last, chance, expected(mixed[time], first, last), mixed[time])
        return found

    def _times(self, row: Row, piece: tuple[int, ...]) -> list[Fraction] | None:
        asked, automaton = self.asked, self.asked.automaton
        state = self._state(piece)
        group = row["g"] if asked.by and any(one["g"] == row["g"] for one in self._learned_rows) else None
        if not self._is_ready(piece) or not any(self._law(group, state, piece)):
            return None
        if automaton.distance[state] < 0 or (automaton.final[state] and not asked.including_final):
            return None
        if asked.remaining is not None:
            share = Fraction(automaton.distance[state], max(*automaton.distance, 1))
            if not asked.remaining[0] <= share <= asked.remaining[1]:
                return None
        horizon = asked.horizon
        if isinstance(asked.kind, Around):
            horizon = max(1, max(automaton.distance) + asked.kind.events // 2)
        return [self._wait(group, state, piece, n) for n in range(1, horizon + 1)]

    def _state(self, piece: tuple[int, ...]) -> int:
        state = 0
        for symbol in piece:
            state = self.asked.automaton.delta[state][symbol]
        return state

    def _wait(self, group: object, state: int, piece: tuple[int, ...], n: int) -> Fraction:
        """P(W = n): the next symbol ends the waiting, or it continues from where that leads."""
        past = piece[max(0, len(piece) - self.asked.order) :]
        key = (group, state, past, n)
        if key not in self._waits:
            automaton, total = self.asked.automaton, Fraction(0)
            for symbol, share in enumerate(self._law(group, state, past)):
                onward = automaton.delta[state][symbol]
                if share and automaton.final[onward]:
                    total += share if n == 1 else 0
                elif share and n > 1:
                    total += share * self._wait(group, onward, (*past, symbol), n - 1)
            self._waits[key] = total
        return self._waits[key]

    def _is_ready(self, piece: tuple[int, ...]) -> bool:
        """Whether what came before the key began could not have mattered."""
        if self.asked.learner == "full":
            return len(piece) >= self.asked.order
        return not any(len(word) > len(piece) and word[len(word) - len(piece) :] == piece for word in self._contexts)

    def _law(self, group: object, state: int, piece: tuple[int, ...]) -> Sequence[Fraction]:
        past = piece[max(0, len(piece) - self.asked.order) :]
        key = (group, state, past)
        if key not in self._laws:
            everyone = self._law_of_all(state, past)
            if group is None or not any(everyone):
                return self._laws.setdefault(key, everyone)
            own = self._followers(group, state, past)
            total = sum(own) + SHRINKAGE
            self._laws[key] = [(n + SHRINKAGE * share) / total for n, share in zip(own, everyone, strict=True)]
        return self._laws[key]

    def _followers(self, group: object, state: int, past: tuple[int, ...]) -> list[int]:
        """How often each symbol came next in a group: after the same node, or in the same state and context."""
        counts = [0] * len(self.asked.automaton.symbols)
        if self.asked.learner == "full":
            for row, before, state_before, symbol in self._observed:
                here = before[max(0, len(before) - self.asked.order) :]
                counts[symbol] += row["g"] == group and (state_before, here) == (state, past)
            return counts
        node = next(past[cut:] for cut in range(len(past) + 1) if past[cut:] in self._contexts)
        for row, before, _, symbol in self._observed:
            after_node = len(before) >= len(node) and before[len(before) - len(node) :] == node
            counts[symbol] += row["g"] == group and after_node
        return counts

    @cached_property
    def _learned_rows(self) -> list[Row]:
        return [row for reading in readings(self.asked, self.learned_from) for row, _ in reading.positions()]

    @cached_property
    def _observed(self) -> list[tuple[Row, tuple[int, ...], int, int]]:
        """Every event learned from: its row, what came before it, the state before it, its symbol."""
        found = []
        for reading in readings(self.asked, self.learned_from):
            found += [(row, piece[:-1], self._state(piece[:-1]), piece[-1]) for row, piece in reading.positions()]
        return found

    @cached_property
    def _streams(self) -> list[tuple[int, ...]]:
        return [reading.symbols for reading in readings(self.asked, self.learned_from)]

    @cached_property
    def _contexts(self) -> Mapping[tuple[int, ...], object]:
        """The nodes of the tree."""
        if self.asked.learner == "tree":
            return self._tree
        counts = occurrences(self._streams, self.asked.order + 1)
        return {(): None, **{word[:-1]: None for word in counts if word}}

    @cached_property
    def _tree(self) -> Mapping[tuple[int, ...], tuple[Fraction, ...]]:
        small = Fraction(1, 1000)
        return threshold_tree(
            self._streams,
            len(self.asked.automaton.symbols),
            self.asked.order,
            context=small,
            symbol=small,
            ratio_limit=Fraction(105, 100),
            floor=small,
        )

    @cached_property
    def _law_of_all(self) -> Law:
        if self.asked.learner == "tree":
            return tree_law(self._tree)
        if self.asked.learner == "full":
            return self._full
        return self._weighted

    def _full(self, state: int, past: tuple[int, ...]) -> Sequence[Fraction]:
        counts = [0] * len(self.asked.automaton.symbols)
        for _, before, state_before, symbol in self._observed:
            here = before[max(0, len(before) - self.asked.order) :]
            counts[symbol] += (state_before, here) == (state, past)
        return [Fraction(n, max(sum(counts), 1)) for n in counts]

    def _weighted(self, _state: int, past: tuple[int, ...]) -> Sequence[Fraction]:
        """One more event after this past, beside all that was observed: how much less probable it makes everything."""
        observed = [(before, symbol) for _, before, _, symbol in self._observed]
        n_symbols = len(self.asked.automaton.symbols)
        without = mixture(observed, n_symbols, self.asked.order)
        return [mixture([*observed, (past, one)], n_symbols, self.asked.order) / without for one in range(n_symbols)]


def mixture(
    observed: Sequence[tuple[tuple[int, ...], int]], n_symbols: int, order: int, context: tuple[int, ...] = ()
) -> Fraction:
    """What context-tree weighting gives to events, each with what came before it."""
    depth = len(context)
    here = [(past, one) for past, one in observed if len(past) >= depth and past[len(past) - depth :] == context]
    if not here:
        return Fraction(1)
    counts = [sum(one == symbol for _, one in here) for symbol in range(n_symbols)]
    if depth == order:
        return block(counts)
    begun = [sum(one == symbol and len(past) == depth for past, one in here) for symbol in range(n_symbols)]
    apart = block(begun)
    for older in range(n_symbols):
        apart *= mixture(here, n_symbols, order, (older, *context))
    return block(counts) / 2 + apart / 2


def some_asked(chance: random.Random, number: int, *, resets: bool) -> Asked:
    """A random event and forecast."""
    learner = chance.choice(["tree", "tree", "full", "full", "weighted"])
    parts = tuple(chance.choice(TESTS[:5]) for _ in range(chance.choice([1, 2, 2, 3])))
    features = tuple(chance.sample(TESTS, chance.choice([0, 0, 1])))
    if learner == "weighted":
        parts, features = tuple(chance.choice(TESTS[:3]) for _ in range(2)), ()
    horizon, n = chance.randrange(2, 6), chance.randrange(1, 4)
    confidence = Fraction(chance.choice(["0.11", "0.29", "0.53"]))
    spread = chance.choice([None, None, 1, 2])
    kind, words = chance.choice(
        [
            (Within(n), f"WITHIN {n} EVENTS"),
            (Around(n), f"AROUND {n} EVENTS"),
            (PointForecast(), f"POINT HORIZON {horizon}"),
            (Shortest(), f"INTERVAL SHORTEST HORIZON {horizon}"),
            (Argmax(), f"INTERVAL ARGMAX HORIZON {horizon}"),
            (Fixed(1), f"INTERVAL FIXED 1 HORIZON {horizon}"),
        ]
    )
    interval = isinstance(kind, Shortest | Argmax | Fixed)
    if interval or chance.random() < 0.4:
        words += f" CONFIDENCE >= {float(confidence)}"
    else:
        confidence = Fraction(0)
    if isinstance(kind, Shortest | Argmax) and spread is not None:
        words += f" SPREAD <= {spread}"
    else:
        spread = None
    return Asked(
        number,
        chance.choice(["STRICT", "STRICT", "NEXT", "ANY"]),
        parts,
        features,
        chance.random() < 0.5,
        resets or chance.random() < 0.5,  # a reset is one of a key
        kind,
        words,
        n if isinstance(kind, Within) else horizon,
        confidence,
        spread,
        (Fraction(1, 4), Fraction(3, 4)) if chance.random() < 0.15 else None,
        chance.random() < 0.3,
        chance.random() < 0.3,
        learner,
        chance.randrange(0, 3),
        resets,
    )


def some_rows(chance: random.Random, n_rows: int, *, resets: bool) -> list[Row]:
    letters = "aabbcd" + ("R" if resets else "")
    return [
        {
            "id": number,
            "k": chance.choice("KL"),
            "g": chance.choice("uv"),
            "s": chance.choice(letters),
            "x": chance.randrange(2),
            "y": chance.randrange(2),
            "t": number,
        }
        for number in range(n_rows)
    ]


def program_of(asked: Sequence[Asked], *, resets: bool) -> Program:
    return parse(STREAM.format(reset=RESET if resets else "") + "".join(one.text for one in asked))


def learned(program: Program, asked: Sequence[Asked], rows: list[Row]) -> dict[str, ForecastModel]:
    models: dict[str, ForecastModel] = {}
    for kind in ("tree", "full", "weighted"):
        for order in {one.order for one in asked if one.learner == kind}:
            names = [f"m{one.number}" for one in asked if (one.learner, one.order) == (kind, order)]
            models |= program.fit({"V": rows}, settings=inkling.FitSettings(order=order, kind=kind), models=names)  # type: ignore[arg-type]
    return models


def agree(asked: Asked, found: Mapping[str, object], wanted: Said) -> bool:
    """The same forecast; where two are equally good up to rounding, either."""
    number, first, last, chance, mean, times = wanted
    if found["event_number"] != number:
        return False
    if (found["first"], found["last"]) != (first, last):
        low, high = found["first"], found["last"]
        assert isinstance(low, int)
        assert isinstance(high, int)
        mass = sum(times[low - 1 : high], Fraction(0))
        peaks = sorted(map(float, times), reverse=True)[:2]
        tied_peaks = isinstance(asked.kind, Argmax | PointForecast) and peaks[0] - peaks[1] < NEAR
        return tied_peaks or (abs(float(mass - chance)) < NEAR and high - low == last - first)
    return _near(found["chance"], chance, NEAR) and _near(found["expected"], mean, 1e-7)


def _near(value: object, wanted: Fraction, tolerance: float) -> bool:
    assert isinstance(value, float)
    return abs(value - float(wanted)) <= tolerance
