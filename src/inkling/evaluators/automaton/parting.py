"""What automata carry of some keys, taken out of what they carry of all, and put together again."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np

from inkling.automata.state import AutomatonState
from inkling.evaluators.automaton.carry import AutomatonCarry
from inkling.model.batch import Ints, one_after_the_other


def only(carry: AutomatonCarry, codes: Ints) -> AutomatonCarry:
    """The open runs of the keys with these ascending codes, and the events they hold."""
    return _with_events_of(carry, carry.runs.only(codes))


def without(carry: AutomatonCarry, codes: Ints) -> AutomatonCarry:
    """The open runs of all other keys, and the events they hold."""
    return _with_events_of(carry, carry.runs.without(codes))


def renamed(carry: AutomatonCarry, codes: Ints) -> AutomatonCarry:
    """The same with each key named by its place among ascending codes, which are all that occur."""
    return AutomatonCarry(carry.runs.renamed(codes), carry.rows, carry.numbers, carry.next_number)


def joined(one: AutomatonCarry, other: AutomatonCarry, codes: Ints) -> AutomatonCarry:
    """The runs of some keys and of others, whose key number i is called `codes[i]` from now on."""
    if not other.runs.n_keys:
        return AutomatonCarry(one.runs, one.rows, one.numbers, one.next_number)
    shift, nodes = one.next_number, other.runs.nodes
    moved = replace(
        other.runs,
        key=codes[other.runs.key],
        nodes=nodes._replace(event=nodes.event + shift, first=nodes.first + shift),
    )
    rows = [carry.rows for carry in (one, other) if carry.rows is not None]
    events = reduce(one_after_the_other, rows) if rows else None
    numbers = np.concatenate([one.numbers, other.numbers + shift])
    return AutomatonCarry(one.runs.joined(moved), events, numbers, shift + other.next_number)


def _with_events_of(carry: AutomatonCarry, runs: AutomatonState) -> AutomatonCarry:
    live = runs.live_events()
    if carry.rows is None or not len(live):
        return AutomatonCarry(runs, None, live, carry.next_number)
    rows = carry.rows
    if len(live) < len(rows):
        rows = rows.take(np.searchsorted(carry.numbers, live))
    return AutomatonCarry(runs, rows, live, carry.next_number)
