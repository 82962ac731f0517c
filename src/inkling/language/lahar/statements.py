"""Reads one statement of a query file: a stream, a relation, or a query under its name."""

from typing import get_args

from inkling.errors import nearest
from inkling.language.lahar import terms as t
from inkling.language.lahar.queries import QueryParser

KINDS: tuple[t.Kind, ...] = get_args(t.Kind)


class StatementParser(QueryParser):
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
        self._end()
        return t.Stream(name, key, values, kind, span=self.span(0))

    def _kind(self) -> t.Kind:
        if self.at == len(self.tokens) or self.tokens[self.at].kind != "NAME":
            self.unexpected("`independent`, `markov` or `certain`")
        word = self.tokens[self.at]
        if word.text not in KINDS:
            meant = nearest(word.text, KINDS, n=1)
            self.fail(
                "INK0154",
                f"no stream is `{word.text}`",
                word.span,
                notes=("a stream is `independent`, `markov` or `certain`",),
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
            self.fail("INK0154", f"the relation `{name.text}` has no columns", self.span(0))
        path = None
        if self.peek_word("from"):
            self.at += 1
            if self.at == len(self.tokens) or self.tokens[self.at].kind != "TEXT":
                self.unexpected("a file such as `'rooms.csv'`")
            written = self.next()
            path = t.Text(written.value, span=written.span)
        self._end()
        return t.Relation(name, columns, path, span=self.span(0))

    def _columns(self, *ends: str) -> tuple[t.Column, ...]:
        if self.peek(*ends):
            return ()
        columns = [self._column()]
        while self.peek(","):
            self.at += 1
            columns.append(self._column())
        return tuple(columns)

    def _column(self) -> t.Column:
        begin = self.at
        name = self.name("a column")
        if not self.peek(":"):
            return t.Column(name, span=self.span(begin))
        self.at += 1
        type = self.name("a type such as `INTEGER`")
        return t.Column(name, t.Name(type.text.upper(), span=type.span), span=self.span(begin))

    def _asked(self) -> t.Asked:
        name = self.name("`stream`, `relation` or the name of a query")
        if not self.peek("("):
            self.unexpected("`(`", helps=(f"write `{name.text}() : …`, or the variables to tell apart in between",))
        head = self.listed("(", lambda: self.name("a variable"), ")")
        ever = self.peek_word("ever")
        self.at += ever
        self.take(":", "`:`" if ever else "`:` or `ever`")
        query = self.query()
        if self.at < len(self.tokens):
            self.unexpected("`;` or the end of the query")
        return t.Asked(name, head, ever, query, span=self.span(0))

    def _end(self) -> None:
        """A declaration ends with a semicolon, unlike a query, which ends where the next statement begins."""
        if self.at < len(self.tokens):
            self.unexpected("`;`")
        if self.after is None:
            self.fail(
                "INK0103",
                "the declaration does not end with `;`",
                self.tokens[-1].span,
                label="expected `;` after this",
            )
