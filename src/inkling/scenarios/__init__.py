"""Seeded data for demonstrations, tests and benchmarks, of any size, with known episodes in it.

In: the name of a scenario, a size and a seed. Out: its streams chunk by chunk (`generate`), or a folder of
files (`write`). Scenarios are in the folders of the examples; they need NumPy, Arrow and this package.
Rows that are there already can be sent once more (`replay`), read as runs read them.
"""

from inkling.scenarios.catalog import SCENARIOS, generate, scenario
from inkling.scenarios.scenario import Scenario, Truth
from inkling.scenarios.writer import write

__all__ = ["SCENARIOS", "Scenario", "Truth", "generate", "scenario", "write"]
