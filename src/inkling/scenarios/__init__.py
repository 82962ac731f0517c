"""Seeded data for demonstrations, tests and benchmarks, of any size, with known episodes.

Input: the name of a scenario, a size and a seed. Output: its streams chunk by chunk (`generate`), or a folder of files
(`write`). Scenarios are in the folders of the examples; they need NumPy, Arrow and this package. `replay` sends the
rows of existing files again.
"""

from inkling.scenarios.catalog import SCENARIOS, generate, scenario
from inkling.scenarios.scenario import Scenario, Truth
from inkling.scenarios.writer import write

__all__ = ["SCENARIOS", "Scenario", "Truth", "generate", "scenario", "write"]
