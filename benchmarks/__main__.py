"""``python -m benchmarks``: measure this machine, print the figures and write them down."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path

from rich.console import Console

from benchmarks.harness import ROOT, gather
from benchmarks.results import Report, Row
from benchmarks.suites import SUITES
from benchmarks.tables import markdown, show

RESULTS = ROOT / "benchmarks" / "results" / "latest.json"
PAGE = ROOT / "docs" / "reference" / "benchmarks.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is written down")
    parser.add_argument(
        "--only", metavar="NAME", default="", help=f"a suite ({', '.join(SUITES)}) or part of a benchmark's name"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="where figures go", default=None)
    arguments = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    names = [arguments.only] if arguments.only in SUITES else list(SUITES)
    wanted = "" if arguments.only in SUITES else arguments.only

    def say(suite: str, row: Row) -> None:
        rate = "" if row.rate is None else f", {row.rate / 1e6:.2f} M events/s"
        console.print(f"{suite}: {row.name}: {row.seconds:.2f} s{rate}", highlight=False)

    report = gather(names, quick=arguments.quick, wanted=wanted, say=say)
    show(report, console)
    if arguments.json:
        arguments.json.write_text(report.to_json())
    elif not arguments.quick:
        write_down(report, whole=() if wanted else names)
        console.print(f"written to {RESULTS.relative_to(ROOT)} and {PAGE.relative_to(ROOT)}")
    if not report.quick:
        console.print(f"{report.missed} goal{'' if report.missed == 1 else 's'} missed")


def write_down(report: Report, *, whole: Collection[str]) -> None:
    """Replace what was written before of suites that ran as a `whole`; rows that were not measured stay."""
    if RESULTS.exists() and len(whole) < len(SUITES):
        report = Report.read(RESULTS).updated(report, whole)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(report.to_json())
    PAGE.write_text(markdown(report))


if __name__ == "__main__":
    main()
