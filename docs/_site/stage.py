"""Writes the sources of the documentation site: the Markdown that people read in a checkout, prepared for the builder.

- Files outside of `docs/` that a page links to, such as the README of an example or a program, become pages below
  `project/`, and links to them lead there.
- A file name after the language of a code block becomes the title of the block.
- The reference of the Python API is a page of directives for mkdocstrings, one per public name of `inkling` and of some
  of its modules.

`python docs/_site/stage.py FOLDER` writes them; `make docs` then builds the site.
"""

from __future__ import annotations

import os.path
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

import inkling

ROOT = Path(__file__).parents[2]
OUTSIDE = "project"  # the folder of the site for files that are not in docs/
PYTHON_API = "reference/python-api.md"
STARTING_PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md")
LANGUAGES = {".ink": "ink", ".epsparql": "epsparql", ".py": "python", ".json": "json", ".toml": "toml"}
FENCE = re.compile(r"^```(\w+) +(\S+)$")
CODE = re.compile(r"(`+)(?:(?!\1).)+?\1")
LINK = re.compile(r"(?<=\]\()([^)\s:]+)(?=\))")
HEADER = "# Python API\n\nThe public names of `inkling`, from their docstrings. [Python](api.md) introduces them.\n"
OTHER_MODULES = {
    "inkling.event_results": ("ArrowResults", "EventResults"),
    "inkling.errors": ("Diagnostic", "InternalError", "NotSupportedYet"),
    "inkling.report": ("ReportData", "ReportTable", "build_report", "report_data", "write_report"),
    "inkling.spark.streaming.sinks": ("ConsoleSink", "FileSink", "MemorySink", "TableSink", "read_current"),
    "inkling.forecasting.learning": ("load_model", "save_model"),
    "inkling.forecasting.calibration": ("Calibration", "Quality", "calibrate", "quality"),
    "inkling.scenarios": ("generate",),
}
"""Public names for special purposes, by module."""


def stage(target: Path) -> None:
    """Writes the sources of the site into a folder, which is emptied first."""
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.is_file() and path.suffix != ".md" and path.suffix != ".py":
            _write(target / site_path(str(path.relative_to(ROOT))), path.read_bytes())
    for path, text in pages().items():
        _write(target / site_path(path), staged(path, text).encode())
    _write(target / PYTHON_API, python_api().encode())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def staged(path: str, text: str) -> str:
    """A page of this repository as the site expects it."""
    folder, site_folder = PurePosixPath(path).parent, PurePosixPath(site_path(path)).parent

    def linked(target: str) -> str:
        file, hash_sign, anchor = target.partition("#")
        if not file:
            return target
        return os.path.relpath(site_path(resolved(folder, file)), site_folder) + hash_sign + anchor

    return rewritten(text, linked)


def rewritten(markdown: str, linked: Callable[[str], str]) -> str:
    """Markdown with other links, and with `title="…"` for file names after the language of a code block.

    >>> rewritten("[a](b.md), `[c](d.md)`", str.upper)
    '[a](B.MD), `[c](d.md)`'
    """
    lines: list[str] = []
    in_code = False
    for line in markdown.split("\n"):
        if line.startswith("```"):
            in_code = not in_code
            lines.append(FENCE.sub(r'```\1 title="\2"', line))
        elif in_code:
            lines.append(line)
        else:
            lines.append(_outside_code(line.replace("<details>", "<details markdown>"), linked))
    return "\n".join(lines)


def _outside_code(line: str, linked: Callable[[str], str]) -> str:
    pieces: list[str] = []
    at = 0
    for code in CODE.finditer(line):
        pieces += [LINK.sub(lambda found: linked(found[1]), line[at : code.start()]), code[0].replace("\\|", "|")]
        at = code.end()
    return "".join([*pieces, LINK.sub(lambda found: linked(found[1]), line[at:])])


def resolved(folder: PurePosixPath, link: str) -> str:
    """The file of this repository that a link in a folder leads to; a folder stands for its README."""
    path = os.path.normpath(folder / link)
    if (ROOT / path).is_dir():
        path = f"{path}/README.md"
    return path


def site_path(path: str) -> str:
    """Where a file of this repository is in the sources of the site.

    >>> site_path("docs/how-to/README.md"), site_path("README.md"), site_path("examples/port/port.ink")
    ('how-to/README.md', 'project/README.md', 'project/examples/port/port.ink.md')
    """
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"{OUTSIDE}/{path}" if path.endswith(".md") else f"{OUTSIDE}/{path}.md"


def pages() -> dict[str, str]:
    """All pages of the site as Markdown, by their path in the repository: those of docs/, and what they lead to."""
    found: dict[str, str] = {}
    waiting = [*STARTING_PAGES, *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")))]
    while waiting:
        path = waiting.pop()
        if path in found or not (ROOT / path).is_file() or (path.startswith("docs/") and not path.endswith(".md")):
            continue
        found[path] = _as_markdown(ROOT / path)
        if path.endswith(".md"):
            waiting += [resolved(PurePosixPath(path).parent, link) for link in links(found[path])]
    return found


def links(markdown: str) -> list[str]:
    """The files that a page links to."""
    found: list[str] = []

    def noted(target: str) -> str:
        found.append(target.partition("#")[0])
        return target

    rewritten(markdown, noted)
    return [link for link in found if link]


def _as_markdown(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    fence = "~~~~~~"
    return f"# {path.name}\n\n{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text}\n{fence}\n"


def python_api() -> str:
    """A directive of mkdocstrings for every public name, classes first; then those of modules for special purposes."""
    names = [name for name in inkling.__all__ if not name.startswith("_")]
    modules = (f"\n## {module}\n{_directives(module, names)}" for module, names in OTHER_MODULES.items())
    return HEADER + _directives("inkling", names) + "".join(modules)


def _directives(module: str, names: Sequence[str]) -> str:
    ordered = sorted(names, key=lambda name: (name[0].islower(), name))
    return "".join(f"\n::: {module}.{name}\n" for name in ordered)


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
