"""The benchmarks of one source tree, run by file from another tree: a name comes in, its rows go out."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from benchmarks.harness import MARK
from benchmarks.sizes import FULL, QUICK
from benchmarks.suites import SUITES


def main() -> None:
    """Names of benchmarks first, then the rows of each one that is asked for."""
    size, suite = sys.argv[1:]
    found = {one.name: one for one in SUITES[suite].benchmarks(QUICK if size == "quick" else FULL)}
    print(MARK + json.dumps(list(found)), flush=True)
    for line in sys.stdin:
        rows = [asdict(row) for row in found[json.loads(line)].run()]
        print(MARK + json.dumps(rows), flush=True)


if __name__ == "__main__":
    main()
