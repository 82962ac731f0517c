"""The page on what was tried: each command that tries something writes a section of its own and leaves the others."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "what-was-tried.md"
_HEAD = "# What was tried\n"


def section(name: str, page: Path = PAGE) -> str:
    """What the page says under a name; nothing if there is no such section."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    found = _section(name).search(text)
    return "" if found is None else found["text"]


def write_section(name: str, text: str, page: Path = PAGE) -> None:
    """Put a text in the place of what the page says under this name, or at its end."""
    before = page.read_text(encoding="utf-8") if page.exists() else _HEAD
    marked = f"<!-- written: {name} -->\n{text.strip()}\n<!-- end: {name} -->\n"
    pattern = _section(name)
    if pattern.search(before):
        page.write_text(pattern.sub(lambda _: marked, before), encoding="utf-8")
    else:
        page.write_text(f"{before.rstrip()}\n\n{marked}", encoding="utf-8")


def _section(name: str) -> re.Pattern[str]:
    return re.compile(rf"<!-- written: {name} -->\n(?P<text>.*?)\n<!-- end: {name} -->\n", re.DOTALL)
