"""Reads a pattern file: cuts it into tokens, the tokens into patterns and declarations, and parses each.

Headers, in braces after a pattern, say how it is partitioned, limited, counted and forecast.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import TypeAlias, cast, get_args

from inkling.errors import Diagnostic, ProgramError, nearest
from inkling.language.kit.cursor import Cursor, Item, Number
from inkling.language.kit.reading import Chunk, read_statements
from inkling.language.kit.scanning import (
    DASHED_COMMENTS,
    DASHED_TOKENS,
    RawToken,
    Scanner,
    unclosed_quote,
    unexpected_character,
)
from inkling.language.parser import parse as parse_ink
from inkling.language.parser.tokens import SCANNER as SCANNER_OF_PROGRAMS
from inkling.language.sre import terms as t
from inkling.language.syntax import Ident, StreamDecl
from inkling.source import SourceText, Span

WindowType: TypeAlias = OneOf["count", "time"]
Counting: TypeAlias = OneOf["nonoverlap", "overlap", "matches", "episodes"]

HEADERS = {
    "order": "{order:2}",
    "partitionBy": "{partitionBy:mmsi}",
    "window": "{window:100}",
    "windowType": "{windowType:count} or {windowType:time}",
    "name": "{name:arrival}",
    "counting": "{counting:nonoverlap}, {counting:overlap}, {counting:matches} or {counting:episodes}",
    "confidence": "{confidence:0.5}",
    "horizon": "{horizon:200}",
    "spread": "{spread:200}",
}
"""Every header, in the order in which they are printed, with an example; the first four are those of Wayeb."""
OF_FORECASTS = ("confidence", "horizon", "spread")


@dataclass(frozen=True, slots=True)
class Settings:
    """The headers of one pattern; without them, those of Wayeb."""

    name: Ident | None
    order: int | None
    partition_by: Ident | None
    window: int | None
    window_span: Span | None
    window_type: WindowType
    counting: Counting | None
    confidence: float
    horizon: int
    spread: int
    asks_for_forecast: bool = False  # by a header that only forecasts have

    @property
    def time_window(self) -> int | None:
        return self.window if self.window_type == "time" else None


def read_headers(pattern: t.Pattern, source: SourceText) -> Settings:
    return _Headers({header.name.text: header for header in pattern.headers}, source).settings()


@dataclass(frozen=True, slots=True)
class _Headers:
    found: dict[str, t.Header]
    source: SourceText

    def settings(self) -> Settings:
        for name in OF_FORECASTS:
            if name in self.found and "order" not in self.found:
                raise self._wrong(
                    self.found[name], f"`{name}` needs a forecast", "add the order of the forecast model: `{order:2}`"
                )
        if "windowType" in self.found and "window" not in self.found:
            raise self._wrong(self.found["windowType"], "`windowType` needs a window", "add `{window:100}`")
        return Settings(
            name=self._name("name"),
            order=self._count("order"),
            partition_by=self._name("partitionBy"),
            window=self._count("window") or None,
            window_span=self.found["window"].span if "window" in self.found else None,
            window_type=cast(WindowType, self._one_of("windowType", get_args(WindowType)) or "count"),
            counting=cast(Counting | None, self._one_of("counting", get_args(Counting))),
            confidence=self._share("confidence", 0.5),
            horizon=self._count("horizon", at_least=1) or 200,
            spread=self._count("spread", at_least=1) or 200,
            asks_for_forecast=any(name in self.found for name in OF_FORECASTS),
        )

    def _name(self, name: str) -> Ident | None:
        match self.found.get(name):
            case None:
                return None
            case t.Header(value=Ident() as value):
                return value
            case header:
                raise self._expected(header)

    def _count(self, name: str, at_least: int = 0) -> int | None:
        match self.found.get(name):
            case None:
                return None
            case t.Header(value=Number(size=int(value)) as number) if at_least <= value < 2**31:
                if not number.is_negative:
                    return value
            case _:
                pass
        raise self._expected(self.found[name])

    def _share(self, name: str, default: float) -> float:
        match self.found.get(name):
            case None:
                return default
            case t.Header(value=Number(is_negative=False, size=value)) if value <= 1:
                return float(value)
            case header:
                raise self._expected(header)

    def _one_of(self, name: str, words: tuple[str, ...]) -> str | None:
        match self.found.get(name):
            case None:
                return None
            case t.Header(value=Ident(text=text)) if text in words:
                return text
            case header:
                raise self._expected(header)

    def _expected(self, header: t.Header) -> ProgramError:
        name = header.name.text
        return self._wrong(header, f"invalid value for `{name}`", f"write for example `{HEADERS[name]}`")

    def _wrong(self, header: t.Header, message: str, help: str) -> ProgramError:
        return ProgramError.of("INK0144", message, span=header.span, source=self.source, helps=(help,))


_TOKEN = re.compile(
    DASHED_TOKENS
    + r"""
    | (?P<REGISTER> " (?: [^"\r\n] )+ " )
    | (?P<SYMBOL>   [;+*!\#@^|~&(){}\[\]:,-] )
    """,
    re.VERBOSE,
)
_INSTEAD = {
    **DASHED_COMMENTS,
    ">": "write a predicate: `GT(speed, 5.0)`",
    "<": "write a predicate: `LT(speed, 5.0)`",
    "=": "write a predicate: `EQ(speed, 5.0)`, or `EQStr(name, 'text')`",
    "∨": "write `|(p, q)`",
    "∧": "write `^(p, q)`",
    "¬": "write `-p` for a predicate, `!(p)` for a pattern",
}


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    if source.text[offset] in "'\"":
        return unclosed_quote(source, offset, "string" if source.text[offset] == "'" else "register")
    return unexpected_character(source, offset, _INSTEAD)


SCANNER = Scanner(_TOKEN, _unreadable)


def read_patterns(source: SourceText, *, declarations: bool = False) -> t.PatternFile:
    """The patterns of a file; raises `ProgramError` with one diagnostic for each wrong pattern.

    `+(p, q)` alone is a pattern, or one of the declarations if the file is for these.
    """
    problems: tuple[Diagnostic, ...] = ()
    start = _end_of_stream(source)
    stream: StreamDecl | None = None
    try:
        stream = _stream(source, start)
    except ProgramError as error:
        problems = error.diagnostics
    scanned = SCANNER.scan(source, start)

    def read(chunk: Chunk) -> t.Pattern | t.Declare:
        parser = PatternParser(source, chunk.tokens, chunk.after)
        if bare:
            return parser.declarations()
        return parser.declare() if chunk.tokens and _declares(chunk.tokens[0]) else parser.pattern()

    bare = _only_declares(scanned.tokens, "+~" if declarations else "~")
    chunks = [Chunk.of(scanned.tokens, None, len(source.text))] if bare else list(_chunks(scanned.tokens, source))
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


def _only_declares(tokens: Sequence[RawToken], alone: str) -> bool:
    """Whether a file has nothing but declarations, without DECLARE, as the engine reads them from a second file.

    A single one has a sign among those that may be `alone`.
    """
    if not tokens or not tokens[0].is_symbol("+", "~"):
        return False
    depth = 0
    for idx, token in enumerate(tokens[1:], 1):
        depth += token.is_symbol("(") - token.is_symbol(")")
        if depth == 0:
            is_followed = idx + 1 < len(tokens) and tokens[idx + 1].is_symbol(",")
            return is_followed or (idx + 1 == len(tokens) and tokens[0].is_symbol(*alone))
    return False


def _separates(tokens: Sequence[RawToken], idx: int) -> bool:
    """Whether `&` is between two patterns; `&(` is an intersection."""
    return tokens[idx].is_symbol("&") and not (idx + 1 < len(tokens) and tokens[idx + 1].is_symbol("("))


def _chunks(tokens: Sequence[RawToken], source: SourceText) -> Iterator[Chunk]:
    begin, length = 0, len(source.text)
    while begin < len(tokens):
        is_declaration = _declares(tokens[begin])
        last = next(
            (
                idx
                for idx in range(begin, len(tokens))
                if (tokens[idx].is_symbol(";") if is_declaration else _separates(tokens, idx))
            ),
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
    "&": "an intersection",
    "*": "a repetition",
    "!": "a complement",
    "#": "skip-till-any-match",
    "@": "skip-till-next-match",
}
OF_TWO = ";+&"


class PatternParser(Cursor):
    """Parses one pattern, or one DECLARE, by recursive descent."""

    __slots__ = ()

    def pattern(self) -> t.Pattern:
        begin = self.at
        expression = self._expression()
        headers: list[t.Header] = []
        while self.peek("{"):
            header = self._header()
            if any(header.name.text == other.name.text for other in headers):
                self.fail("INK0144", f"duplicate header `{header.name.text}`", header.span)
            headers.append(header)
        if not self.is_at_end:
            self.unexpected("`{`, `&` or the end of the file")
        return t.Pattern(expression, tuple(headers), span=self.span(begin))

    def declare(self) -> t.Declare:
        self.at += 1
        found = self.declarations()
        if self.after is None:
            self.fail("INK0146", "a `DECLARE` ends with `;`", self.tokens[-1].span, label="expected `;` after this")
        return replace(found, span=self.span(0))

    def declarations(self) -> t.Declare:
        begin = self.at
        items = self.separated(self._declaration)
        if not self.is_at_end:
            self.unexpected("`,` or `;`")
        return t.Declare(items, span=self.span(begin))

    def _declaration(self) -> t.Declaration:
        begin = self.at
        if not self.peek("+", "~"):
            self.unexpected("`+(…)` or `~(…)`")
        sign = self.next().text
        formulas = self._in_parentheses(self._formula)
        if sign == "~" and len(formulas) < 2:
            self.fail("INK0146", "`~(…)` needs at least two predicates", self.span(begin))
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
                self.fail("INK0140", f"{what} needs at least two parts", operator.span.to(items[0].span))
        elif len(items) > 1:
            helps = {
                "*": "repeat a sequence with `*(;(p, q))`, a union with `*(+(p, q))`",
                "!": "write `!(;(p, q))` or `!(+(p, q))`",
                "#": "write `#(;(p, q))`",
                "@": "write `@(;(p, q))`",
            }[operator.text]
            self.fail("INK0140", f"{what} takes one part, found {len(items)}", items[1].span, helps=(helps,))

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
                self.fail("INK0140", f"`{token.text}` needs at least two predicates", self.span(begin))
            return t.Joined("^" if token.text == "^" else "|", items, span=self.span(begin))
        if token.kind != "NAME":
            self.unexpected(what)
        name = self.next()
        args = self._in_parentheses(self._argument) if self.peek("(") else ()
        return t.Predicate(Ident(name.text, span=name.span), args, span=self.span(begin))

    def _argument(self) -> t.Argument:
        token = self.token("a value")
        if token.kind == "SYMBOL":
            self.unexpected("a name, a number, a string or a register")
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

    def _in_parentheses(self, read: Callable[[], Item]) -> tuple[Item, ...]:
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
            return ("write the operator before the parentheses: `;(p, q)`; end a `STREAM` before it with `;`",)
        if self.at == 0 and token.is_symbol("~"):
            return ("write declarations before the patterns: `DECLARE ~(p, q);`",)
        if token.is_symbol(";") or (not self.opened and token.is_symbol(",")):
            return ("separate patterns with `&`",)
        return ()

    def end_in_words(self) -> str:
        return f" before `{self.after.text}`" if self.after else ""
