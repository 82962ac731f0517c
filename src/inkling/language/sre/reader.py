"""Reads a pattern file: cuts it into tokens, the tokens into patterns and declarations, and parses each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import cast

from inkling.errors import Diagnostic, ProgramError, nearest
from inkling.language.cursor import Cursor, Part
from inkling.language.parser import parse as parse_ink
from inkling.language.parser.scanner import SCANNER as SCANNER_OF_PROGRAMS
from inkling.language.reading import Chunk, read_statements
from inkling.language.scanning import RawToken, Scanner, rest_of_line, unexpected_character
from inkling.language.sre import terms as t
from inkling.language.sre.headers import HEADERS
from inkling.language.syntax import Ident, StreamDecl
from inkling.source import SourceText, Span

_TOKEN = re.compile(
    r"""
      (?P<SPACE>    [\s\ufeff]+ )
    | (?P<COMMENT>  --[^\n]* )
    | (?P<NAME>     [^\W\d]\w* )
    | (?P<NUMBER>   -? [0-9]+ (?: \.[0-9]+ )? (?: [eE][+-]?[0-9]+ )? (?! \w ) )
    | (?P<REGISTER> " (?: [^"\r\n] )+ " )
    | (?P<TEXT>     ' (?: [^'\r\n] | '' )* ' )
    | (?P<SYMBOL>   [;+*!\#@^|~&(){}\[\]:,-] )
    """,
    re.VERBOSE,
)
_INSTEAD = {
    "/": "start a comment with `--`",
    "%": "start a comment with `--`",
    ">": "write a predicate: `GT(speed, 5.0)`",
    "<": "write a predicate: `LT(speed, 5.0)`",
    "=": "write a predicate: `EQ(speed, 5.0)`, or `EQStr(name, 'text')`",
    "∨": "write `|(p, q)`",
    "∧": "write `^(p, q)`",
    "¬": "write `-p` for a predicate, `!(p)` for a pattern",
}


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    character = source.text[offset]
    if character not in "'\"":
        return unexpected_character(source, offset, _INSTEAD)
    rest = rest_of_line(source, offset)
    return Diagnostic(
        "INK0104",
        f"the quote {character} is not closed" if rest[1:2] != character else "a register has a name",
        Span(offset, offset + max(len(rest), 1)),
        source,
        label="it ends on the line it starts on",
    )


SCANNER = Scanner(_TOKEN, _unreadable)


def read_patterns(source: SourceText) -> t.PatternFile:
    """The patterns of a file; raises `ProgramError` with one diagnostic for each wrong pattern."""
    problems: tuple[Diagnostic, ...] = ()
    start = _end_of_stream(source)
    stream: StreamDecl | None = None
    try:
        stream = _stream(source, start)
    except ProgramError as error:
        problems = error.diagnostics
    scanned = SCANNER.scan(source, start)

    def read(chunk: Chunk) -> t.Pattern | t.Declare:
        parser = Parser(source, chunk.tokens, chunk.after)
        return parser.declare() if chunk.tokens and _declares(chunk.tokens[0]) else parser.pattern()

    chunks = list(_chunks(scanned.tokens, len(source.text)))
    found, rest = read_statements(source, scanned, chunks, read, start=start, problems=problems)
    return t.PatternFile(
        stream,
        tuple(one for one in found if isinstance(one, t.Declare)),
        tuple(one for one in found if isinstance(one, t.Pattern)),
        rest,
    )


def _end_of_stream(source: SourceText) -> int:
    """Where the declaration of the stream ends, which is written as in a program."""
    tokens = SCANNER_OF_PROGRAMS.scan(source).tokens
    if len(tokens) < 2 or tokens[0].upper != "STREAM" or tokens[1].kind not in ("WORD", "QUOTED"):
        return 0
    return next((token.span.end for token in tokens if token.is_symbol(";")), len(source.text))


def _stream(source: SourceText, end: int) -> StreamDecl | None:
    if end == 0:
        return None
    (stream,) = parse_ink(source.text[:end], source.name).statements
    assert isinstance(stream, StreamDecl)
    return stream


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    begin = 0
    while begin < len(tokens):
        is_declaration = _declares(tokens[begin])
        last = next(
            (idx for idx in range(begin, len(tokens)) if tokens[idx].is_symbol(";" if is_declaration else "&")),
            len(tokens),
        )
        after = tokens[last] if last < len(tokens) else None
        inside = tuple(tokens[begin:last])
        end = after.span.end if after and is_declaration else (inside[-1] if inside else tokens[last]).span.end
        yield Chunk(inside, after, end, after.span.end if after else length)
        begin = last + 1
        if begin == len(tokens) and after is not None and not is_declaration:
            yield Chunk((), None, after.span.end, length)


def _declares(first: RawToken) -> bool:
    return first.text.upper() == "DECLARE"


OPERATORS = {
    ";": "a sequence",
    "+": "a union",
    "*": "a repetition",
    "!": "a complement",
    "#": "a choice of any events",
    "@": "a choice of the next events",
}
OF_TWO = ";+"


class Parser(Cursor):
    __slots__ = ()

    def pattern(self) -> t.Pattern:
        begin = self.at
        expression = self._expression()
        headers: list[t.Header] = []
        while self.peek("{"):
            header = self._header()
            if any(header.name.text == other.name.text for other in headers):
                self.fail("INK0144", f"`{header.name.text}` is given twice", header.span)
            headers.append(header)
        if not self.is_at_end:
            self.unexpected("`{`, `&` or the end of the file")
        return t.Pattern(expression, tuple(headers), span=self.span(begin))

    def declare(self) -> t.Declare:
        begin = self.at
        self.at += 1
        items = self.separated(self._declaration)
        if not self.is_at_end:
            self.unexpected("`,` or `;`")
        if self.after is None:
            self.fail("INK0146", "`DECLARE` ends with `;`", self.tokens[-1].span, label="expected `;` after this")
        return t.Declare(items, span=self.span(begin))

    def _declaration(self) -> t.Declaration:
        begin = self.at
        if not self.peek("+", "~"):
            self.unexpected("`+(…)` or `~(…)`")
        sign = self.next().text
        formulas = self._in_parentheses(self._formula)
        if sign == "~" and len(formulas) < 2:
            self.fail("INK0146", "predicates that exclude each other are at least two", self.span(begin))
        return t.Declaration("+" if sign == "+" else "~", formulas, span=self.span(begin))

    def _expression(self) -> t.Expression:
        begin = self.at
        token = self.token("a pattern")
        if token.is_symbol(*OPERATORS):
            self.at += 1
            items = self._in_parentheses(self._expression)
            self._check_number(token, items)
            return t.Operation(cast(t.Operator, token.text), items, span=self.span(begin))
        formula = self._formula("a pattern")
        register = None
        if self.peek("["):
            self.open("[")
            if self.token("a register").kind != "REGISTER":
                self.unexpected('a register such as `"x"`')
            register = self._register()
            self.close("]")
        return t.Single(formula, register, span=self.span(begin))

    def _check_number(self, operator: RawToken, items: tuple[t.Expression, ...]) -> None:
        what = OPERATORS[operator.text]
        if operator.text in OF_TWO:
            if len(items) < 2:
                self.fail("INK0140", f"{what} has at least two parts", operator.span.to(items[0].span))
        elif len(items) > 1:
            helps = {
                "*": "repeat a sequence with `*(;(p, q))`, a union with `*(+(p, q))`",
                "!": "write `!(;(p, q))` or `!(+(p, q))`",
                "#": "write `#(;(p, q))`",
                "@": "write `@(;(p, q))`",
            }[operator.text]
            self.fail("INK0140", f"{what} has one part, found {len(items)}", items[1].span, helps=(helps,))

    def _formula(self, what: str = "a predicate") -> t.Formula:
        begin = self.at
        token = self.token(what)
        if token.is_symbol("-"):
            self.at += 1
            self.deeper()
            item = self._formula()
            self.depth -= 1
            return t.Negated(item, span=self.span(begin))
        if token.is_symbol("^", "|"):
            self.at += 1
            items = self._in_parentheses(self._formula)
            if len(items) < 2:
                self.fail("INK0140", f"`{token.text}` joins at least two predicates", self.span(begin))
            return t.Joined("^" if token.text == "^" else "|", items, span=self.span(begin))
        if token.kind != "NAME":
            self.unexpected(what)
        name = self.next()
        args = self._in_parentheses(self._argument) if self.peek("(") else ()
        return t.Predicate(Ident(name.text, span=name.span), args, span=self.span(begin))

    def _argument(self) -> t.Argument:
        token = self.token("a value")
        if token.kind == "SYMBOL":
            self.unexpected("a name, a number, a text or a register")
        match token.kind:
            case "NAME":
                self.at += 1
                return Ident(token.text, span=token.span)
            case "TEXT":
                return self.text()
            case "REGISTER":
                return self._register()
            case _:
                return self.number()

    def _register(self) -> t.Register:
        token = self.next()
        return t.Register(token.value, span=token.span)

    def _header(self) -> t.Header:
        begin = self.at
        self.open("{")
        name = self.token("a header")
        if name.text not in HEADERS:
            meant = nearest(name.text, HEADERS, n=1)
            self.fail(
                "INK0144",
                f"unknown header `{name.text}`",
                name.span,
                notes=(f"headers are {', '.join(HEADERS)}",),
                helps=tuple(f"write `{HEADERS[one]}`" for one in meant),
            )
        self.at += 1
        self.take(":")
        value = self._argument()
        self.close("}")
        return t.Header(Ident(name.text, span=name.span), value, span=self.span(begin))

    def _in_parentheses(self, read: Callable[[], Part]) -> tuple[Part, ...]:
        if not self.peek("("):
            self.unexpected("`(`")
        self.deeper()
        self.open("(")
        items = self.separated(read)
        self.close(")", "`,` or `)`")
        self.depth -= 1
        return items

    def helps(self, token: RawToken) -> tuple[str, ...]:
        if self.at == 0 and token.is_symbol("("):
            return ("a pattern starts with its operator: `;(p, q)`; a `STREAM` before it has a `;` of its own",)
        if self.at == 0 and token.is_symbol("~"):
            return ("declarations stand before the patterns: `DECLARE ~(p, q);`",)
        if token.is_symbol(";") or (not self.opened and token.is_symbol(",")):
            return ("write `&` between two patterns",)
        return ()

    def end_in_words(self) -> str:
        return f" before `{self.after.text}`" if self.after else ""
