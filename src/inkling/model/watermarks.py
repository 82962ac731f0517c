"""How far time has come: the largest time of every stream, and the watermark that follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from inkling.model.batch import FOREVER
from inkling.model.roles import NO_ROLES, Roles

NEVER = -FOREVER
"""The watermark before anything is known to be complete."""


def roles_together(one: Roles, other: Roles) -> Roles:
    """Whatever comes first: the least of the names, if there are several.

    >>> roles_together(("close", None), ("end", "open"))
    ('close', 'open')
    """
    even, odd = (
        min((name for name in pair if name is not None), default=None) for pair in zip(one, other, strict=True)
    )
    return even, odd


@dataclass(frozen=True, slots=True)
class Marks:
    """News that everybody must hear: what a feed saw of its streams, or what somebody said about them."""

    latest: Mapping[str, int] = field(default_factory=dict)  # the largest time, per stream with rows
    idle: frozenset[str] = frozenset()  # nothing is coming from these for the time being
    finished: bool = False  # nothing is coming any more
    roles: Mapping[str, Roles] = field(default_factory=dict)  # per stream whose numbered events have roles

    @classmethod
    def together(cls, marks: Iterable[Marks]) -> Marks:
        latest: dict[str, int] = {}
        idle: frozenset[str] = frozenset()
        finished = False
        roles: dict[str, Roles] = {}
        for one in marks:
            for name, time in one.latest.items():
                latest[name] = max(time, latest.get(name, NEVER))
            idle |= one.idle
            finished |= one.finished
            for name, said in one.roles.items():
                roles[name] = roles_together(roles.get(name, NO_ROLES), said)
        return cls(latest, idle, finished, roles)


@dataclass(frozen=True, slots=True)
class Clocks:
    """The streams on which something waits, how late their rows may be, and how far every stream has come."""

    lateness: Mapping[str, int]
    latest: Mapping[str, int] = field(default_factory=dict)
    idle: frozenset[str] = frozenset()
    watermark: int = NEVER

    def after(self, marks: Marks) -> Clocks:
        """The clocks with this news; a watermark never goes back."""
        latest = dict(self.latest)
        for name, time in marks.latest.items():
            latest[name] = max(time, latest.get(name, NEVER))
        # rows bring a stream back, and so does news of them that comes together with its idleness
        idle = (self.idle | marks.idle) - marks.latest.keys()
        moved = replace(self, latest=latest, idle=idle)
        return replace(moved, watermark=FOREVER if marks.finished else max(self.watermark, moved._complete()))

    def _complete(self) -> int:
        """The time up to which every stream that is not idle has told everything."""
        waited_for = [name for name in self.lateness if name not in self.idle]
        # when all are idle, what they told before is all there is to go by
        told = waited_for or [name for name in self.lateness if name in self.latest]
        return min((self._told(name) for name in told), default=NEVER)

    def _told(self, name: str) -> int:
        if name not in self.latest:
            return NEVER
        # a row at the limit itself is still in time
        return self.latest[name] - self.lateness[name] - 1
