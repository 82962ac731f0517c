"""Reads one pattern in prefix notation, or the declarations beside it, by recursive descent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar, cast

from inkling.errors import ProgramError, nearest
from inkling.language.sre import terms as t
from inkling.language.sre.headers import HEADERS
from inkling.language.sre.scanner import RawToken
from inkling.source import SourceText, Span

Part = TypeVar("Part")

OPERATORS = {
    ";": "a sequence",
    "+": "a union",
    "*": "a repetition",
    "!": "a complement",
    "#": "a choice of any events",
    "@": "a choice of the next events",
}
OF_TWO = ";+"
DEEPEST_NESTING = 100
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_LARGEST = 2**63 - 1
_LARGEST_DECIMAL = 1e300  # kilometers of such a size are meters still


@dataclass(slots=True)
class Parser:
    source: SourceText
    tokens: tuple[RawToken, ...]
    after: RawToken | None  # what ends these tokens
    at: int = 0
    depth: int = 0
    opened: list[RawToken] = field(default_factory=list)

    def pattern(self) -> t.Pattern:
        begin = self.at
        expression = self._expression()
        headers: list[t.Header] = []
        while self._peek("{"):
            header = self._header()
            if any(header.name.text == other.name.text for other in headers):
                self._fail("INK0144", f"`{header.name.text}` is given twice", header.span)
            headers.append(header)
        if self.at < len(self.tokens):
            self._unexpected("`{`, `&` or the end of the file")
        return t.Pattern(expression, tuple(headers), span=self._span(begin))

    def declare(self) -> t.Declare:
        begin = self.at
        self.at += 1
        items = [self._declaration()]
        while self._peek(","):
            self.at += 1
            items.append(self._declaration())
        if self.at < len(self.tokens):
            self._unexpected("`,` or `;`")
        if self.after is None:
            self._fail("INK0146", "`DECLARE` ends with `;`", self.tokens[-1].span, label="expected `;` after this")
        return t.Declare(tuple(items), span=self._span(begin))

    def _declaration(self) -> t.Declaration:
        begin = self.at
        if not (self._peek("+") or self._peek("~")):
            self._unexpected("`+(…)` or `~(…)`")
        sign = self._next().text
        formulas = self._in_parentheses(self._formula)
        if sign == "~" and len(formulas) < 2:
            self._fail("INK0146", "predicates that exclude each other are at least two", self._span(begin))
        return t.Declaration("+" if sign == "+" else "~", formulas, span=self._span(begin))

    def _expression(self) -> t.Expression:
        begin = self.at
        token = self._token("a pattern")
        if token.is_symbol("".join(OPERATORS)):
            self.at += 1
            items = self._in_parentheses(self._expression)
            self._check_number(token, items)
            return t.Operation(cast(t.Operator, token.text), items, span=self._span(begin))
        formula = self._formula("a pattern")
        register = None
        if self._peek("["):
            self._open()
            if self._token("a register").kind != "REGISTER":
                self._unexpected('a register such as `"x"`')
            stored = self._next()
            register = t.Register(stored.value, span=stored.span)
            self._close("]")
        return t.Single(formula, register, span=self._span(begin))

    def _check_number(self, operator: RawToken, items: tuple[t.Expression, ...]) -> None:
        what = OPERATORS[operator.text]
        if operator.text in OF_TWO:
            if len(items) < 2:
                self._fail("INK0140", f"{what} has at least two parts", operator.span.to(items[0].span))
        elif len(items) > 1:
            helps = {
                "*": "repeat a sequence with `*(;(p, q))`, a union with `*(+(p, q))`",
                "!": "write `!(;(p, q))` or `!(+(p, q))`",
                "#": "write `#(;(p, q))`",
                "@": "write `@(;(p, q))`",
            }[operator.text]
            self._fail("INK0140", f"{what} has one part, found {len(items)}", items[1].span, helps=(helps,))

    def _formula(self, what: str = "a predicate") -> t.Formula:
        begin = self.at
        token = self._token(what)
        if token.is_symbol("-"):
            self.at += 1
            self._deeper()
            item = self._formula()
            self.depth -= 1
            return t.Negated(item, span=self._span(begin))
        if token.is_symbol("^|"):
            self.at += 1
            items = self._in_parentheses(self._formula)
            if len(items) < 2:
                self._fail("INK0140", f"`{token.text}` joins at least two predicates", self._span(begin))
            return t.Joined("^" if token.text == "^" else "|", items, span=self._span(begin))
        if token.kind != "NAME":
            self._unexpected(what)
        name = self._next()
        args = self._in_parentheses(self._argument) if self._peek("(") else ()
        return t.Predicate(t.Name(name.text, span=name.span), args, span=self._span(begin))

    def _argument(self) -> t.Argument:
        token = self._token("a value")
        if token.kind == "SYMBOL":
            self._unexpected("a name, a number, a text or a register")
        self.at += 1
        match token.kind:
            case "NAME":
                return t.Name(token.text, span=token.span)
            case "TEXT":
                return t.Text(token.value, span=token.span)
            case "REGISTER":
                return t.Register(token.value, span=token.span)
            case _:
                return self._number(token)

    def _number(self, token: RawToken) -> t.Number:
        number = t.Number(token.text, span=token.span)
        if number.size > (_LARGEST if isinstance(number.size, int) else _LARGEST_DECIMAL):
            self._fail("INK0116", f"the number {token.text[:20]} is too large", token.span)
        return number

    def _header(self) -> t.Header:
        begin = self.at
        self._open()
        name = self._token("a header")
        if name.text not in HEADERS:
            meant = nearest(name.text, HEADERS, n=1)
            self._fail(
                "INK0144",
                f"unknown header `{name.text}`",
                name.span,
                notes=(f"headers are {', '.join(HEADERS)}",),
                helps=tuple(f"write `{HEADERS[one]}`" for one in meant),
            )
        self.at += 1
        if not self._peek(":"):
            self._unexpected("`:`")
        self.at += 1
        value = self._argument()
        self._close("}")
        return t.Header(t.Name(name.text, span=name.span), value, span=self._span(begin))

    def _in_parentheses(self, read: Callable[[], Part]) -> tuple[Part, ...]:
        if not self._peek("("):
            self._unexpected("`(`")
        self._deeper()
        self._open()
        items = [read()]
        while self._peek(","):
            self.at += 1
            items.append(read())
        self._close(")")
        self.depth -= 1
        return tuple(items)

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST_NESTING:
            self._fail("INK0119", f"nested more than {DEEPEST_NESTING} levels deep", self.tokens[self.at - 1].span)

    def _open(self) -> None:
        self.opened.append(self._next())

    def _close(self, bracket: str) -> None:
        if not self._peek(bracket):
            self._unexpected(f"`,` or `{bracket}`" if bracket == ")" else f"`{bracket}`")
        self.at += 1
        self.opened.pop()

    def _peek(self, symbol: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at].is_symbol(symbol)

    def _next(self) -> RawToken:
        self.at += 1
        return self.tokens[self.at - 1]

    def _token(self, expected: str) -> RawToken:
        if self.at == len(self.tokens):
            self._unexpected(expected)
        return self.tokens[self.at]

    def _span(self, begin: int) -> Span:
        return self.tokens[begin].span.to(self.tokens[self.at - 1].span)

    def _unexpected(self, expected: str) -> NoReturn:
        if self.at == len(self.tokens):
            self._ended(expected)
        token = self.tokens[self.at]
        if token.is_symbol(")]}") and (not self.opened or _CLOSING[self.opened[-1].text] != token.text):
            against = f"; `{self.opened[-1].text}` is open" if self.opened else ""
            self._fail("INK0105", f"`{token.text}` closes nothing{against}", token.span)
        helps: tuple[str, ...] = ()
        if self.at == 0 and token.is_symbol("("):
            helps = ("a pattern starts with its operator: `;(p, q)`; a `STREAM` before it has a `;` of its own",)
        elif self.at == 0 and token.is_symbol("~"):
            helps = ("declarations stand before the patterns: `DECLARE ~(p, q);`",)
        elif token.is_symbol(";") or (not self.opened and token.is_symbol(",")):
            helps = ("write `&` between two patterns",)
        self._fail("INK0101", f"expected {expected}, found `{token.text}`", token.span, helps=helps)

    def _ended(self, expected: str) -> NoReturn:
        if self.opened:
            bracket = self.opened[-1]
            before = f" before `{self.after.text}`" if self.after else ""
            self._fail(
                "INK0105",
                f"`{bracket.text}` is not closed",
                bracket.span,
                label=f"expected `{_CLOSING[bracket.text]}`{before}",
            )
        if self.after:
            self._fail("INK0102", f"expected {expected}, found `{self.after.text}`", self.after.span)
        end = self.tokens[-1].span.end if self.tokens else len(self.source.text.rstrip())
        self._fail("INK0102", f"expected {expected}, found the end", Span(end, end))

    def _fail(
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
