"""How probable it is that the first subgoals of a safe query have been satisfied and wait for the next one.

An operator that appends a subgoal keeps, for each start, the probability that the latest event which ended waiting came
then, and the probability that the subgoals before were satisfied since: the sum of their products says that they wait.
Subgoals inside of an automaton wait in some of its states.
"""

from typing import NamedTuple

import numpy as np

from inkling.automata.prefixes import prefix_states
from inkling.evaluators.query.probable_events import Numbers
from inkling.evaluators.query.safe.group import GroupSeqOperator, SeqManyOperator
from inkling.evaluators.query.safe.joint_states import JointLayout
from inkling.evaluators.query.safe.operators import EVER, OperatorState, ProjectOperator, RegOperator, SafeOperator
from inkling.evaluators.query.safe.seq import LastWinsOperator, SeqOperator
from inkling.evaluators.query.safe.seq_markov import SeqMarkovOperator
from inkling.model.batch import Mask


class Waits(NamedTuple):
    """A probability, and by how much it may be too low."""

    chance: float
    error: float


class NotKept(Exception):  # noqa: N818
    """The state says whether the first subgoals were ever satisfied, and not whether they wait."""


def waiting(node: SafeOperator, state: OperatorState, n_subgoals: int, *, is_top: bool = True) -> Waits:
    """The probability that so many subgoals are satisfied and wait. Raises `NotKept`."""
    match node:
        case RegOperator():
            return Waits(_in_leaf(node, state, n_subgoals), 0.0)
        case ProjectOperator(child=child):
            found = [waiting(child, one, n_subgoals, is_top=is_top) for one in state["values"].values()]
            return Waits(_any([one.chance for one in found]), sum(one.error for one in found))
        case GroupSeqOperator(leaf=leaf, subgoal=subgoal) if n_subgoals < subgoal:
            return Waits(_in_leaf(leaf, state, n_subgoals), 0.0)
        case GroupSeqOperator() | SeqManyOperator() if n_subgoals == node.subgoal:
            return Waits(_grouped(node, state), float(state["lost"][0]))
        case SeqOperator() | SeqMarkovOperator() if n_subgoals == node.subgoal:
            return _after_child(node, state, is_top)
        case LastWinsOperator(subgoal=subgoal) if n_subgoals == subgoal:
            return Waits(float(state["latest"][0]), float(state["too_low"][0]))
        case SeqOperator(child=child) | SeqMarkovOperator(child=child) | SeqManyOperator(child=child):
            return waiting(child, state["child"], n_subgoals, is_top=False)
        case LastWinsOperator(child=child):
            return waiting(child, state["child"], n_subgoals, is_top=is_top)
        case _:
            raise AssertionError(f"no operator is {node}")


def _after_child(node: SeqOperator | SeqMarkovOperator, state: OperatorState, is_top: bool) -> Waits:
    latest = state["latest"]
    if not is_top and node.query.subgoals[node.subgoal].repeated:
        return Waits(float(latest[0]) if len(latest) else 0.0, 0.0)  # nothing ends waiting for a repetition
    if isinstance(node, SeqOperator):
        error = float(state["lost"][0] + state["neglected"][0])
        if is_top:
            return Waits(float((state["chances"] * latest).sum()), error)
        if not node.since_ever:
            found = 0.0
            for chance, passed, since in zip(state["chances"], state["passed"], latest, strict=True):
                found = float(passed) * found + float(chance * since)
            return Waits(found, error)
    elif is_top:
        return Waits(float((state["weights"] * latest).sum()), float(state["dust"].sum()))
    else:
        return Waits(_of_values(state), 0.0)
    raise NotKept


def _of_values(state: OperatorState) -> float:
    """The sum over the start that ended waiting last, and over the values of the streams then."""
    here = np.zeros(len(state["full"]))
    for landed, waited, since in zip(state["landed"], state["waited"], state["latest"], strict=True):
        here = landed * since + here @ waited
    return float((here @ state["free"][-1]).sum()) if len(state["free"]) else 0.0


def _grouped(node: GroupSeqOperator | SeqManyOperator, state: OperatorState) -> float:
    """Of all worlds, less those with an event at the start, or without the subgoals before (`kernels`)."""
    ways = state["ways"].copy()
    base = JointLayout.unpacked(state, node.n_states).base
    if len(base) < 2:  # nothing can have ended waiting yet
        return 0.0 if node.child is None else float(state["latest"][state["starts"] == EVER].sum())
    if not ways.size:
        return 0.0
    ways[1::2, :, state["starts"] == EVER] = 0
    found: Numbers = np.add.reduceat(ways, base[:-1], axis=1).prod(axis=1)
    total = found[0] - found[1]
    if len(found) == 4:
        total = total - found[2] + found[3]
    return float((total if node.child is None else total * state["latest"]).sum())


def _in_leaf(leaf: RegOperator, state: OperatorState, n_subgoals: int) -> float:
    layout, states = JointLayout.unpacked(state, leaf.n_states), _states(leaf, n_subgoals)
    base, full = layout.base, state["full"]
    return _any([float(full[first:last].reshape(-1, leaf.n_states)[:, states].sum()) for first, last in _pairs(base)])


def _pairs(base: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(base[:-1].tolist(), base[1:].tolist(), strict=True))


def _states(leaf: RegOperator, n_subgoals: int) -> Mask:
    """The states in which so many subgoals wait; states that are one here agree in that."""
    automaton = leaf.automaton
    if n_subgoals > len(automaton.open_prefixes):
        raise NotKept
    found = prefix_states(automaton.pattern, automaton.dfa, automaton.open_prefixes[n_subgoals - 1])
    if found is None:
        raise NotKept
    chosen = found.states[leaf.merged.chosen]
    if (chosen[leaf.merged.of_state] != found.states).any():
        raise NotKept
    return chosen


def _any(chances: list[float]) -> float:
    """The probability of one of several independent things."""
    return float(-np.expm1(np.log1p(-np.minimum(chances, 1.0 - 1e-16)).sum())) if len(chances) > 1 else sum(chances)
