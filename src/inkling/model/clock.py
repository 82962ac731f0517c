"""How long written durations are on the clock of a program's streams."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.model.time import Clock, Span


@dataclass(frozen=True, slots=True)
class Measure:
    """Turns a written duration into the clock's own unit; `tick` is what `TICK` declares.

    A clock that is `scale` times finer has room for events between two units.
    """

    clock: Clock
    tick: Span | None = None
    scale: int = 1

    def __call__(self, span: Span) -> int:
        return span.units(self.clock, self.tick) * self.scale
