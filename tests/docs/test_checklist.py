"""Every test and benchmark that a checklist names exists, and every line names one or says what is missing."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from benchmarks.suites import SUITES

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / f"docs/reference/{name}-checklist.md" for name in ("etalis", "wayeb", "imprecise", "lahar", "simpmatch")
]
LINES = [
    line.strip("| ").split(" | ")
    for page in PAGES
    for line in page.read_text().splitlines()
    if line.startswith("| ") and " | checked by" not in line
]
NAMED = sorted({name for _, checks in LINES for name in re.findall(r"`(tests/[^`]+)`", checks)})


@pytest.mark.parametrize("name", NAMED)
def test_a_named_test_exists(name: str) -> None:
    file, _, function = name.partition("::")
    functions = [node.name for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.FunctionDef)]
    assert function in functions
    assert function.startswith("test_")


MEASURED = re.compile(r"measured by `python -m benchmarks --only (\w+)`")
"""Speed is measured by benchmarks: a test of it would fail on a busy machine."""


def test_a_named_suite_exists() -> None:
    assert {name for _, checks in LINES for name in MEASURED.findall(checks)} <= SUITES.keys()


def test_every_line_is_checked_or_says_what_is_missing() -> None:
    assert len(LINES) > 30 + 43 + 49 + 28 + 36
    answered = [
        asked for asked, checks in LINES if re.search(r"`tests/|\*not yet\*", checks) or MEASURED.search(checks)
    ]
    assert [asked for asked, _ in LINES if asked not in answered] == []
