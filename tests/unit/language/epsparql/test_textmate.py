"""Editors highlight queries by a TextMate grammar, with the words of the parser and no others."""

import json
import re
from pathlib import Path

import pytest

from inkling.language.epsparql.expression_parser import CALLED
from inkling.language.epsparql.highlight import MORE_WORDS
from inkling.language.epsparql.term_parser import CONNECTIVES, KEYWORDS
from inkling.language.epsparql.tokens import SCANNER
from inkling.source import SourceText

EXTENSION = Path(__file__).parents[4] / "editors" / "vscode"
GRAMMAR = json.loads((EXTENSION / "syntaxes" / "epsparql.tmLanguage.json").read_text())
RULES = GRAMMAR["repository"]
TEXT = """PREFIX tr: <http://e/x#y>
# a note
SELECT ?x (?y + 1.5 AS ?z) FROM <f.ttl> ENTAILMENT RDFS
WHERE { _:b tr:p ?x ; a tr:Snow . ?x tr:q-r "Regen"@de-AT, 'it' , \"\"\"long "text\"\"\" , "PT1H"^^xsd:duration , true }
SEQ { ?x :next ?y FILTER (!BOUND(?y) && getDURATION() <= "PT1H"^^xsd:duration || ?y != 3) } WITHIN 60"""


def words(rule: str) -> set[str]:
    listed = re.search(r"\(\?:([A-Za-z|]+)\)", RULES[rule]["match"])
    assert listed is not None
    return set(listed[1].split("|"))


def test_the_words_are_those_of_the_parser() -> None:
    assert words("word-operators") == CONNECTIVES
    assert words("keywords") == (KEYWORDS - CONNECTIVES) | MORE_WORDS
    assert words("functions") == CALLED


def test_every_rule_is_used() -> None:
    used = set(re.findall(r'"include": "#([a-z-]+)"', json.dumps(GRAMMAR)))
    assert used == set(RULES)


def test_streams_are_colored_as_in_programs() -> None:
    """`(?=` finds the place where the grammar of programs begins; it ends with the declaration."""
    begin = re.compile(RULES["declared-streams"]["begin"])
    assert begin.match("STREAM triple(s TERM, p TERM, o TERM) TIME t;")
    assert not begin.match("SELECT ?stream")
    assert {"include": "source.ink"} in RULES["declared-streams"]["patterns"]


@pytest.mark.parametrize("token", SCANNER.scan(SourceText("query", TEXT), 0).tokens, ids=lambda token: token.text)
def test_a_token_of_the_parser_is_one_of_the_grammar(token: object) -> None:
    """The first rule that matches at the start of a token takes all of it, or is the quote that begins a string."""
    kind, text = token.kind, token.text  # type: ignore[attr-defined]
    if kind == "SYMBOL" and text in "(){}[];,.?":
        return
    patterns = [rule for name in GRAMMAR["patterns"] for rule in _leaves(RULES[name["include"][1:]])]
    start = token.span.start  # type: ignore[attr-defined]
    for rule in patterns:
        pattern = re.compile(rule.get("match", rule.get("begin")).replace("(?-i)", ""))
        found = pattern.match(TEXT, start)
        if found is not None and "match" in rule:
            assert found[0] == text, rule
            return
        if found is not None and kind == "LITERAL":
            assert text.startswith(found[0])
            return
    raise AssertionError(f"no rule for {text}")


def _leaves(rule: dict[str, object]) -> list[dict[str, str]]:
    return rule["patterns"] if "begin" not in rule and "match" not in rule else [rule]  # type: ignore[return-value,list-item]


def test_the_extension_offers_it_for_files_of_queries() -> None:
    contributes = json.loads((EXTENSION / "package.json").read_text())["contributes"]
    (language,) = [one for one in contributes["languages"] if one["id"] == "epsparql"]
    (grammar,) = [one for one in contributes["grammars"] if one["language"] == "epsparql"]
    assert language["extensions"] == [".epsparql", ".rq"]
    assert (EXTENSION / language["configuration"]).exists()
    assert json.loads((EXTENSION / grammar["path"]).read_text())["scopeName"] == grammar["scopeName"]
