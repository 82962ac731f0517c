"""Parsing one statement by hand: a cursor over its tokens, with the messages of recursive descent; literal terms."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar, Unpack

from inkling.errors import ProgramError, Remarks
from inkling.language import syntax as s
from inkling.language.kit.lalr import LARGEST_INTEGER
from inkling.language.kit.scanning import CLOSING, RawToken
from inkling.language.names import written_text
from inkling.source import SourceText, Span

Item = TypeVar("Item")

DEEPEST_NESTING = 100
_CLOSING = {**CLOSING, "<": ">"}
_LARGEST_DECIMAL = 1e300  # so that kilometers of this size are finite in meters


@dataclass(frozen=True, slots=True)
class Number(s.Node):
    """`-4.5`, kept as it is written."""

    written: str

    @property
    def size(self) -> int | float:
        """The number without its sign."""
        digits = self.written.removeprefix("-")
        return int(digits) if digits.isdigit() else float(digits)

    @property
    def is_negative(self) -> bool:
        return self.written.startswith("-") and self.size != 0

    @property
    def literal(self) -> s.Expr:
        size = s.Literal(self.size, span=self.span)
        return s.Unary("-", size, span=self.span) if self.is_negative else size


@dataclass(frozen=True, slots=True)
class Text(s.Node):
    """`'Big Harbor'`"""

    value: str

    @property
    def written(self) -> str:
        """The string in single quotes."""
        return written_text(self.value)

    @property
    def literal(self) -> s.Expr:
        return s.Literal(self.value, span=self.span)


@dataclass(slots=True)
class Cursor:
    """A position `at` in the tokens of one statement, and the brackets that are open there."""

    source: SourceText
    tokens: tuple[RawToken, ...]
    after: RawToken | None  # the token that ends the statement
    at: int = 0
    depth: int = 0
    opened: list[RawToken] = field(default_factory=list)

    @property
    def is_at_end(self) -> bool:
        return self.at == len(self.tokens)

    def peek(self, *symbols: str) -> bool:
        return not self.is_at_end and self.tokens[self.at].is_symbol(*symbols)

    def peek_word(self, *words: str) -> bool:
        return not self.is_at_end and self.tokens[self.at].is_word(*words)

    def next(self) -> RawToken:
        self.at += 1
        return self.tokens[self.at - 1]

    def token(self, expected: str) -> RawToken:
        """The current token; the cursor does not move."""
        if self.is_at_end:
            self.unexpected(expected)
        return self.tokens[self.at]

    def take(self, symbol: str, expected: str = "") -> None:
        if not self.peek(symbol):
            self.unexpected(expected or f"`{symbol}`")
        self.at += 1

    def number(self) -> Number:
        token = self.next()
        number = Number(token.text, span=token.span)
        if number.size > (LARGEST_INTEGER if isinstance(number.size, int) else _LARGEST_DECIMAL):
            self.fail("INK0116", f"the number {token.text[:20]} is too large", token.span)
        return number

    def text(self) -> Text:
        token = self.next()
        return Text(token.value, span=token.span)

    def separated(self, read: Callable[[], Item]) -> tuple[Item, ...]:
        """At least one item, separated by commas."""
        items = [read()]
        while self.peek(","):
            self.at += 1
            items.append(read())
        return tuple(items)

    def listed(self, opening: str, read: Callable[[], Item], closing: str) -> tuple[Item, ...]:
        """Items between brackets, separated by commas; there may be none."""
        self.open(opening)
        items = () if self.peek(closing) else self.separated(read)
        self.close(closing, f"`,` or `{closing}`")
        return items

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
        if self.is_at_end:
            self._ended(expected)
        token = self.tokens[self.at]
        if token.is_symbol(")", "]", "}") and (not self.opened or _CLOSING[self.opened[-1].text] != token.text):
            against = f"; `{self.opened[-1].text}` is open" if self.opened else ""
            self.fail("INK0105", f"unmatched `{token.text}`{against}", token.span)
        self.fail("INK0101", f"expected {expected}, found `{token.text}`", token.span, helps=helps or self.helps(token))

    def helps(self, token: RawToken) -> tuple[str, ...]:
        """How to repair a token that cannot come next."""
        return ()

    def end_in_words(self) -> str:
        """Where a bracket that is still open must be closed, in words."""
        return " before the end of the statement"

    def fail(self, code: str, message: str, span: Span, *, label: str = "", **remarks: Unpack[Remarks]) -> NoReturn:
        raise ProgramError.of(code, message, span=span, source=self.source, label=label, **remarks)

    def _ended(self, expected: str) -> NoReturn:
        if self.opened:
            bracket = self.opened[-1]
            label = f"expected `{_CLOSING[bracket.text]}`{self.end_in_words()}"
            self.fail("INK0105", f"`{bracket.text}` is not closed", bracket.span, label=label)
        if self.after:
            self.fail("INK0102", f"expected {expected}, found `{self.after.text}`", self.after.span)
        end = self.tokens[-1].span.end if self.tokens else len(self.source.text.rstrip())
        self.fail("INK0102", f"expected {expected}, found the end", Span(end, end))
