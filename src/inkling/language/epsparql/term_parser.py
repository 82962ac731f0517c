"""Parses terms of RDF: IRIs, literals and variables, and the names without a prefix that the thesis prints."""

from typing import NoReturn, cast, get_args
from urllib.parse import urljoin

from inkling.errors import nearest
from inkling.language.epsparql import terms as t
from inkling.language.epsparql.other_dialects import BAD_CLAUSES
from inkling.language.epsparql.prefixes import WELL_KNOWN, Prologue, is_relative
from inkling.language.epsparql.tokens import unescaped
from inkling.language.kit.cursor import Cursor, Number
from inkling.language.kit.scanning import RawToken
from inkling.source import Span

CONNECTIVES = frozenset(one for one in get_args(t.Connective) if one)
OPENING = ("REGISTER", "PREFIX", "BASE", "SELECT", "CONSTRUCT", "ASK", "DESCRIBE")
KEYWORDS = frozenset((*OPENING, *CONNECTIVES, "WHERE", "FROM", "NAMED", "FILTER", "GRAPH", "WITHIN", "AS", "QUERY"))


class TermParser(Cursor):
    """Terms and keywords; keywords may be written in small letters."""

    __slots__ = ("known",)
    known: Prologue

    def _variable(self) -> t.Variable:
        token = self.next()
        return t.Variable(token.text[1:], span=token.span)

    def _constant(self, *, is_term: bool) -> t.Constant | None:
        """An IRI or a literal, if one comes next."""
        begin = self.at
        token = self.tokens[self.at]
        if token.is_symbol("-", "+") and self.at + 1 < len(self.tokens) and is_term:
            following = self.tokens[self.at + 1]
            if following.kind == "NUMBER":
                self.at += 1
                sign = "-" if token.text == "-" else ""
                number = self.number()
                return Number(sign + number.written, span=self.span(begin))
        match token.kind:
            case "NUMBER":
                return self.number()
            case "LITERAL":
                return self._text()
            case "NAME" if token.text.lower() in ("true", "false"):
                self.at += 1
                return t.Truth(token.text.lower() == "true", span=token.span)
            case "IRI" | "PREFIXED":
                return self._iri()
            case "NAME" if is_term and not self._is_keyword(token):
                return self._iri()
            case _:
                return None

    def _text(self) -> t.Text:
        begin = self.at
        token = self.next()
        value = unescaped(token.text)
        if value is None:
            self.fail("INK0104", "a string with an unknown escape", token.span, helps=("write `\\\\` for a backslash",))
        if not self.is_at_end and self.tokens[self.at].kind == "LANGUAGE":
            language = self.next().text[1:].lower()
            return t.Text(value, language, span=self.span(begin))
        if self.peek("^^"):
            self.at += 1
            token = self.token("a type such as `xsd:duration`")
            if token.kind not in ("IRI", "PREFIXED"):
                self.unexpected("a type such as `xsd:duration`")
            return t.Text(value, None, self._iri(), span=self.span(begin))
        return t.Text(value, span=token.span)

    def _iri(self) -> t.Iri:
        """An IRI with its prefix or base; `tr: Snow` with a space and a bare name, as the thesis prints them."""
        begin = self.at
        token = self.next()
        if token.kind == "IRI":
            written = token.text[1:-1]
            if is_relative(written):
                self._relative(token.text, token.span)
                return t.Iri(token.text, urljoin(cast("str", self.known.base), written), span=token.span)
            return t.Iri(token.text, written, span=token.span)
        if token.kind == "NAME":
            if "" in self.known.prefixes:
                return t.Iri(":" + token.text, self.known.prefixes[""] + token.text, span=token.span)
            self._relative(token.text, token.span)
            iri = urljoin(cast("str", self.known.base), token.text)
            return t.Iri(f"<{token.text}>", iri, span=token.span)
        prefix, local = token.text.split(":", 1)
        if not local and not self.is_at_end and self.tokens[self.at].kind == "NAME":
            following = self.tokens[self.at]
            if not self._is_keyword(following):
                local = self.next().text
        if prefix not in self.known.prefixes:
            self._unknown_prefix(prefix, token.span)
        return t.Iri(f"{prefix}:{local}", self.known.prefixes[prefix] + local, span=self.span(begin))

    def _relative(self, written: str, span: Span) -> None:
        if self.known.base is None:
            self.fail(
                "INK0170",
                f"`{written}` is relative, but the query has no base",
                span,
                helps=("write `BASE <http://example.org/>` before the query, or the IRI in full",),
            )

    def _unknown_prefix(self, prefix: str, span: Span) -> NoReturn:
        known = sorted(self.known.prefixes)
        meant = nearest(prefix, known, n=1) if prefix not in WELL_KNOWN else []
        iri = WELL_KNOWN.get(prefix, "http://example.org/")
        self.fail(
            "INK0170",
            f"unknown prefix `{prefix}:`",
            span,
            helps=tuple(f"did you mean `{one}:`?" for one in meant)
            or (f"declare it before the query: `PREFIX {prefix}: <{iri}>`",),
        )

    def _is_called(self) -> bool:
        return self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].is_symbol("(")

    def _is_keyword(self, token: RawToken) -> bool:
        word = token.text.upper()
        return token.kind == "NAME" and token.text != "a" and (word in KEYWORDS or word in BAD_CLAUSES)

    def _misplaced(self) -> None:
        """Reports a clause that EP-SPARQL does not have, or has elsewhere."""
        if self.is_at_end or self.tokens[self.at].kind != "NAME":
            return
        token = self.tokens[self.at]
        word = token.text.upper()
        if word in BAD_CLAUSES:
            self._other_dialect()
        if word == "FILTER":
            self.fail(
                "INK0173",
                "`FILTER` outside of a group",
                token.span,
                helps=("write it after a group or in its braces: `WHERE { ?a ex:p ?b FILTER (?b > 1) }`",),
            )

    def _other_dialect(self) -> NoReturn:
        token = self.tokens[self.at]
        word = token.text.upper()
        following = self.tokens[self.at + 1].text.upper() if self.at + 1 < len(self.tokens) else ""
        phrase = f"{word} {following}" if f"{word} {following}" in BAD_CLAUSES else word
        helped = self._rewritten(phrase) or BAD_CLAUSES[phrase]
        self.fail("INK0172", f"`{phrase}` is not a part of EP-SPARQL", token.span, helps=(helped,))

    def _rewritten(self, phrase: str) -> str | None:
        """What to write instead of a clause, with its own words; None if it is not simple enough."""
        begin = self.at + len(phrase.split())
        if phrase == "BIND":
            computed = self._bracketed(begin)
            return f"compute it where it is selected: `SELECT {computed}`" if computed else None
        if phrase == "VALUES" and begin < len(self.tokens) and self.tokens[begin].kind == "VARIABLE":
            tested, values = self.tokens[begin].text, self._bracketed(begin + 1).strip("{} ").split()
            if values:
                return (
                    f"write `FILTER ({' || '.join(f'{tested} = {one}' for one in values)})`, or join groups with UNION"
                )
        if phrase in ("MINUS", "NOT EXISTS"):
            group = self._bracketed(begin)
            end = self._end_of(begin) or 0
            before = {one.text for one in self.tokens[: self.at] if one.kind == "VARIABLE"}
            inside = [one.text for one in self.tokens[begin:] if one.kind == "VARIABLE" and one.span.end <= end]
            new = [one for one in inside if one not in before]
            if group and new:
                return f"write `OPTIONAL {group} FILTER (!BOUND({new[0]}))`"
        return None

    def _bracketed(self, begin: int) -> str:
        """The text of brackets and what they contain, on one line; empty if there are none."""
        end = self._end_of(begin)
        return "" if end is None else " ".join(self.source.text[self.tokens[begin].span.start : end].split())

    def _end_of(self, begin: int) -> int | None:
        """Where the brackets that begin at a token end in the text."""
        depth = 0
        for token in self.tokens[begin:]:
            depth += token.is_symbol("(", "{") - token.is_symbol(")", "}")
            if depth == 0:
                return token.span.end if token.is_symbol(")", "}") else None
        return None

    def _peek(self, *words: str) -> bool:
        if self.is_at_end:
            return False
        token = self.tokens[self.at]
        return token.kind == "NAME" and token.text.upper() in words
