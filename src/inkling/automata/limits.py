"""Limits on the size of automata, and the errors of patterns that exceed them."""

from typing import TypeVar

State = TypeVar("State")


class TooManyStates(Exception):  # noqa: N818
    """An automaton grew past the number of states it may have."""

    def __init__(self, n_states: int, limit: int) -> None:
        super().__init__(n_states, limit)
        self.n_states = n_states
        self.limit = limit

    def __str__(self) -> str:
        return f"the automaton has at least {self.n_states} states, the limit is {self.limit}"


class StateNumbers(dict[State, int]):
    """Numbers of the states of an automaton as they are found, which loops over `order` also reach."""

    def __init__(self, start: State, limit: int) -> None:
        super().__init__({start: 0})
        self.order = [start]
        self.limit = limit

    def __missing__(self, state: State) -> int:
        self.order.append(state)
        if len(self.order) > self.limit:
            raise TooManyStates(len(self.order), self.limit)
        return self.setdefault(state, len(self.order) - 1)


class TooManySymbols(Exception):  # noqa: N818
    """The conditions of a pattern can be true together in too many ways."""

    def __init__(self, n_symbols: int, limit: int) -> None:
        super().__init__(n_symbols, limit)
        self.n_symbols = n_symbols
        self.limit = limit

    def __str__(self) -> str:
        return f"the pattern distinguishes at least {self.n_symbols} kinds of events, the limit is {self.limit}"


MAX_STATES = 50_000
MAX_ENTRIES = 1 << 22  # states times symbols of one table
MAX_SYMBOLS = 1 << 16
