"""Watermarks: the latest time of every stream, and the time up to which all streams are complete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from inkling.model.batch import FOREVER
from inkling.model.roles import NO_ROLES, Roles

NEVER = -FOREVER
"""The watermark before any time is complete."""


def merged_roles(one: Roles, other: Roles) -> Roles:
    """The roles of both; where both name a role, the first name in alphabetical order.

    >>> merged_roles(("close", None), ("end", "open"))
    ('close', 'open')
    """
    even, odd = (
        min((name for name in pair if name is not None), default=None) for pair in zip(one, other, strict=True)
    )
    return even, odd


def newest_of(many: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The latest time of each stream in any of several reports.

    >>> newest_of([{"a": 1, "b": 5}, {"a": 3}])
    {'a': 3, 'b': 5}
    """
    newest: dict[str, int] = {}
    for one in many:
        for name, time in one.items():
            newest[name] = max(time, newest.get(name, NEVER))
    return newest


@dataclass(frozen=True, slots=True)
class Watermarks:
    """The latest times and idle streams that sources report to all operators."""

    latest: Mapping[str, int] = field(default_factory=dict)  # the latest time, per stream with rows
    idle: frozenset[str] = frozenset()  # streams that send nothing at present
    finished: bool = False  # all streams have ended
    roles: Mapping[str, Roles] = field(default_factory=dict)  # per stream whose numbered events have roles
    chains: Mapping[str, tuple[tuple[int, int, int], ...]] = field(default_factory=dict)  # of `runtime.ahead`

    @classmethod
    def merged(cls, watermarks: Iterable[Watermarks]) -> Watermarks:
        watermarks = list(watermarks)
        idle: frozenset[str] = frozenset()
        finished = False
        roles: dict[str, Roles] = {}
        chains: dict[str, tuple[tuple[int, int, int], ...]] = {}
        for one in watermarks:
            idle |= one.idle
            finished |= one.finished
            for name, declared in one.roles.items():
                roles[name] = merged_roles(roles.get(name, NO_ROLES), declared)
            for name, some in one.chains.items():
                chains[name] = (*chains.get(name, ()), *some)
        return cls(newest_of(one.latest for one in watermarks), idle, finished, roles, chains)


@dataclass(frozen=True, slots=True)
class Clocks:
    """The watermark of the streams that an operator reads, and the latest times that it follows from."""

    lateness: Mapping[str, int]  # how late rows may be, per stream
    latest: Mapping[str, int] = field(default_factory=dict)
    idle: frozenset[str] = frozenset()
    watermark: int = NEVER

    def after(self, watermarks: Watermarks) -> Clocks:
        """The clocks after these watermarks; `watermark` never decreases."""
        latest = newest_of((self.latest, watermarks.latest))
        # a stream with rows is not idle, even if it is reported as idle in the same step
        idle = (self.idle | watermarks.idle) - watermarks.latest.keys()
        moved = replace(self, latest=latest, idle=idle)
        return replace(moved, watermark=FOREVER if watermarks.finished else max(self.watermark, moved._complete()))

    def _complete(self) -> int:
        """The time up to which every stream that is not idle is complete."""
        waited_for = [name for name in self.lateness if name not in self.idle]
        # when all streams are idle, their latest times count
        known = waited_for or [name for name in self.lateness if name in self.latest]
        return min((self._complete_up_to(name) for name in known), default=NEVER)

    def _complete_up_to(self, name: str) -> int:
        if name not in self.latest:
            return NEVER
        # a row at the limit itself is still in time
        return self.latest[name] - self.lateness[name] - 1
