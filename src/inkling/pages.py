"""HTML pages from the templates of packages."""

from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined

from inkling.whole_files import write_whole


def written(page: str, path: str | PathLike[str]) -> Path:
    """Write a page to a file, and create its folder if it does not exist."""
    target = Path(path)
    write_whole(page, target)
    return target


@cache
def page_style() -> str:
    """Styles of all pages: their colors in both schemes, and tables that become lists on narrow screens."""
    return (files("inkling") / "templates" / "page.css").read_text(encoding="utf-8")


@cache
def templates(*packages: str) -> Environment:
    """The templates of some packages, from the first one that has the name; an undefined name in them is an error.

    Every template can include `page.css`, the styles of all pages.
    """
    folders = [files(package) / "templates" for package in (*packages, "inkling")]

    def read(name: str) -> str | None:
        found = next((one for folder in folders if (one := folder / name).is_file()), None)
        return None if found is None else found.read_text(encoding="utf-8")

    environment = Environment(
        loader=FunctionLoader(read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["count"] = lambda number: f"{number:,}"
    environment.filters["score"] = _score
    return environment


def _score(value: float | int | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
