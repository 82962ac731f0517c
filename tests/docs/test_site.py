"""The documentation site has every page, and loads nothing from other servers."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import inkling

ROOT = Path(__file__).parents[2]
NAVIGATION = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]
LOADED = re.compile(r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?([^"' >]+)|<link\b[^>]*\bhref=["']?([^"' >]+)""")


@pytest.fixture(scope="module")
def stage() -> ModuleType:
    spec = importlib.util.spec_from_file_location("stage", ROOT / "docs" / "_site" / "stage.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sources(stage: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "sources"
    stage.stage(folder)
    return folder


def listed(items: list[object]) -> Iterator[str]:
    """The pages of the navigation in their order."""
    for item in items:
        match item:
            case str():
                yield item
            case list():
                yield from listed(item)
            case dict():
                yield from listed(list(item.values()))


def test_the_navigation_lists_every_page_of_the_documentation_once() -> None:
    named = list(listed(NAVIGATION))
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert len(named) == len(set(named))
    assert pages - set(named) == set()


def test_the_navigation_names_pages_that_exist(sources: Path) -> None:
    assert [page for page in listed(NAVIGATION) if not (sources / page).exists()] == []


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("docs/how-to/a.md", "[x](../../examples/port/port.ink)", "[x](../project/examples/port/port.ink.md)"),
        ("docs/how-to/a.md", "[x](../../examples/port/README.md#top)", "[x](../project/examples/port/README.md#top)"),
        ("docs/how-to/a.md", "[x](../reference/api.md#errors)", "[x](../reference/api.md#errors)"),
        ("README.md", "[x](docs/how-to/README.md)", "[x](../how-to/README.md)"),
        ("CONTRIBUTING.md", "[x](docs/decisions/)", "[x](../decisions/README.md)"),
        ("README.md", "[x](https://example.org/a) [y](#z)", "[x](https://example.org/a) [y](#z)"),
        ("README.md", "`[x](docs)`", "`[x](docs)`"),
        ("README.md", "```text\n[x](docs)\n```", "```text\n[x](docs)\n```"),
        ("README.md", "```ink a.ink\nEVENT\n```", '```ink title="a.ink"\nEVENT\n```'),
        ("README.md", r"| `A \| B` |", "| `A | B` |"),
    ],
)
def test_a_page_is_prepared_for_the_site(stage: ModuleType, page: str, text: str, expected: str) -> None:
    assert stage.staged(page, text) == expected


def test_every_public_name_is_in_the_python_reference(stage: ModuleType) -> None:
    named = re.findall(r"^::: inkling\.(\w+)$", stage.python_api(), re.MULTILINE)
    assert sorted(named) == sorted(name for name in inkling.__all__ if not name.startswith("_"))
    for module, names in stage.OTHER_MODULES.items():
        assert all(hasattr(importlib.import_module(module), name) for name in names)
        assert set(names).isdisjoint(named)


@pytest.fixture(scope="module")
def site(sources: Path) -> Path:
    pytest.importorskip("zensical", reason="`make install` brings the builder of the site")
    config = (ROOT / "zensical.toml").read_text()
    config = config.replace('"out/site-source"', f'"{sources.name}"').replace('"out/site"', '"site"')
    config = config.replace('paths = ["src"]', f'paths = ["{ROOT / "src"}"]')
    (sources.parent / "zensical.toml").write_text(config)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    built = subprocess.run(command, cwd=sources.parent, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return sources.parent / "site"


@pytest.mark.long
def test_the_site_loads_nothing_from_other_servers(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    loaded = [one for page in pages for found in LOADED.findall(page.read_text()) for one in found if one]
    assert len(pages) > 100
    assert any(one.endswith(".css") for one in loaded)
    assert [one for one in loaded if re.match(r"(https?:)?//", one)] == []


@pytest.mark.long
def test_the_site_highlights_programs_and_documents_python(site: Path) -> None:
    assert re.search(r'<span class="k[dr]">STREAM</span>', (site / "tutorials" / "01-first-pattern.html").read_text())
    assert 'id="inkling.Program.run_local"' in (site / "reference" / "python-api.html").read_text()


@pytest.mark.long
def test_the_search_finds_pages_by_their_words(site: Path) -> None:
    items = json.loads((site / "search.json").read_text())["items"]
    found = [item["location"] for item in items if "watermark" in item["text"].lower()]
    assert any(location.startswith("explanation/streaming.html") for location in found)
