"""HTML pages from the templates of the package."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined


def written(page: str, path: str | PathLike[str]) -> Path:
    """Write a page to a file, and create its folder if it does not exist."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8", newline="\n")
    return target


def templates(read: Callable[[str], str]) -> Environment:
    """An environment for templates that are read by name; an undefined name in a template is an error."""
    return Environment(
        loader=FunctionLoader(read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
