"""Queries are highlighted by Pygments: declarations as in a program, the rest by the tokens of queries."""

import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from pygments.token import Comment, Error, Keyword, Name, Operator, String
from tests.kit.documents import blocks

from inkling.language.epsparql.highlight import EpSparqlLexer

ROOT = Path(__file__).parents[4]
FILES = [*sorted((ROOT / "examples").rglob("*.epsparql")), *sorted((ROOT / "tests" / "golden").rglob("*.epsparql"))]
TEXTS = [path.read_text() for path in FILES] + [
    block.text
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for block in blocks(page.read_text())
    if block.language == "epsparql"
]


def test_every_character_once_and_no_errors() -> None:
    assert len(TEXTS) > 10
    for text in TEXTS:
        tokens = list(EpSparqlLexer(stripnl=False, ensurenl=False).get_tokens(text))
        assert "".join(value for _, value in tokens) == text
        assert not [value for kind, value in tokens if kind is Error]


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("SEQ", Operator.Word),
        ("select", Keyword),
        ("ENTAILMENT", Keyword),
        ("getDURATION", Name.Function),
        ("?x", Name.Variable),
        ("tr:Snow", Name.Tag),
        ('"PT1H"', String),
        ("# note", Comment.Single),
        ("STREAM", Keyword.Declaration),
    ],
)
def test_kinds(word: str, kind: object) -> None:
    text = """STREAM triple(s TERM, p TERM, o TERM) TIME t;
    # note
    select ?x FROM <f.ttl> ENTAILMENT RDFS WHERE { ?x a tr:Snow } SEQ { ?x tr:p 5 }
    FILTER (getDURATION() < "PT1H"^^xsd:duration)"""
    assert (kind, word) in list(EpSparqlLexer().get_tokens(text))


def test_pygments_finds_the_lexer() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pygments.lexers"]
    module, _, name = declared["epsparql"].partition(":")
    assert getattr(import_module(module), name) is EpSparqlLexer
