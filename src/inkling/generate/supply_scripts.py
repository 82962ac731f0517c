"""What a company does in an hour: its share rests or rises, it ships items; and what is seen in the air above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from inkling.generate.chain import Chain, Script

ASTRAY = -1
"""Where an item goes that leaves the chain: to a company that its last one does not supply."""


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour of a company; companies `hops` steps down the chain get the item that it is shipping."""

    rises: bool = False
    hops: int | None = None
    plane: bool = False
    turbulence: bool = False
    ends: Mapping[str, int] = field(default_factory=dict)


REST, RISE = Hour(), Hour(rises=True)
_SHIPPING = (Hour(hops=0), REST, Hour(hops=1), REST, Hour(hops=2), Hour(rises=True, hops=3))
_ASTRAY = (Hour(hops=0), Hour(hops=1), Hour(hops=ASTRAY))

SCRIPTS = (
    Script(
        "rest",
        (REST,) * 3,
        {"rest": 0.3, "rising": 0.3, "shipping": 0.15, "astray": 0.1, "plane": 0.1, "turbulence": 0.1},
        linger=0.6,
    ),
    Script("rising", (RISE, RISE), {"rest": 1.0}),
    Script("shipping", _SHIPPING, {"rest": 1.0}),
    Script("astray", _ASTRAY, {"rest": 1.0}),
    Script("plane", (Hour(plane=True),), {"rest": 1.0}),
    Script("turbulence", (Hour(turbulence=True),), {"rest": 1.0}),
)

EPISODES = {"delivery": "shipping"}
"""Event of the example program to a script that is played to cause it."""


def company_chain() -> Chain[Hour]:
    return Chain(SCRIPTS, start={"rest": 1.0})
