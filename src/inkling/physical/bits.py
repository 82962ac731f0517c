"""Numbers for local conditions: equal conditions on rows share one bit."""

from __future__ import annotations

from dataclasses import dataclass, field

from inkling.logical.expr import Expr


@dataclass(slots=True)
class BitBook:
    """Hands out bit numbers while a stage is planned."""

    numbers: dict[Expr, int] = field(default_factory=dict)

    def number(self, condition: Expr) -> int:
        return self.numbers.setdefault(condition, len(self.numbers))
