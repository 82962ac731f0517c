"""Reads a query file: cuts it into tokens, the tokens into statements, and parses each."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeGuard, cast, get_args

from inkling.errors import Diagnostic, nearest
from inkling.language.kit.cursor import Cursor
from inkling.language.kit.reading import Chunk, read_statements
from inkling.language.kit.scanning import (
    DASHED_COMMENTS,
    DASHED_TOKENS,
    RawToken,
    Scanner,
    unclosed_quote,
    unexpected_character,
)
from inkling.language.lahar import terms as t
from inkling.language.syntax import Ident
from inkling.source import SourceText

_TOKEN = re.compile(
    DASHED_TOKENS
    + r"""
    | (?P<SYMBOL>   != | <= | >= | [;:,|+=<>(){}\[\]-] )
    """,
    re.VERBOSE,
)
_INSTEAD = {
    **DASHED_COMMENTS,
    '"': "write strings in single quotes: `'Joe'`",
    "∧": "write `and`",
    "&": "write `and`",
    "∨": "write `or`",
    "¬": "write `not`",
    "!": "write `not`, or `!=`",
    "≠": "write `!=`",
    "≤": "write `<=`",
    "≥": "write `>=`",
    "⊥": "leave `⊥` out: a time without a row has no event",
}


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    if source.text[offset] == "'":
        return unclosed_quote(source, offset)
    return unexpected_character(source, offset, _INSTEAD)


SCANNER = Scanner(_TOKEN, _unreadable)


def read_queries(source: SourceText) -> t.QueryFile:
    """The statements of a file; raises `ProgramError` with one diagnostic for each wrong statement."""
    scanned = SCANNER.scan(source)

    def read(chunk: Chunk) -> t.Statement:
        return QueryParser(source, chunk.tokens, chunk.after).statement()

    return t.QueryFile(*read_statements(source, scanned, list(_chunks(scanned.tokens, len(source.text))), read))


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    """A semicolon may stand inside a query and behind it: a statement ends where the next one begins."""
    if not tokens:
        return
    borders = sorted({0, *_starts(tokens), len(tokens)})
    for begin, next_begin in pairwise(borders):
        inside = tokens[begin:next_begin]
        after = inside[-1] if len(inside) > 1 and inside[-1].is_symbol(";") else None
        limit = tokens[next_begin].span.start if next_begin < len(tokens) else length
        yield Chunk.of(inside[:-1] if after else inside, after, limit)


def _starts(tokens: Sequence[RawToken]) -> set[int]:
    starts: set[int] = set()
    opened: list[int] = []  # open parentheses
    head: int | None = None  # the name before the parentheses that closed last
    declares = False
    for idx, token in enumerate(tokens):
        begin: int | None = None
        if token.is_symbol("("):
            opened.append(idx)
        elif token.is_symbol(")") and opened:
            before = opened.pop() - 1
            head = before if before >= 0 and tokens[before].kind == "NAME" else None
        elif token.is_word("stream", "relation") and idx + 1 < len(tokens) and tokens[idx + 1].kind == "NAME":
            begin, declares = idx, True
        elif token.is_symbol(";") and declares:
            begin, declares = idx + 1, False
        elif token.is_symbol(":") and idx:
            begin = head if _ends_a_head(tokens[idx - 1]) else idx - 1 if not opened else None
        if begin is not None:
            starts.add(begin)
            opened, head = [], None
    return starts


def _ends_a_head(token: RawToken) -> bool:
    return token.is_symbol(")") or token.is_word("ever")


def _is_conjunction(node: t.Condition) -> TypeGuard[t.Joined]:
    return isinstance(node, t.Joined) and node.op == "and"


COMPARATORS: tuple[t.Comparator, ...] = get_args(t.Comparator)
KINDS: tuple[t.Kind, ...] = get_args(t.Kind)
WORDS = frozenset({"sigma", "and", "or", "not", "true", "AND", "OR", "NOT", "ever", "stream", "relation"})


class QueryParser(Cursor):
    """Parses one statement by recursive descent."""

    __slots__ = ()

    def statement(self) -> t.Statement:
        if self.peek_word("stream"):
            return self._stream()
        if self.peek_word("relation"):
            return self._relation()
        return self._asked()

    def _stream(self) -> t.Stream:
        self.at += 1
        name = self.name("the name of a stream")
        self.open("(")
        key = self._columns("|", ")")
        values: tuple[t.Column, ...] = ()
        if self.peek("|"):
            self.at += 1
            values = self._columns(")")
        self.close(")", "`,`, `|` or `)`")
        kind = self._kind()
        time = self._named("time")
        probability = self._named("probability") if kind != "certain" else None
        self._end()
        return t.Stream(name, key, values, kind, time, probability, span=self.span(0))

    def _named(self, what: str) -> Ident | None:
        """The name of the column that holds the time or the probability, if it is given."""
        if not self.peek_word(what):
            return None
        self.at += 1
        return self.name("a column")

    def _kind(self) -> t.Kind:
        expected = "`independent`, `markov` or `certain`"
        word = self.token(expected)
        if word.kind != "NAME":
            self.unexpected(expected)
        if word.text not in KINDS:
            meant = nearest(word.text, KINDS, n=1)
            self.fail(
                "INK0154",
                f"unknown kind of stream `{word.text}`",
                word.span,
                notes=("the kinds are `independent`, `markov` and `certain`",),
                helps=tuple(f"did you mean `{one}`?" for one in meant),
            )
        self.at += 1
        return word.text

    def _relation(self) -> t.Relation:
        self.at += 1
        name = self.name("the name of a relation")
        self.open("(")
        columns = self._columns(")")
        self.close(")", "`,` or `)`")
        if not columns:
            self.fail("INK0154", f"relation `{name.text}` needs at least one column", self.span(0))
        path = None
        if self.peek_word("from"):
            self.at += 1
            expected = "a file such as `'rooms.csv'`"
            if self.token(expected).kind != "TEXT":
                self.unexpected(expected)
            path = self.text()
        self._end()
        return t.Relation(name, columns, path, span=self.span(0))

    def _columns(self, *ends: str) -> tuple[t.Column, ...]:
        return () if self.peek(*ends) else self.separated(self._column)

    def _column(self) -> t.Column:
        begin = self.at
        name = self.name("a column")
        if not self.peek(":"):
            return t.Column(name, span=self.span(begin))
        self.at += 1
        type = self.name("a type such as `INTEGER`")
        return t.Column(name, Ident(type.text.upper(), span=type.span), span=self.span(begin))

    def _asked(self) -> t.NamedQuery:
        name = self.name("`stream`, `relation` or the name of a query")
        if not self.peek("("):
            self.unexpected(
                "`(`",
                helps=(
                    f"write `{name.text}() : …`, or put the variables that distinguish results between the parentheses",
                ),
            )
        head = self.listed("(", lambda: self.name("a variable"), ")")
        ever = self.peek_word("ever")
        self.at += ever
        self.take(":", "`:`" if ever else "`:` or `ever`")
        query = self.query()
        if not self.is_at_end:
            self.unexpected("`;` or the end of the query")
        return t.NamedQuery(name, head, ever, query, span=self.span(0))

    def _end(self) -> None:
        """A declaration ends with a semicolon, unlike a query, which ends where the next statement begins."""
        if not self.is_at_end:
            self.unexpected("`;`")
        if self.after is None:
            self.fail("INK0103", "a declaration ends with `;`", self.tokens[-1].span, label="expected `;` after this")

    def query(self) -> t.Query:
        begin = self.at
        first = self._part()
        parts: list[t.Query] = list(first.parts) if isinstance(first, t.Sequence) else [first]
        while self.peek(";"):
            self.at += 1
            parts.append(self._followed_by())
        return parts[0] if len(parts) == 1 else t.Sequence(tuple(parts), span=self.span(begin))

    def _followed_by(self) -> t.Query:
        begin = self.at
        part = self._part()
        if isinstance(part, t.Sequence):
            self.fail(
                "INK0150",
                "the right side of `;` must be a single goal",
                self.span(begin),
                notes=("a goal may have a condition or be repeated: `sigma[c](g)`, `(g)+<{x}, c>`",),
                helps=("a sequence is read from left to right: write `q ; r ; s`",),
            )
        if not isinstance(part, t.Plus) and t.goal_of(part) is None:
            self.fail(
                "INK0150",
                "`sigma` on the right side of `;` must select from a single goal",
                self.span(begin),
                notes=("there it selects the events that are candidates for the goal",),
                helps=("select from the whole sequence instead: `sigma[c](q ; r)`",),
            )
        return part

    def _part(self) -> t.Query:
        begin = self.at
        self.deeper()
        if self.peek_word("sigma"):
            found = self._selected()
        elif self.peek("("):
            self.open("(")
            inner = self.query()
            self.close(")", "`;` or `)`")
            found = self._repeated(inner, begin) if self.peek("+") else inner
        else:
            goal = self._goal()
            found = self._repeated(goal, begin) if self.peek("+") else goal
        self.depth -= 1
        return found

    def _selected(self) -> t.Query:
        begin = self.at
        self.at += 1
        self.open("[")
        condition = self._conditions()
        self.close("]", "`,`, `and`, `or` or `]`")
        if not self.is_at_end and self.tokens[self.at].kind == "NAME":
            return t.Selected(condition, self._goal(), span=self.span(begin))
        self.open("(")
        query = self.query()
        self.close(")", "`;` or `)`")
        return t.Selected(condition, query, span=self.span(begin))

    def _conditions(self) -> t.Condition:
        """Conditions that all hold, separated by commas."""
        begin = self.at
        items = self.separated(self.condition)
        flat = [one for item in items for one in (item.items if _is_conjunction(item) else (item,))]
        return flat[0] if len(flat) == 1 else t.Joined("and", tuple(flat), span=self.span(begin))

    def _goal(self) -> t.Goal:
        begin = self.at
        name = self.name("an event, `sigma` or `(`")
        if not self.peek("("):
            self.unexpected("`(`")
        terms = self.terms()
        return t.Goal(name, terms, span=self.span(begin))

    def _repeated(self, body: t.Query, begin: int) -> t.Plus:
        if t.goal_of(body) is None:
            self.fail(
                "INK0150",
                "only a single goal can be repeated",
                body.span,
                helps=("repeat one goal, with or without a condition: `(sigma[c](g))+<{}, true>`",),
            )
        self.at += 1
        if not self.peek("<"):
            self.unexpected(
                "`<`",
                helps=("write the variables that stay the same and the condition of each repetition: `+<{x}, true>`",),
            )
        self.open("<")
        kept = self.listed("{", lambda: self.name("a variable"), "}")
        self.take(",")
        condition = t.Truth(span=self.tokens[self.at - 1].span) if self.peek(">") else self.condition()
        self.close(">", "`and`, `or` or `>`")
        return t.Plus(body, kept, condition, span=self.span(begin))

    def condition(self) -> t.Condition:
        return self._joined("or")

    def _joined(self, op: t.Connective) -> t.Condition:
        begin = self.at
        items: list[t.Condition] = []
        while True:
            one = self._negated() if op == "and" else self._joined("and")
            items += one.items if isinstance(one, t.Joined) and one.op == op else [one]
            if not self.peek_word(op, op.upper()):
                break
            self.at += 1
        return items[0] if len(items) == 1 else t.Joined(op, tuple(items), span=self.span(begin))

    def _negated(self) -> t.Condition:
        begin = self.at
        if not self.peek_word("not", "NOT"):
            return self._atom()
        self.at += 1
        self.deeper()
        item = self._negated()
        self.depth -= 1
        return t.Negated(item, span=self.span(begin))

    def _atom(self) -> t.Condition:
        begin = self.at
        if self.peek("("):
            self.deeper()
            self.open("(")
            inner = self.condition()
            self.close(")", "`and`, `or` or `)`")
            self.depth -= 1
            return inner
        if self.peek_word("true"):
            self.at += 1
            return t.Truth(span=self.span(begin))
        if self.is_at_end or self.tokens[self.at].kind == "SYMBOL":
            self.unexpected("a condition", helps=self._help())
        left = self.term()
        if isinstance(left, Ident) and self.peek("("):
            terms = self.terms()
            if not terms:
                self.fail("INK0151", f"`{left.text}` needs at least one argument", self.span(begin))
            return t.Atom(left, terms, span=self.span(begin))
        if not self.peek(*COMPARATORS):
            self.unexpected("a comparison" if not isinstance(left, Ident) else "a comparison or `(`")
        op = cast(t.Comparator, self.next().text)
        right = self.term()
        for side in (left, right):
            if isinstance(side, t.Anything):
                self.fail("INK0153", "`_` cannot be compared: it has no value", side.span, helps=("name the variable",))
        return t.Comparison(op, left, right, span=self.span(begin))

    def _help(self) -> tuple[str, ...]:
        return ("write `true` where there is no condition",) if self.peek("]", ">") else ()

    def name(self, expected: str) -> Ident:
        token = self.token(expected)
        if token.kind != "NAME" or token.text == "_":
            self.unexpected(expected)
        if token.text in WORDS:
            self.fail("INK0121", f"`{token.text}` is a keyword", token.span)
        self.at += 1
        return Ident(token.text, span=token.span)

    def term(self) -> t.Term:
        expected = "a variable, a string, a number or `_`"
        token = self.token(expected)
        if self.peek("-"):
            self.at += 1
            return t.Anything(span=token.span)
        if token.kind == "SYMBOL":
            self.unexpected(expected)
        match token.kind:
            case "TEXT":
                return self.text()
            case "NUMBER":
                return self.number()
            case _ if token.text == "_":
                self.at += 1
                return t.Anything(span=token.span)
            case _:
                return self.name("a variable")

    def terms(self) -> tuple[t.Term, ...]:
        return self.listed("(", self.term, ")")
