"""HTML pages made from templates that come with the package."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined


def written(page: str, path: str | PathLike[str]) -> Path:
    """Write a page, making its folder when there is none."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8", newline="\n")
    return target


def templates(read: Callable[[str], str]) -> Environment:
    """Templates that are read by name; a name that a template does not know is an error."""
    return Environment(
        loader=FunctionLoader(read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
