"""Reads a query file: declarations of streams as in a program, then queries, each by recursive descent."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import cast

from inkling.errors import Diagnostic, ProgramError, nearest
from inkling.language.kit.cursor import Cursor, Number
from inkling.language.kit.lalr import LARGEST_INTEGER
from inkling.language.kit.reading import Chunk, read_statements
from inkling.language.kit.scanning import RawToken, Scanner, unclosed_quote, unexpected_character
from inkling.language.parser import parse as parse_ink
from inkling.language.parser.tokens import SCANNER as SCANNER_OF_PROGRAMS
from inkling.language.sase import terms as t
from inkling.language.syntax import Ident, StreamDecl
from inkling.language.syntax.expressions import ArithmeticOperator, ComparisonOperator
from inkling.language.syntax.nodes import TIME_UNITS, TimeUnit
from inkling.source import SourceText

_TOKEN = re.compile(
    r"""
      (?P<SPACE>    [\s\ufeff]+ )
    | (?P<COMMENT>  --[^\n]* | /\* (?: [^*] | \*(?!/) )* \*/ )
    | (?P<NAME>     [^\W\d]\w* (?: '+ (?= [\s.,;)\[=<>!] | \Z ) )? )
    | (?P<PERCENT>  [0-9]+ (?: \.[0-9]+ )? % )
    | (?P<NUMBER>   [0-9]+ (?: \.[0-9]+ )? (?: [eE][+-]?[0-9]+ )? (?! \w ) )
    | (?P<TEXT>     ' (?: [^'\r\n] | '' )* ' | " (?: [^"\r\n] | "" )* " )
    | (?P<SYMBOL>   \.\. | != | <> | <= | >= | [;:,.=<>(){}\[\]+*/%!~|≤≥≠∧∨¬∼-] )
    """,
    re.VERBOSE,
)
_INSTEAD = {"&": "write `AND`", "#": "start a comment with `--`"}


def _unreadable(source: SourceText, offset: int) -> Diagnostic:
    if source.text[offset] in "'\"":
        return unclosed_quote(source, offset)
    return unexpected_character(source, offset, _INSTEAD)


def _comment_text(written: str) -> str:
    inside = written[2:-2] if written.startswith("/*") else written[2:]
    return "\n".join(line.strip() for line in inside.strip().splitlines())


SCANNER = Scanner(_TOKEN, _unreadable, _comment_text)


def read_queries(source: SourceText) -> t.QueryFile:
    """The streams and queries of a file; raises `ProgramError` with one diagnostic for each wrong statement."""
    problems: tuple[Diagnostic, ...] = ()
    start = _end_of_streams(source)
    streams: tuple[StreamDecl, ...] = ()
    try:
        declared = parse_ink(source.text[:start], source.name).statements
        streams = tuple(one for one in declared if isinstance(one, StreamDecl))
    except ProgramError as error:
        problems = error.diagnostics
    scanned = SCANNER.scan(source, start)

    def read(chunk: Chunk) -> t.Query:
        return SaseParser(source, chunk.tokens, chunk.after).query()

    chunks = list(_chunks(scanned.tokens, len(source.text)))
    return t.QueryFile(streams, *read_statements(source, scanned, chunks, read, start=start, problems=problems))


def _end_of_streams(source: SourceText) -> int:
    """Where the declarations of streams end, which are written as in a program."""
    tokens = SCANNER_OF_PROGRAMS.scan(source).tokens
    end = place = 0
    while place + 1 < len(tokens) and tokens[place].upper == "STREAM" and tokens[place + 1].kind in ("WORD", "QUOTED"):
        last = next((at for at in range(place, len(tokens)) if tokens[at].is_symbol(";")), None)
        if last is None:
            return _before_pattern(tokens, place, len(source.text))
        end, place = tokens[last].span.end, last + 1
    return end


def _before_pattern(tokens: Sequence[RawToken], place: int, end: int) -> int:
    """Where the first query begins after a declaration without its semicolon."""
    return next((one.span.start for one in tokens[place:] if one.upper == "PATTERN"), end)


def _chunks(tokens: Sequence[RawToken], length: int) -> Iterator[Chunk]:
    """A query ends with a semicolon, or where the next one begins."""
    if not tokens:
        return
    for begin, next_begin in pairwise(sorted({0, *_starts(tokens), len(tokens)})):
        inside = tokens[begin:next_begin]
        after = inside[-1] if len(inside) > 1 and inside[-1].is_symbol(";") else None
        limit = tokens[next_begin].span.start if next_begin < len(tokens) else length
        yield Chunk.of(inside[:-1] if after else inside, after, limit)


def _starts(tokens: Sequence[RawToken]) -> set[int]:
    """Where queries begin: after a semicolon, at PATTERN or EVENT, at the name before it."""
    starts = {idx + 1 for idx, token in enumerate(tokens) if token.is_symbol(";") and idx + 1 < len(tokens)}
    for idx, token in enumerate(tokens):
        if token.kind != "NAME" or token.text.upper() not in OPENING or idx + 1 == len(tokens):
            continue
        if tokens[idx + 1].kind != "NAME" or (idx and tokens[idx - 1].is_symbol(".", "(", ",", "|")):
            continue
        named = idx >= 2 and tokens[idx - 1].is_symbol(":")
        numbered = named and idx >= 3 and tokens[idx - 2].kind == "NUMBER"
        starts.add(idx - 3 if numbered else idx - 2 if named else idx)
    return starts


OPENING = ("PATTERN", "EVENT")
CLAUSES = ("WHERE", "WITHIN", "HAVING", "RETURN", "TOP")
WORDS = frozenset((*OPENING, *CLAUSES, "SEQ", "AND", "OR", "NOT", "AS", "TRUE", "FALSE"))
STRATEGIES = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
AGGREGATES = ("count", "sum", "avg", "min", "max", "stddev", "median")
COMPARATORS: Mapping[str, ComparisonOperator] = MappingProxyType(
    {"=": "=", "!=": "<>", "<>": "<>", "≠": "<>", "<": "<", "<=": "<=", "≤": "<=", ">": ">", ">=": ">=", "≥": ">="}
)
_SIGNS = {"AND": "∧", "OR": "∨", "NOT": "¬"}
_SHORT_UNITS = {"SEC": "SECONDS", "MIN": "MINUTES", "MS": "MILLISECONDS"}


class SaseParser(Cursor):
    """Parses one query by recursive descent; keywords may be written in small letters."""

    __slots__ = ()

    def query(self) -> t.Query:
        name = self._label()
        if not self._peek(*OPENING):
            self.unexpected("`PATTERN`")
        self.at += 1
        components = self._components()
        clauses: dict[str, object] = {}
        while self._peek(*CLAUSES):
            word = self.next()
            clause = word.text.upper()
            if clause in clauses:
                self.fail("INK0164", f"`{clause}` is written twice", word.span)
            clauses[clause] = self._clause(clause)
        if not self.is_at_end:
            missing = [clause for clause in CLAUSES if clause not in clauses]
            self.unexpected(f"{', '.join(f'`{one}`' for one in missing)} or `;`")
        threshold, having = cast("tuple[t.Threshold | None, t.Condition | None]", clauses.get("HAVING", (None, None)))
        return t.Query(
            name,
            components,
            cast("t.Condition | None", clauses.get("WHERE")),
            cast("t.Window | None", clauses.get("WITHIN")),
            threshold,
            having,
            cast("tuple[t.Returned, ...]", clauses.get("RETURN", ())),
            cast("Number | None", clauses.get("TOP")),
            span=self.span(0),
        )

    def _clause(self, clause: str) -> object:
        match clause:
            case "WHERE":
                return self._condition()
            case "WITHIN":
                return self._window()
            case "HAVING":
                return self._having()
            case "RETURN":
                return self.separated(self._returned)
            case _:
                return self._top()

    def _label(self) -> Ident | None:
        """`stolen:`, or `Query 1:` for the name `query1`."""
        if len(self.tokens) < 2 or self._peek(*OPENING):
            return None
        if self.tokens[1].is_symbol(":"):
            name = self._name("a name or `PATTERN`")
            self.at += 1
            return name
        if len(self.tokens) > 2 and self.tokens[1].kind == "NUMBER" and self.tokens[2].is_symbol(":"):
            word = self._name("a name or `PATTERN`")
            number = self.next()
            self.at += 1
            return Ident(word.text.lower() + number.text.replace(".", "_"), span=word.span.to(number.span))
        return None

    def _components(self) -> tuple[t.Component, ...]:
        if not self._peek("SEQ"):
            if self.peek("("):
                self.unexpected("`SEQ` or a stream", helps=("write `SEQ(…)` for events one after the other",))
            return (self._component(),)
        self.at += 1
        self.open("(")
        components = self.separated(self._component)
        self.close(")", "`,` or `)`")
        return components

    def _component(self) -> t.Component:
        begin = self.at
        negated = self.peek("~", "!", "∼", "¬")
        self.at += negated
        in_parentheses = negated and self.peek("(")
        if in_parentheses:
            self.open("(")
        types = [self._name("a stream")]
        while self.peek("|"):
            self.at += 1
            types.append(self._name("a stream"))
        plus = self.peek("+")
        self.at += plus
        var = self._name("a variable such as `a`")
        has_brackets = self.peek("[")
        if has_brackets:
            self.open("[")
            self.close("]")
        if in_parentheses:
            self.close(")")
        if has_brackets and not plus:
            self.fail(
                "INK0162",
                f"`{var.text}[]` is a repetition without `+`",
                self.span(begin),
                helps=(f"write `{types[-1].text}+ {var.text}[]`, or `{types[-1].text} {var.text}` for one event",),
            )
        if negated and plus:
            self.fail(
                "INK0163",
                "an absent event cannot be repeated",
                self.span(begin),
                helps=(f"write `~({types[-1].text} {var.text})`: none of them happens",),
            )
        return t.Component(tuple(types), var, plus, negated, span=self.span(begin))

    def _window(self) -> t.Window:
        begin = self.at
        amount = self._number("a number such as `10`")
        unit: TimeUnit | None = None
        if not self.is_at_end and self.tokens[self.at].kind == "NAME" and not self._peek(*CLAUSES):
            word = self.next()
            written = word.text.upper()
            units = {one: one for one in TIME_UNITS} | {one.removesuffix("S"): one for one in TIME_UNITS}
            known = units.get(_SHORT_UNITS.get(written, written))
            if known is None:
                meant = nearest(word.text.lower(), [one.lower() for one in TIME_UNITS], n=1)
                helps = tuple(f"did you mean `{one}`?" for one in meant)
                self.fail("INK0164", f"unknown unit `{word.text}`", word.span, helps=helps)
            unit = known
        if unit in (None, "TICKS") and not (isinstance(amount.size, int) and amount.size >= 1):
            self.fail("INK0164", "a window of ticks is a positive whole number", amount.span)
        if amount.size > LARGEST_INTEGER:
            self.fail("INK0164", f"the number {amount.written} is too large", amount.span)
        return t.Window(amount, unit, span=self.span(begin))

    def _having(self) -> tuple[t.Threshold | None, t.Condition | None]:
        threshold: t.Threshold | None = None
        if self._peek("CONFIDENCE"):
            begin = self.at
            self.at += 1
            op: t.AtLeast = ">"
            match COMPARATORS.get(self.token("`>=` or `>`").text):
                case ">=" | ">" as op:
                    self.at += 1
                case _:
                    self.unexpected("`>=` or `>`")
            threshold = t.Threshold(op, self._share(), span=self.span(begin))
            if not self._connects("AND"):
                return threshold, None
            self.at += 1
        return threshold, self._condition()

    def _share(self) -> Number | t.Percent:
        token = self.token("a probability")
        if token.kind == "PERCENT":
            share: Number | t.Percent = self._percent()
            value = share.share if isinstance(share, t.Percent) else 0
        else:
            share = self._number("a probability")
            value = Fraction(share.written)
        if not 0 <= value <= 1:
            self.fail("INK0164", "a probability lies between 0 and 1", token.span)
        return share

    def _returned(self) -> t.Returned:
        begin = self.at
        value: t.Variable | t.Term = self._variable() if self._is_variable() else self._sum()
        alias: Ident | None = None
        if self._peek("AS"):
            self.at += 1
            alias = self._name("a name")
        return t.Returned(value, alias, span=self.span(begin))

    def _is_variable(self) -> bool:
        """Whether a variable alone comes next, `a` or `b[]`."""
        if self.is_at_end or self.tokens[self.at].kind != "NAME" or self._peek("TRUE", "FALSE"):
            return False
        following = "".join(one.text for one in self.tokens[self.at + 1 : self.at + 4])
        return not following.startswith((".", "(", "[")) or (following[:2] == "[]" and following[2:3] != ".")

    def _top(self) -> Number:
        number = self._number("a number such as `10`")
        if not isinstance(number.size, int) or number.size < 1:
            self.fail("INK0164", "`TOP` keeps at least one result", number.span)
        return number

    def _condition(self) -> t.Condition:
        return self._joined("OR")

    def _joined(self, op: t.Connective) -> t.Condition:
        begin = self.at
        items: list[t.Condition] = []
        while True:
            one = self._negated() if op == "AND" else self._joined("AND")
            items += one.items if isinstance(one, t.Joined) and one.op == op else [one]
            if not self._connects(op):
                break
            self.at += 1
        return items[0] if len(items) == 1 else t.Joined(op, tuple(items), span=self.span(begin))

    def _negated(self) -> t.Condition:
        begin = self.at
        if not self._connects("NOT"):
            return self._atom()
        self.at += 1
        self.deeper()
        item = self._negated()
        self.depth -= 1
        return t.Negated(item, span=self.span(begin))

    def _atom(self) -> t.Condition:
        begin = self.at
        expected = "a condition"
        token = self.token(expected)
        if self.peek("["):
            self.open("[")
            if self.peek("]"):
                self.fail("INK0101", "expected a column, found `]`", self.tokens[self.at].span)
            columns = self.separated(lambda: self._name("a column"))
            self.close("]", "`,` or `]`")
            return t.Equivalence(columns, span=self.span(begin))
        if self.peek("(") and not self._is_in_term(self.at):
            self.deeper()
            self.open("(")
            inner = self._condition()
            self.close(")", "`AND`, `OR` or `)`")
            self.depth -= 1
            return inner
        if token.kind == "NAME" and self._is_called() and not self._is_in_term(self.at + 1):
            return self._selection()
        left = self._sum()
        operator = self.tokens[self.at].text if not self.is_at_end else ""
        if operator not in COMPARATORS:
            self.unexpected("a comparison")
        self.at += 1
        return t.Comparison(COMPARATORS[operator], left, self._sum(), span=self.span(begin))

    def _is_in_term(self, at: int) -> bool:
        """Whether the parenthesis at a token closes before an operator of terms."""
        depth = 0
        for idx in range(at, len(self.tokens)):
            depth += self.tokens[idx].is_symbol("(") - self.tokens[idx].is_symbol(")")
            if depth == 0:
                after = self.tokens[idx + 1] if idx + 1 < len(self.tokens) else None
                return after is not None and after.is_symbol(*COMPARATORS, "+", "-", "*", "/", "%")
        return False

    def _selection(self) -> t.Selection:
        begin = self.at
        name = self.next()
        strategy = name.text.lower()
        if strategy not in STRATEGIES:
            meant = nearest(strategy, (*STRATEGIES, *AGGREGATES), n=1)
            self.fail(
                "INK0161",
                f"unknown strategy `{name.text}`",
                name.span,
                notes=(f"the strategies are {', '.join(STRATEGIES)}",),
                helps=tuple(f"did you mean `{one}`?" for one in meant),
            )
        variables = self.listed("(", self._variable, ")")
        condition: t.Condition | None = None
        if self.peek("{"):
            self.deeper()
            self.open("{")
            condition = self._condition()
            self.close("}", "`AND`, `OR` or `}`")
            self.depth -= 1
        return t.Selection(Ident(strategy, span=name.span), variables, condition, span=self.span(begin))

    def _variable(self) -> t.Variable:
        begin = self.at
        name = self._name("a variable")
        repeated = self.peek("[")
        if repeated:
            self.open("[")
            self.close("]")
        return t.Variable(name, repeated, span=self.span(begin))

    def _sum(self) -> t.Term:
        return self._operation(("+", "-"), self._product)

    def _product(self) -> t.Term:
        return self._operation(("*", "/", "%"), self._factor)

    def _operation(self, symbols: tuple[str, ...], inner: Callable[[], t.Term]) -> t.Term:
        begin = self.at
        left = inner()
        while self.peek(*symbols):
            op = cast(ArithmeticOperator, self.next().text)
            left = t.Arithmetic(op, left, inner(), span=self.span(begin))
        return left

    def _factor(self) -> t.Term:
        begin = self.at
        expected = "a value such as `a.price`"
        token = self.token(expected)
        if self.peek("-", "("):
            self.deeper()
            if self.peek("-"):
                self.at += 1
                found: t.Term = t.Minus(self._factor(), span=self.span(begin))
            else:
                self.open("(")
                found = self._sum()
                self.close(")", "an operator or `)`")
            self.depth -= 1
            return found
        if token.kind == "SYMBOL":
            self.unexpected(expected)
        match token.kind:
            case "PERCENT":
                return self._percent()
            case "NUMBER":
                return self.number()
            case "TEXT":
                return self.text()
            case "NAME" if self._is_called():
                return self._aggregated()
            case "NAME" if token.text.upper() in ("TRUE", "FALSE"):
                self.at += 1
                return t.Truth(token.text.upper() == "TRUE", span=token.span)
            case _:
                return self._value()

    def _value(self) -> t.Value:
        begin = self.at
        var = self._name("a variable")
        index = self._index(var) if self.peek("[") else None
        self.take(".", "`.` and a column" if index else "`.` or `[`")
        return t.Value(var, index, self._column(), span=self.span(begin))

    def _index(self, var: Ident) -> t.Index:
        """`[1]`, `[i]`, `[i-1]`, `[b.LEN]`"""
        self.open("[")
        expected = f"`1`, `i`, `i-1` or `{var.text}.LEN`"
        token = self.token(expected)
        found: t.Index | None = None
        if token.kind == "NUMBER" and token.text == "1":
            self.at += 1
            found = "1"
        elif token.kind == "NAME" and token.text == var.text and self._is_length(self.at + 1):
            self.at += 3
            found = "LEN"
        elif self._peek("I"):
            self.at += 1
            found = "i"
            if self.peek("-"):
                self.at += 1
                self._one()
                found = "i-1"
        elif self._peek("LEN"):
            self.at += 1
            found = "LEN"
        if found is None:
            helps = (f"aggregate over all of them: `avg({var.text}[].…)`",) if token.is_symbol("]") else ()
            self.unexpected(expected, helps)
        self.close("]")
        return found

    def _is_length(self, at: int) -> bool:
        following = self.tokens[at : at + 2]
        return len(following) == 2 and following[0].is_symbol(".") and following[1].text.upper() == "LEN"

    def _one(self) -> None:
        if self.is_at_end or self.tokens[self.at].text != "1":
            self.unexpected("`1`")
        self.at += 1

    def _aggregated(self) -> t.Aggregated:
        begin = self.at
        name = self.next()
        function = name.text.lower()
        if function not in AGGREGATES:
            meant = nearest(function, AGGREGATES, n=1)
            self.fail(
                "INK0162",
                f"unknown aggregate `{name.text}`",
                name.span,
                notes=(f"the aggregates are {', '.join(AGGREGATES)}",),
                helps=tuple(f"did you mean `{one}`?" for one in meant),
            )
        self.open("(")
        var = self._name("a variable")
        self.open("[")
        earlier = self.peek("..")
        if earlier:
            self.at += 1
            earlier = self._peek("I")
            if earlier:
                self.at += 1
                self.take("-", "`-1`")
                self._one()
        self.close("]", "`]` or `..i-1`")
        column: Ident | None = None
        if self.peek("."):
            self.at += 1
            column = self._column()
        self.close(")")
        found = t.Aggregated(Ident(function, span=name.span), var, earlier, column, span=self.span(begin))
        if column is None and function != "count":
            self.fail(
                "INK0162", f"{function} needs a column", found.span, helps=(f"write `{function}({var.text}[].column)`",)
            )
        return found

    def _percent(self) -> t.Percent:
        token = self.next()
        return t.Percent(token.text[:-1], span=token.span)

    def _number(self, expected: str) -> Number:
        if self.token(expected).kind != "NUMBER":
            self.unexpected(expected)
        return self.number()

    def _column(self) -> Ident:
        token = self.token("a column")
        if token.kind != "NAME":
            self.unexpected("a column")
        self.at += 1
        return Ident(token.text, span=token.span)

    def _name(self, expected: str) -> Ident:
        token = self.token(expected)
        if token.kind != "NAME":
            self.unexpected(expected)
        if token.text.upper() in WORDS:
            self.fail("INK0121", f"`{token.text}` is a keyword", token.span)
        self.at += 1
        return Ident(token.text, span=token.span)

    def _is_called(self) -> bool:
        return self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].is_symbol("(")

    def _connects(self, word: str) -> bool:
        return self._peek(word) or self.peek(_SIGNS[word])

    def _peek(self, *words: str) -> bool:
        if self.is_at_end:
            return False
        token = self.tokens[self.at]
        return token.kind == "NAME" and token.text.upper() in words
