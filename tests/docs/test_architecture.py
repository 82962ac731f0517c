"""The map of the code names only what is there, and all packages there are."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATH = re.compile(r"`((?:src|tests|docs|examples|benchmarks)/[\w./-]*)`")


def test_every_path_exists() -> None:
    paths = PATH.findall((ROOT / "ARCHITECTURE.md").read_text())
    assert len(paths) > 40
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_package_is_named() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    packages = [path.parent for path in (ROOT / "src" / "inkling").glob("*/__init__.py")]
    assert len(packages) > 10
    assert [one.name for one in packages if f"`src/inkling/{one.name}`" not in text] == []
