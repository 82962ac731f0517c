"""Syntax highlighting of `.ink` programs for Pygments: in terminals, notebooks and on the documentation site.

The lexer asks the parser which words are keywords: in `KEY key`, the first word is a keyword and the second a name.
Text that does not parse, such as a fragment of a program in the documentation, is colored word by word; there, keywords
are recognized in capitals only.

>>> [(str(kind), text) for kind, text in InkLexer().get_tokens("KEY key") if text.strip()]
[('Token.Keyword', 'KEY'), ('Token.Name', 'key')]
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace, _TokenType

from inkling.language.front_ends import ALSO, NOTATIONS
from inkling.language.kit.scanning import RawToken
from inkling.language.parser.program import STATEMENT_WORDS
from inkling.language.parser.tokens import SCANNER, keywords, read
from inkling.language.syntax import RELATIONS, TIME_UNITS
from inkling.source import SourceText, Span

OPERATORS = frozenset({"AND", "OR", "NOT", "IN", "IS", "PAR", "EXCEPT", *RELATIONS})
UNITS = frozenset({"POINTS", "EVENTS", *TIME_UNITS, *(unit.removesuffix("S") for unit in TIME_UNITS)})
CONSTANTS = frozenset({"TRUE", "FALSE", "NULL"})
_PUNCTUATION = "()[]{},;."
_KINDS = {
    "INTEGER": Number.Integer,
    "DECIMAL": Number.Float,
    "STRING": String.Single,
    "QUOTED": Name,
    "FOREIGN": Error,  # an operator of another language, such as `==`
}


class InkLexer(Lexer):
    """Colors a program of inkling."""

    name = "inkling"
    aliases = ("ink",)
    filenames = ("*.ink",)
    mimetypes = ("text/x-inkling",)

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Every character of the text once, in order: its position, its kind, the text of its token."""
        scan = SCANNER.scan(SourceText("<highlighted>", text))
        found: list[tuple[Span, _TokenType]] = [(comment.span, Comment.Single) for comment in scan.comments]
        for statement in _statements(scan.tokens):
            found += zip((token.span for token in statement), _kinds(statement), strict=True)
        at = 0
        for span, kind in sorted(found, key=lambda one: one[0]):
            yield from _between(text, at, span.start)
            yield span.start, kind, text[span.start : span.end]
            at = span.end
        yield from _between(text, at, len(text))


OF_OTHER_NOTATIONS = {".ele": "prolog", ".epsparql": "sparql", ".rq": "sparql"}
"""Lexers of Pygments that suit other notations; the rest is plain text."""


def lexer_of(name: str) -> Lexer:
    """The lexer of a program, by the suffix of its file.

    >>> lexer_of("rules.ele").name, lexer_of("<string>").name
    ('Prolog', 'inkling')
    """
    suffix = PurePath(name).suffix.lower()
    if suffix in NOTATIONS or suffix in ALSO:
        return get_lexer_by_name(OF_OTHER_NOTATIONS.get(suffix, "text"), stripnl=False)
    return InkLexer(stripnl=False)


def _between(text: str, start: int, end: int) -> Iterator[tuple[int, _TokenType, str]]:
    """What the scanner skipped: space, and characters that it cannot read."""
    for at in range(start, end):
        yield at, Whitespace if text[at].isspace() or text[at] == "\ufeff" else Error, text[at]


def _statements(tokens: Sequence[RawToken]) -> Iterator[Sequence[RawToken]]:
    begin = 0
    for idx, token in enumerate(tokens):
        if token.is_symbol(";"):
            yield tokens[begin : idx + 1]
            begin = idx + 1
    yield tokens[begin:]


def _kinds(statement: Sequence[RawToken]) -> Iterator[_TokenType]:
    ended = bool(statement) and statement[-1].is_symbol(";")
    terminals = read(statement[:-1] if ended else statement).terminals
    for idx, token in enumerate(statement):
        if token.kind == "WORD":
            is_keyword = terminals[idx] != "NAME" if idx < len(terminals) else _looks_like_keyword(token)
            yield _keyword(token.upper) if is_keyword else _name(statement, idx)
        elif token.kind == "SYMBOL":
            yield Punctuation if token.text in _PUNCTUATION else Operator
        else:
            yield _KINDS[token.kind]


def _looks_like_keyword(token: RawToken) -> bool:
    return token.text in keywords() or token.text in RELATIONS or token.text == "_"


def _keyword(word: str) -> _TokenType:
    if word in OPERATORS:
        return Operator.Word
    if word in CONSTANTS:
        return Keyword.Constant
    return Keyword.Declaration if word in STATEMENT_WORDS else Keyword


def _name(statement: Sequence[RawToken], idx: int) -> _TokenType:
    """A declared name, a column's type, a unit, a function, or any other name."""
    before = statement[idx - 1] if idx else None
    if before is not None and idx == 1 and before.upper in STATEMENT_WORDS:
        return Name.Class
    if before is not None and before.kind in ("INTEGER", "DECIMAL") and statement[idx].upper in UNITS:
        return Keyword.Type
    if before is not None and before.kind in ("WORD", "QUOTED") and _declares_columns(statement, idx):
        return Keyword.Type
    return Name.Function if idx + 1 < len(statement) and statement[idx + 1].is_symbol("(") else Name


def _declares_columns(statement: Sequence[RawToken], idx: int) -> bool:
    """Whether a token stands between the first parentheses of a STREAM or a TABLE."""
    if statement[0].upper not in ("STREAM", "TABLE"):
        return False
    return not any(token.is_symbol(")") for token in statement[:idx])
