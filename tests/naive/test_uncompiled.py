"""Kernels are plain Python that Numba may compile: without it they say the same, only slower."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SMALL = (
    "tests/golden/test_golden.py::test_matches_are_those_of_the_definition",
    "tests/naive/test_automaton_kernel.py::test_small_kernels_eq_definition",
    "tests/naive/test_automaton_kernel.py::test_more_room",
    "tests/oracles/test_imprecise_examples.py",
    "tests/unit/automata/test_state.py",
    "tests/unit/evaluators/test_sliding_kernels.py::test_windows_stay_in_their_group_and_in_their_time",
    "tests/unit/infer/test_exact.py::test_filtered_and_smoothed_marginals_of_joe",
    "tests/unit/infer/test_exact.py::test_likeliest_states_need_not_be_a_path_and_the_likeliest_path_is",
)
"""Tests of kernels with little to do, compared with the definition or with numbers of others."""


def without_compiler(*command: str) -> str:
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "quick"}
    ran = subprocess.run([sys.executable, *command], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_kernels_say_the_same() -> None:
    said = without_compiler("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *SMALL)
    assert " passed" in said
    assert "skipped" not in said


def test_a_little_of_everything_runs_without_a_warning() -> None:
    """What an installation compiles in advance: every kind of stream, sampled and counted, at once and pushed."""
    without_compiler("-W", "error", "-m", "inkling.cli.warm")
