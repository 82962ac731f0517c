"""What becomes of an offer of shares: nothing, a trade, or a trade that is told late, cancelled or booked wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inkling.generate.chain import Chain, Script


@dataclass(frozen=True, slots=True)
class Offer:
    """An offer, and what a client does about it."""

    is_bought: bool = False
    is_big: bool = False
    is_late: bool = False  # the bank tells of the payment minutes after it
    is_cancelled: bool = False  # the client takes the order back
    is_misbooked: bool = False  # the bank tells of a payment that is ten times too large, and takes that back
    ends: Mapping[str, int] = field(default_factory=dict)


SCRIPTS = (
    Script(
        "rest",
        (Offer(),),
        {"rest": 0.2, "small": 0.3, "big": 0.2, "late": 0.1, "cancelled": 0.1, "misbooked": 0.1},
    ),
    Script("small", (Offer(is_bought=True, ends={"buy": 1}),), {"rest": 1.0}),
    Script("big", (Offer(is_bought=True, is_big=True, ends={"buy": 1, "big_trade": 1}),), {"rest": 1.0}),
    Script("late", (Offer(is_bought=True, is_big=True, is_late=True, ends={"buy": 1, "big_trade": 1}),), {"rest": 1.0}),
    Script("cancelled", (Offer(is_bought=True, is_big=True, is_cancelled=True),), {"rest": 1.0}),
    Script("misbooked", (Offer(is_bought=True, is_big=True, is_misbooked=True, ends={"buy": 1}),), {"rest": 1.0}),
)

EPISODES = {"buy": "small", "big_trade": "big"}
"""Event of the example program to a script that is played to cause it."""


def offer_chain() -> Chain[Offer]:
    return Chain(SCRIPTS, start={"rest": 1.0})
