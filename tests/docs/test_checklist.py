"""Every test that the checklist names exists, and every line of it has one or says what is missing."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/etalis-checklist.md"
LINES = [
    line.strip("| ").split(" | ")
    for line in PAGE.read_text().splitlines()
    if line.startswith("| ") and " | checked by" not in line
]
NAMED = sorted({name for _, checks in LINES for name in re.findall(r"`(tests/[^`]+)`", checks)})


@pytest.mark.parametrize("name", NAMED)
def test_a_named_test_exists(name: str) -> None:
    file, _, function = name.partition("::")
    functions = [node.name for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.FunctionDef)]
    assert function in functions
    assert function.startswith("test_")


def test_every_line_is_checked_or_says_what_is_missing() -> None:
    assert len(LINES) > 30
    assert [asked for asked, checks in LINES if "`tests/" not in checks and "*not yet*" not in checks] == []
