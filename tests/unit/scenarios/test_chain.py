"""Chains play scripts as written and choose between them at random."""

import numpy as np
import pytest
from inkling.examples.generators.chain import Script, SymbolChain
from inkling.examples.generators.randomness import BlockRandom

STAY = 0.75
CHAIN = SymbolChain(
    [
        Script("rest", ("r",), {"left": 1.0, "right": 3.0}, linger=STAY),
        Script("left", ("l1", "l2"), {"rest": 1.0}),
        Script("right", ("r1", "r2", "r3"), {"rest": 1.0}),
    ],
    start={"rest": 1.0},
)


def walk(n_steps: int, n_keys: int) -> list[str]:
    draws = BlockRandom(5, "chain", 0).bits((n_steps, n_keys))
    path = CHAIN.walk(CHAIN.beginning(n_keys), draws)
    return ["".join(f"{CHAIN.steps[state]} " for state in column) for column in path.T]


def test_scripts_are_never_cut_short_nor_mixed() -> None:
    for told in walk(2_000, 3):
        whole = told[: told.rindex("r ")]
        assert whole.replace("l1 l2 ", "").replace("r1 r2 r3 ", "").replace("r ", "") == ""


def test_choices_follow_their_weights() -> None:
    told = "".join(walk(20_000, 10))
    left, right, rest = told.count("l1"), told.count("r1"), told.count("r ")
    assert right / left == pytest.approx(3.0, rel=0.05)
    assert (left + right) / rest == pytest.approx(1.0 - STAY, rel=0.05)


def test_a_walk_may_be_cut_anywhere() -> None:
    draws = BlockRandom(1, "chain", 0).bits((50, 4))
    whole = CHAIN.walk(CHAIN.beginning(4), draws)
    first = CHAIN.walk(CHAIN.beginning(4), draws[:17])
    second = CHAIN.walk(first[-1], draws[17:])
    np.testing.assert_array_equal(whole, np.concatenate([first, second]))


@pytest.mark.parametrize(("steps", "linger"), [((), 0.0), (("x",), 1.0), (("x",), -0.1)])
def test_nonsense_scripts_are_rejected(steps: tuple[str, ...], linger: float) -> None:
    with pytest.raises(ValueError, match="script 'odd'"):
        Script("odd", steps, {"odd": 1.0}, linger)
