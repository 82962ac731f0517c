"""ETALIS on the same events, if the variable ETALIS of the environment names the folder of its sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.knowledge.triples import BASE
from benchmarks.meter import Measured

VARIABLE = "ETALIS"
DRIVER = Path(__file__).with_suffix(".pl")

Tuples = frozenset[tuple[str, ...]]


def is_present(rows: str) -> bool:
    """Whether ETALIS can run; if not, says which rows are left out."""
    folder = os.environ.get(VARIABLE)
    if folder is None:
        print(f"{rows}: left out; set {VARIABLE} to the folder with etalis.P", file=sys.stderr)
    elif not Path(folder, "etalis.P").exists():
        raise SystemExit(f"{VARIABLE} names {folder}, which has no etalis.P")
    elif shutil.which("swipl") is None:
        print(f"{rows}: left out; ETALIS needs SWI-Prolog (swipl)", file=sys.stderr)
    else:
        return True
    return False


def name() -> str:
    found = subprocess.run(["swipl", "--version"], capture_output=True, text=True, check=True).stdout
    return f"ETALIS, SWI-Prolog {re.search(r'[0-9.]+', found)[0]}"


def etalis(rules: str, events: Iterable[tuple[str, int]], result: str, arity: int, kept: int = 0) -> Measured[Tuples]:
    """The results of rules over events with their times, without the time to load rules and events.

    Of goals, those of the last `kept` ticks are kept; of all times, if it is 0.
    """
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        files = [folder / one for one in ("rules.event", "events.pl", "results.tsv")]
        files[0].write_text(rules)
        files[1].write_text("".join(f"e({event}, {time}).\n" for event, time in events))
        sources = Path(os.environ[VARIABLE]).resolve() / "etalis.P"
        command = ["swipl", "-q", "-O", "-g", "main", "-t", "halt", str(DRIVER), "--", str(sources)]
        command += [*map(str, files), result, str(arity), str(kept)]
        output = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout
        found = frozenset(tuple(line.split("\t")) for line in files[2].read_text().splitlines())
    wall, cpu = output.split()
    return Measured(found, float(wall), float(cpu))


def with_iris(found: Tuples) -> Tuples:
    """Results whose first value is the local name of an IRI."""
    return frozenset((BASE + first, *rest) for first, *rest in found)
