"""What a user waits for at the prompt: checking, explaining, and a demonstration that has run before."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks.meter import best_of, measured
from benchmarks.results import Baseline, Goal, Row
from benchmarks.sizes import Sizes

MOST_SECONDS = 1.0
PROGRAM = Path("examples") / "fleet" / "fleet.ink"


def on_program(command: str, sizes: Sizes) -> Row:
    bare = [sys.executable, "-c", "import typer, lark"]
    own, imports = best_of(sizes.repeats + 2, lambda: inkling(command, str(PROGRAM)), lambda: _call(bare))
    return Row(
        f"inkling {command}",
        str(PROGRAM),
        own.seconds,
        own.cpu_seconds,
        baselines=(Baseline.of("python, importing typer and lark", imports),),
        goals=(Goal("seconds", own.seconds, most=MOST_SECONDS),),
    )


def second_demo(sizes: Sizes) -> Row:
    """The demonstration twice, with a cache that was empty before the first time."""
    with tempfile.TemporaryDirectory() as scratch:
        cache = Path(scratch) / "kernels"
        environ = {"NUMBA_CACHE_DIR": str(cache)}
        arguments = ("demo", "fleet", "--events", str(sizes.demo_events), "--output", scratch, "--quiet")
        first = measured(lambda: inkling(*arguments, environ=environ))
        compiled = _compiled(cache)
        second = measured(lambda: inkling(*arguments, environ=environ))
        again = _compiled(cache) - compiled
    return Row(
        "inkling demo, the second time",
        f"{sizes.demo_events:,} readings of a fleet",
        second.seconds,
        second.cpu_seconds,
        sizes.demo_events,
        f"{len(compiled)} kernels compiled the first time, {len(again)} the second",
        (Baseline.of("the first time", first),),
        (Goal("kernels compiled again", len(again), most=0),),
    )


def _compiled(cache: Path) -> set[tuple[str, int]]:
    """Numba writes a file for each compilation."""
    return {(file.name, file.stat().st_mtime_ns) for file in cache.rglob("*.nbc")}


def inkling(*arguments: str, environ: Mapping[str, str] | None = None) -> None:
    """Run the command line in a process of its own."""
    _call([str(Path(sys.executable).with_name("inkling")), *arguments], environ)


def _call(command: list[str], environ: Mapping[str, str] | None = None) -> None:
    subprocess.run(command, env=os.environ | (environ or {}), check=True, capture_output=True)


BENCHMARKS: dict[str, Callable[[Sizes], Row]] = {
    "inkling check": partial(on_program, "check"),
    "inkling explain": partial(on_program, "explain"),
    "inkling demo, the second time": second_demo,
}
