"""The attack at length: `python -m tests.attack --programs 1000000 --files 2000 --spark 2000 --damages 5000`.

Writes its figures to `docs/explanation/what-was-tried.md`; adds to the figures of earlier runs of the same version of
this package with `--more`. Ends with status 1 if anything was found.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tests.attack import files, programs, stored
from tests.attack.programs import Finding
from tests.kit.tried_page import section, write_section

import inkling

SECTION = "python -m tests.attack"
_FIGURES = "<!-- figures: "
_AT_ONCE = 500
Tried = tuple[Counter[str], list[Finding]]


def _programs(begun: float, minutes: float, job: tuple[int, int]) -> Tried:
    seed, n = job
    if time.monotonic() - begun > 60 * minutes:
        return Counter(), []
    counts, found = programs.attack(seed, n, everywhere=True)
    return Counter({f"programs {notation}": count for notation, count in counts.items()}), found


def _files(folder: Path, job: tuple[int, int]) -> Tried:
    seed, n = job
    here = folder / str(seed)
    here.mkdir()
    tried, found = files.attack(seed, n, here, (files.run_locally, files.run_pushed))
    return Counter({"files local and pushed": tried}), found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    for name, n in (("programs", 1_000_000), ("files", 2000), ("spark", 2000), ("damages", 5000)):
        parser.add_argument(f"--{name}", type=int, default=n, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no further programs after this time")
    parser.add_argument("--more", action="store_true", help="add to the figures on the page")
    asked = parser.parse_args()
    counts, found = Counter[str](), list[Finding]()
    if asked.more:
        counts.update(_figures(section(SECTION)))
    begun = time.monotonic()

    def take(tried: Tried) -> None:
        counts.update(tried[0])
        for one in tried[1]:
            if (one.kind, one.place) not in {(other.kind, other.place) for other in found}:
                found.append(one)
                sys.stdout.write(f"{one.what}: {one.kind} at {one.place}\n{one.example[:1500]}\n\n")
                sys.stdout.flush()
        _write(counts, found, time.monotonic() - begun)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with multiprocessing.get_context("fork").Pool(asked.jobs) as pool:
            n_jobs = -(-asked.programs // _AT_ONCE)
            jobs = [(asked.seed + number, _AT_ONCE) for number in range(n_jobs)]
            for tried in pool.imap_unordered(partial(_programs, begun, asked.minutes), jobs):
                take(tried)
            jobs = [(asked.seed + number, 50) for number in range(-(-asked.files // 50))]
            for tried in pool.imap_unordered(partial(_files, folder), jobs):
                take(tried)
        n, bad = stored.attack(asked.seed, asked.damages, folder) if asked.damages else (0, [])
        take((Counter({"damaged snapshots and models": n}), bad))
        if asked.spark:
            spark = inkling.spark_session(master="local[2]")
            n, bad = files.attack(asked.seed, asked.spark, folder, (files.on_spark(spark),))
            take((Counter({"files on Spark": n}), bad))
    return 1 if found else 0


def _figures(page: str) -> dict[str, int]:
    line = next((one for one in page.splitlines() if one.startswith(_FIGURES)), None)
    known: dict[str, int] = {} if line is None else json.loads(line.removeprefix(_FIGURES).removesuffix(" -->"))
    return known


def _write(counts: Counter[str], found: list[Finding], seconds: float) -> None:
    rows = "\n".join(f"| {name} | {count:,} |" for name, count in sorted(counts.items()) if count)
    ends = (
        "None of them ended otherwise."
        if not found
        else "\n".join(
            [
                "These ended otherwise when the command ran:",
                "",
                *(f"- {one.what}: `{one.kind}`, {one.place}" for one in found),
            ]
        )
    )
    write_section(
        SECTION,
        f"""\
## Programs, files and stored states changed at random

The attack of `tests/attack` changes programs, files and stored states at random, with fixed seeds. A program must
compile or end in a message, a run must end in a message or account for every row (*rows in = used + rejected + late*),
and damage of anything stored must be rejected by name. A foreign exception, `INK0901`, a wrong number of rows, or a
program that takes more than {programs.SECONDS} seconds to compile is a finding. `make test` runs a few hundred cases,
`make test-full` some thousands, and `python -m tests.attack` as many as asked for. That command wrote this section.

| tried | how many |
|---|---|
{rows}

{ends}

The last run ended on {datetime.now(UTC):%Y-%m-%d} after {seconds / 60:.0f} minutes.

{_FIGURES}{json.dumps(dict(counts))} -->
""",
    )


if __name__ == "__main__":
    sys.exit(main())
