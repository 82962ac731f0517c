"""What the price of a share does: it rests, climbs, jumps and dips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inkling.generate.chain import Chain, Script


@dataclass(frozen=True, slots=True)
class Day:
    """The price of one day as a share of the symbol's usual price, and whether the company is taken over."""

    price: float = 1.0
    taken_over: bool = False
    ends: Mapping[str, int] = field(default_factory=dict)


def _up(price: float, *, taken_over: bool = False, **ends: int) -> Day:
    return Day(price, taken_over, {"rise": 1, **ends})


REST = Day()
_DIP = (
    _up(1.1),
    Day(1.05),
    Day(0.95),
    _up(1.04, tick_shape_from_before=1),  # above the usual price of the day before the peak
    _up(1.15, tick_shape=2),  # above the peak, and above the day after it
)

# A price rests more than 15 days between episodes and does not move at all, so that it has no shape by chance.
SCRIPTS = (
    Script(
        "rest",
        (REST,) * 17,
        {"climb": 0.3, "rally": 0.2, "takeover": 0.15, "old_takeover": 0.15, "dip": 0.2},
        linger=0.6,
    ),
    Script("climb", (_up(1.01), _up(1.02), Day(1.015), _up(1.03, tick_shape=1)), {"rest": 1.0}),
    Script("rally", (_up(1.2), _up(1.4), _up(1.7, jump=1)), {"rest": 1.0}),
    Script("takeover", (_up(1.2), _up(1.4, taken_over=True), _up(1.7)), {"rest": 1.0}),
    Script("old_takeover", (Day(taken_over=True), _up(1.2), _up(1.4), _up(1.7, jump=1)), {"rest": 1.0}),
    Script("dip", _DIP, {"rest": 1.0}),
)

EPISODES = {"jump": "rally", "tick_shape": "dip"}
"""Event of the example program to a script that is played to cause it."""


def stock_chain() -> Chain[Day]:
    return Chain(SCRIPTS, start={"rest": 1.0})
