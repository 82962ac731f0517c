"""RDF terms: one canonical text per term, and a reason for every text that is none."""

import pytest

from inkling.model.terms import MalformedTermError, canonical, literal, read

XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<http://ex.org/a>", "<http://ex.org/a>"),
        (r"<http://ex.org/\u00e9>", "<http://ex.org/é>"),
        ("_:b1", "_:b1"),
        ("'a'", '"a"'),
        ('"""a "quoted"\nline"""', r'"a \"quoted\"\nline"'),
        (r'"tab\tand é \U0001F980"', '"tab\\tand é 🦀"'),
        ('"chat"@FR', '"chat"@fr'),
        (f'"x"^^<{XSD}string>', '"x"'),
        ("007", f'"7"^^<{XSD}integer>'),
        ("-0", f'"0"^^<{XSD}integer>'),
        ("1.50", f'"1.5"^^<{XSD}decimal>'),
        ("-.5", f'"-0.5"^^<{XSD}decimal>'),
        ("1e3", f'"1.0E3"^^<{XSD}double>'),
        ("true", f'"true"^^<{XSD}boolean>'),
        (f'"1"^^<{XSD}boolean>', f'"true"^^<{XSD}boolean>'),
        (f'"+1"^^<{XSD}byte>', f'"1"^^<{XSD}byte>'),
        (f'"ten"^^<{XSD}integer>', f'"ten"^^<{XSD}integer>'),
        (f'"2020-01-01T00:00:00.10+00:00"^^<{XSD}dateTime>', f'"2020-01-01T00:00:00.1Z"^^<{XSD}dateTime>'),
        ('"P1H"^^<http://ex.org/unknown>', '"P1H"^^<http://ex.org/unknown>'),
        ("  <http://ex.org/a>\n", "<http://ex.org/a>"),
    ],
)
def test_canonical(text: str, expected: str) -> None:
    assert canonical(text) == expected
    assert canonical(expected) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://ex.org/a", "between `<` and `>`"),
        ("<a>", "absolute"),
        ("<http://ex.org/a b>", "no blanks"),
        ("<http://ex.org/a", "ends with `>`"),
        ('"a', "ends with the quote"),
        (r'"\q"', r"unknown escape `\q`"),
        (r'"\uD800"', "not a character"),
        ('"a"@', "language tag"),
        ('"a"@en_GB', "language tag"),
        ('"a"^^xsd:integer', "followed by"),
        ('"a"^^<integer>', "absolute"),
        ('"a"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>', "has a language tag"),
        ("_:", "label"),
        ("ex:a b", "RDF term"),
        ("", "RDF term"),
    ],
)
def test_malformed(text: str, reason: str) -> None:
    with pytest.raises(MalformedTermError, match=reason.replace("\\", "\\\\")):
        canonical(text)


def test_a_text_is_read_as_it_was_written() -> None:
    for text in ("", 'a"b\\c', "line\nnext\r\t\b\f", "\x00\x7f", "é🦀"):
        assert read(literal(text)).text == text
        assert canonical(literal(text)) == literal(text)
