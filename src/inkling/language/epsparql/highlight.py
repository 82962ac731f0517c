"""Syntax highlighting of EP-SPARQL queries for Pygments: in terminals, notebooks and on the documentation site.

>>> [(str(kind), text) for kind, text in EpSparqlLexer().get_tokens("SEQ { ?x a :Snow }") if text.strip()][:4]
[('Token.Operator.Word', 'SEQ'), ('Token.Punctuation', '{'), ('Token.Name.Variable', '?x'), ('Token.Keyword', 'a')]
"""

from collections.abc import Iterator

from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace, _TokenType

from inkling.language.epsparql.expression_parser import CALLED
from inkling.language.epsparql.reader import end_of_declarations
from inkling.language.epsparql.term_parser import CONNECTIVES, KEYWORDS
from inkling.language.epsparql.tokens import SCANNER
from inkling.language.highlight import InkLexer
from inkling.language.kit.scanning import RawToken
from inkling.source import SourceText

_PUNCTUATION = "(){}[];,."
MORE_WORDS = frozenset({"DISTINCT", "REDUCED", "ENTAILMENT", "RDFS"})
_KINDS = {
    "IRI": Name.Label,
    "VARIABLE": Name.Variable,
    "BLANK": Name.Label,
    "PREFIXED": Name.Tag,
    "LANGUAGE": Name.Attribute,
    "NUMBER": Number,
    "LITERAL": String,
}


class EpSparqlLexer(Lexer):
    """Colors a file of EP-SPARQL queries, and its declarations as in a program."""

    name = "EP-SPARQL"
    aliases = ("epsparql",)
    filenames = ("*.epsparql",)

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Every character of the text once, in order: its position, its kind, the text of its token."""
        source = SourceText("<highlighted>", text)
        at = end_of_declarations(source)
        yield from InkLexer().get_tokens_unprocessed(text[:at])
        scan = SCANNER.scan(source, at)
        found = [(comment.span, Comment.Single) for comment in scan.comments]
        found += [(token.span, _kind(token)) for token in scan.tokens]
        for span, kind in sorted(found, key=lambda one: one[0]):
            yield from _between(text, at, span.start)
            yield span.start, kind, text[span.start : span.end]
            at = span.end
        yield from _between(text, at, len(text))


def _between(text: str, start: int, end: int) -> Iterator[tuple[int, _TokenType, str]]:
    """What the scanner skipped: space, and characters that it cannot read."""
    for at in range(start, end):
        yield at, Whitespace if text[at].isspace() or text[at] == "\ufeff" else Error, text[at]


def _kind(token: RawToken) -> _TokenType:
    if token.kind == "SYMBOL":
        return Punctuation if token.text in _PUNCTUATION else Operator
    if token.kind != "NAME":
        return _KINDS[token.kind]
    word = token.text.upper()
    if word in CONNECTIVES:
        return Operator.Word
    if word in CALLED:
        return Name.Function
    if word in ("TRUE", "FALSE"):
        return Keyword.Constant
    return Keyword if word in KEYWORDS or word in MORE_WORDS or token.text == "a" else Name
