"""The examples: a folder each, with programs, the scenario that generates their data, and a page to read.

The modules of an example are modules of this package, such as `inkling.examples.fleet.scenario`. A wheel has the
folders in this package, a checkout in `examples` at its root. Importing this package loads no scenario.
"""

from pathlib import Path

NAMES = (
    "fleet",
    "port",
    "cluster",
    "building",
    "mixed",
    "traffic",
    "traffic_rdf",
    "alarms",
    "heat",
    "stocks",
    "supply_chain",
    "trades",
    "flower",
    "blizzard",
    "tsunami",
    "approach",
    "funnel",
    "motorway",
    "buses",
)

_PACKAGE = Path(__file__).parent
FOLDER = _PACKAGE if (_PACKAGE / NAMES[0]).is_dir() else _PACKAGE.parents[2] / "examples"
"""Where the folders of the examples are."""

__path__ = [str(FOLDER)]
