"""Ctrl-C is answered within a second: between slices of a join, and while a compiled loop runs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

LOOP = """
import sys
from numba import njit
from inkling.evaluators.interrupts import answer_within_a_second

@njit
def loop(n):
    total = 0
    for number in range(n):
        total = (total * 31 + number) % 1_000_003
    return total

loop(10)
answer_within_a_second()
print("ready", flush=True)
loop(10**12)
"""
BUSY = """STREAM A(k INT, t INT) TIME t;
EVENT rare AS PATTERN SEQ(A a, A b[k > a.k + 1000000000]);
"""
LIMIT_S = 2.0
"""A second, and another one for a machine that does other things."""


def interrupted(process: "subprocess.Popen[str]", after: float) -> tuple[int, float, str]:
    """The exit status after Ctrl-C, the seconds until then, and what was said."""
    time.sleep(after)
    assert process.poll() is None
    began = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return process.returncode, time.monotonic() - began, said


def test_a_compiled_loop() -> None:
    process = subprocess.Popen([sys.executable, "-c", LOOP], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    status, seconds, said = interrupted(process, 0.2)
    assert (status, said) == (130, "Interrupt\n")
    assert seconds < LIMIT_S


def test_a_join_that_takes_hours(tmp_path: Path) -> None:
    (tmp_path / "busy.ink").write_text(BUSY)
    (tmp_path / "A.csv").write_text("k,t\n" + "".join(f"{t},{t}\n" for t in range(400_000)))
    command = [str(Path(sys.executable).with_name("inkling")), "run", "busy.ink", "-i", "A=A.csv", "-o", "out.csv"]
    command += ["--runner", "local", "--quiet"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    status, seconds, said = interrupted(process, 8)
    assert (status, said) in [(130, "interrupted\n"), (130, "Interrupt\n")]  # the latter on a slow machine
    assert seconds < LIMIT_S
    assert sorted(path.name for path in tmp_path.iterdir()) == ["A.csv", "busy.ink"]
