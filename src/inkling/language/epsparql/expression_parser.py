"""Parses the expressions of SPARQL: in filters, and as selected values."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NoReturn, cast, get_args

from inkling.errors import nearest
from inkling.language.epsparql import terms as t
from inkling.language.epsparql.other_dialects import other_dialect
from inkling.language.epsparql.term_parser import TermParser

CALLED = frozenset(get_args(t.CalledName))
_ARGUMENTS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "GETDURATION": (0, 0), "GETSTARTTIME": (0, 0), "GETENDTIME": (0, 0), "LANGMATCHES": (2, 2),
        "SAMETERM": (2, 2), "REGEX": (2, 3), "IF": (3, 3), "COALESCE": (1, 99),
    }
)  # fmt: skip


class ExpressionParser(TermParser):
    """Conditions and values, by precedence."""

    __slots__ = ()

    def _constraint(self) -> t.Expr:
        """`(expr)`, or the call of a function."""
        token = self.token("a condition in parentheses")
        if self.peek("("):
            self.open("(")
            found = self._condition()
            self.close(")", "an operator or `)`")
            return found
        if (token.kind == "NAME" or token.kind == "PREFIXED" or token.kind == "IRI") and self._is_called():
            return self._primary()
        self._misplaced()
        return self.unexpected("`(`", ("write the condition in parentheses: `FILTER (…)`",))

    def _condition(self) -> t.Expr:
        return self._joined("||", lambda: self._joined("&&", self._relation))

    def _joined(self, op: str, inner: Callable[[], t.Expr]) -> t.Expr:
        begin = self.at
        items = [inner()]
        while self.peek(op):
            self.at += 1
            items.append(inner())
        if self._peek("AND", "OR", "NOT") and self.opened:
            word = self.tokens[self.at]
            instead = {"AND": "&&", "OR": "||", "NOT": "!"}[word.text.upper()]
            if not (word.text.upper() == "NOT" and self._peeks_after("IN", "EXISTS")):
                self.fail(
                    "INK0101", f"unexpected `{word.text}` in a condition", word.span, helps=(f"write `{instead}`",)
                )
        if len(items) == 1:
            return items[0]
        return t.Joined("&&" if op == "&&" else "||", tuple(items), span=self.span(begin))

    def _peeks_after(self, *words: str) -> bool:
        after = self.tokens[self.at + 1 : self.at + 2]
        return bool(after) and after[0].text.upper() in words

    def _relation(self) -> t.Expr:
        begin = self.at
        left = self._sum()
        if self.peek(*get_args(t.Comparator)):
            op = cast("t.Comparator", self.next().text)
            if op == "=" and self.peek("="):
                self.unexpected("a value such as `?price`", ("write `=`",))
            found: t.Expr = t.Comparison(op, left, self._sum(), span=self.span(begin))
            if self.peek(*get_args(t.Comparator)):
                self.fail("INK0118", "comparisons cannot be chained", self.tokens[self.at].span)
            return found
        if self._peek("IN") or (self._peek("NOT") and self._peeks_after("IN")):
            self._list_of_values(self.source.text_of(left.span))
        return left

    def _list_of_values(self, left: str) -> NoReturn:
        """Reports `?x IN (1, 2)`."""
        begin = self.at + 1 + self._peek("NOT")
        values = [one.strip() for one in self._bracketed(begin).strip("()").split(",")]
        if not all(values) or any("(" in one or '"' in one for one in values):
            self._other_dialect()
        op, joint = ("!=", " && ") if self._peek("NOT") else ("=", " || ")
        self.fail(
            "INK0172",
            f"`{'NOT IN' if self._peek('NOT') else 'IN'}` is not a part of EP-SPARQL",
            self.tokens[self.at].span,
            helps=(f"write `{joint.join(f'{left} {op} {one}' for one in values)}`",),
        )

    def _sum(self) -> t.Expr:
        return self._operation(("+", "-"), self._product)

    def _product(self) -> t.Expr:
        return self._operation(("*", "/"), self._unary)

    def _operation(self, symbols: tuple[str, ...], inner: Callable[[], t.Expr]) -> t.Expr:
        begin = self.at
        left = inner()
        while self.peek(*symbols):
            op = cast("t.Operator", self.next().text)
            left = t.Arithmetic(op, left, inner(), span=self.span(begin))
        return left

    def _unary(self) -> t.Expr:
        begin = self.at
        self.token("a value")
        if not self.peek("!", "-", "+"):
            return self._primary()
        sign = self.next().text
        self.deeper()
        inner = self._unary()
        self.depth -= 1
        if sign == "+":
            return inner
        return (t.Not if sign == "!" else t.Minus)(inner, span=self.span(begin))

    def _primary(self) -> t.Expr:
        begin = self.at
        token = self.token("a value such as `?price`")
        if self.peek("("):
            self.deeper()
            self.open("(")
            inner = self._condition()
            self.close(")", "an operator or `)`")
            self.depth -= 1
            return inner
        if token.kind == "VARIABLE":
            return self._variable()
        if token.kind in ("IRI", "PREFIXED"):
            iri = self._iri()
            if not self.peek("("):
                return iri
            args = self._arguments()
            if len(args) != 1:
                self.fail("INK0173", f"`{iri.written}` takes one argument, found {len(args)}", self.span(begin))
            return t.Cast(iri, args[0], span=self.span(begin))
        if token.kind == "NAME" and self._is_called():
            return self._called()
        constant = self._constant(is_term=False)
        if constant is None:
            self._misplaced()
            self.unexpected("a value such as `?price`")
        return constant

    def _called(self) -> t.Called:
        begin = self.at
        token = self.next()
        name = token.text.upper()
        if name not in CALLED:
            helped = other_dialect(name)
            if helped is not None:
                self.fail("INK0172", f"`{token.text}` is not a part of EP-SPARQL", token.span, helps=(helped,))
            meant = nearest(name, sorted(CALLED), n=1)
            self.fail(
                "INK0173",
                f"unknown function `{token.text}`",
                token.span,
                helps=tuple(f"did you mean `{one}`?" for one in meant),
            )
        args = self._arguments()
        least, most = _ARGUMENTS.get(name, (1, 1))
        if not least <= len(args) <= most:
            wanted = f"{least}" if least == most else f"{least} or {most}" if most < 99 else f"at least {least}"
            self.fail("INK0173", f"`{token.text}` takes {wanted} arguments, found {len(args)}", self.span(begin))
        if name == "BOUND" and not isinstance(args[0], t.Variable):
            self.fail("INK0173", "BOUND takes a variable", args[0].span)
        return t.Called(cast("t.CalledName", name), args, span=self.span(begin))

    def _arguments(self) -> tuple[t.Expr, ...]:
        return self.listed("(", self._condition, ")")
