"""Goes through the tokens of one statement and says what was expected where something else stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from inkling.errors import ProgramError
from inkling.language.lahar import terms as t
from inkling.language.lahar.scanner import RawToken
from inkling.source import SourceText, Span

Part = TypeVar("Part")

WORDS = frozenset({"sigma", "and", "or", "not", "true", "ever", "stream", "relation"})
DEEPEST_NESTING = 100
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_LARGEST = 2**63 - 1
_LARGEST_DECIMAL = 1e300


@dataclass(slots=True)
class Cursor:
    source: SourceText
    tokens: tuple[RawToken, ...]
    after: RawToken | None  # the `;` that ends these tokens
    at: int = 0
    depth: int = 0
    opened: list[RawToken] = field(default_factory=list)

    def peek(self, *symbols: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].is_symbol(*symbols)

    def peek_word(self, *words: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].is_word(*words)

    def next(self) -> RawToken:
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, symbol: str, expected: str = "") -> None:
        if not self.peek(symbol):
            self.unexpected(expected or f"`{symbol}`")
        self.at += 1

    def name(self, expected: str) -> t.Name:
        if self.at == len(self.tokens) or self.tokens[self.at].kind != "NAME" or self.tokens[self.at].text == "_":
            self.unexpected(expected)
        token = self.tokens[self.at]
        if token.text in WORDS:
            self.fail("INK0121", f"`{token.text}` is a word of queries and no name", token.span)
        self.at += 1
        return t.Name(token.text, span=token.span)

    def term(self) -> t.Term:
        if self.at == len(self.tokens) or self.tokens[self.at].kind == "SYMBOL":
            self.unexpected("a variable, a text, a number or `_`")
        token = self.tokens[self.at]
        match token.kind:
            case "TEXT":
                self.at += 1
                return t.Text(token.value, span=token.span)
            case "NUMBER":
                self.at += 1
                return self._number(token)
            case _ if token.text == "_":
                self.at += 1
                return t.Anything(span=token.span)
            case _:
                return self.name("a variable")

    def terms(self) -> tuple[t.Term, ...]:
        return self.listed("(", self.term, ")")

    def listed(self, opening: str, read: Callable[[], Part], closing: str) -> tuple[Part, ...]:
        """Parts between brackets with commas between them, perhaps none."""
        self.open(opening)
        items: list[Part] = []
        if not self.peek(closing):
            items.append(read())
            while self.peek(","):
                self.at += 1
                items.append(read())
        self.close(closing, f"`,` or `{closing}`")
        return tuple(items)

    def open(self, bracket: str) -> None:
        self.take(bracket)
        self.opened.append(self.tokens[self.at - 1])

    def close(self, bracket: str, expected: str = "") -> None:
        self.take(bracket, expected)
        self.opened.pop()

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            self.fail("INK0119", f"nested more than {DEEPEST_NESTING} levels deep", self.tokens[self.at - 1].span)

    def span(self, begin: int) -> Span:
        return self.tokens[begin].span.to(self.tokens[self.at - 1].span)

    def unexpected(self, expected: str, helps: tuple[str, ...] = ()) -> NoReturn:
        if self.at == len(self.tokens):
            self._ended(expected)
        token = self.tokens[self.at]
        if token.is_symbol(")", "]", "}") and (not self.opened or _CLOSING[self.opened[-1].text] != token.text):
            against = f"; `{self.opened[-1].text}` is open" if self.opened else ""
            self.fail("INK0105", f"`{token.text}` closes nothing{against}", token.span)
        self.fail("INK0101", f"expected {expected}, found `{token.text}`", token.span, helps=helps)

    def fail(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        label: str = "",
        notes: tuple[str, ...] = (),
        helps: tuple[str, ...] = (),
    ) -> NoReturn:
        raise ProgramError.of(code, message, span=span, source=self.source, label=label, notes=notes, helps=helps)

    def _ended(self, expected: str) -> NoReturn:
        if self.opened:
            bracket = self.opened[-1]
            self.fail(
                "INK0105",
                f"`{bracket.text}` is not closed",
                bracket.span,
                label=f"expected `{_CLOSING[bracket.text]}` before the end of the statement",
            )
        if self.after:
            self.fail("INK0102", f"expected {expected}, found `{self.after.text}`", self.after.span)
        end = self.tokens[-1].span.end if self.tokens else len(self.source.text.rstrip())
        self.fail("INK0102", f"expected {expected}, found the end", Span(end, end))

    def _number(self, token: RawToken) -> t.Number:
        number = t.Number(token.text, span=token.span)
        if number.size > (_LARGEST if isinstance(number.size, int) else _LARGEST_DECIMAL):
            self.fail("INK0116", f"the number {token.text[:20]} is too large", token.span)
        return number
