"""Every link in the repository's Markdown leads to a file or folder that exists, and to a heading that exists there."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(path for folder in ("docs", "editors", "examples", "tests") for path in sorted((ROOT / folder).rglob("*.md"))),
]
MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})
EXPLICIT = re.compile(r"""<a (?:id|name)=["']([^"']+)["']""")


def slug(heading: str) -> str:
    """The anchor of a heading, as on the site and on code hosts.

    >>> slug("PER MATCH, `ON`"), slug("What a stream keeps?")
    ('per-match-on', 'what-a-stream-keeps')
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def anchors(path: Path) -> frozenset[str]:
    """The anchors of a page: those of its headings, numbered where they repeat, and those written out."""
    text = path.read_text(encoding="utf-8")
    found: list[str] = []
    tokens = MARKDOWN.parse(text)
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open":
            base = slug("".join(child.content for child in content.children or ()))
            count = sum(one == base or re.fullmatch(rf"{re.escape(base)}-\d+", one) is not None for one in found)
            found.append(f"{base}-{count}" if base in found else base)
    return frozenset(found) | set(EXPLICIT.findall(text))


def targets(text: str) -> list[str]:
    """The links and images of a page that do not lead to other servers."""
    attributes = {"link_open": "href", "image": "src"}
    found = [
        str(child.attrGet(attributes[child.type]))
        for token in MARKDOWN.parse(text)
        for child in token.children or ()
        if child.type in attributes
    ]
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def broken(path: Path, text: str) -> list[str]:
    wrong: list[str] = []
    for target in targets(text):
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        is_there = file.exists() and file.is_relative_to(ROOT)
        if not is_there or (anchor and (file.suffix != ".md" or anchor not in anchors(file))):
            wrong.append(target)
    return wrong


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    assert broken(path, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "target",
    ["nowhere.md", "README.md#nowhere", "#nowhere", "../../../elsewhere.md", "glossary.md/x", "../reference/#grammar"],
)
def test_a_broken_link_is_found(target: str) -> None:
    assert broken(ROOT / "docs" / "reference" / "README.md", f"# Top\n\n[text]({target}) and `[code](none.md)`") == [
        target
    ]


def test_a_repeated_heading_has_a_number(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('# A\n\n## B\n\n## B\n\n<a id="c"></a>\n')
    assert anchors(page) == {"a", "b", "b-1", "c"}
