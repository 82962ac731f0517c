"""Long streams of imprecise times: an event per tick, its value running through the numbers up to a thousand.

A pattern asks for values divisible by one number, then by another one, and so on, within a window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from tests.kit.imprecise.case import Policy, Query
from tests.kit.imprecise.streams import CYCLE, divisible_query

from inkling.query import Program, parse

EVEN = (31, 37, 41, 43, 47, 53)
"""No value up to a thousand is divisible by two of them."""
SKEWED = ((31, 37, 41), (23, 47, 53), (19, 53, 59), (13, 79, 83))
"""Ever more events that fit the first step, and ever fewer that fit the last."""
HALVES = (1, 5, 10, 20, 30, 50)
USUAL_HALF, USUAL_STEPS, USUAL_WINDOW = 10, 3, 100


@dataclass(frozen=True, slots=True)
class Setting:
    """What is asked of a stream whose events are known up to `half` ticks to either side."""

    policy: Policy
    half: int = USUAL_HALF
    divisors: tuple[int, ...] = EVEN[:USUAL_STEPS]
    window: int = USUAL_WINDOW

    def __str__(self) -> str:
        listed = " ".join(map(str, self.divisors))
        return f"{self.policy.value}, ± {self.half} ticks, {listed}, within {self.window}"

    @property
    def query(self) -> Query:
        return divisible_query(self.divisors, self.window, self.policy)

    @property
    def program(self) -> Program:
        parts = ", ".join(f"E x{number}[v % {divisor} = 0]" for number, divisor in enumerate(self.divisors))
        return parse(
            "STREAM E(id INT, v INT, lo INT, hi INT) ID id TIME BETWEEN lo AND hi;"
            f"EVENT found AS PATTERN SEQ {self.policy.name}({parts}) WITHIN {self.window} POINTS;"
        )

    def rows(self, n_events: int) -> dict[str, pa.Table]:
        number = np.arange(1, n_events + 1)
        value = (number - 1) % CYCLE + 1
        return {"E": pa.table({"id": number, "v": value, "lo": number, "hi": number + 2 * self.half})}
