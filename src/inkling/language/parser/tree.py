"""What every builder of syntax nodes needs: spans, names and mistakes found while building."""

import math
from typing import Any, TypeAlias

from lark import Token, Transformer, v_args
from lark.tree import Meta

from inkling.errors import ProgramError
from inkling.language.syntax import Ident
from inkling.source import SourceText, Span

Children: TypeAlias = list[Any]

LARGEST_INTEGER = 2**63 - 1


def span_of(place: Meta | Token) -> Span:
    assert place.start_pos is not None
    assert place.end_pos is not None
    return Span(place.start_pos, place.end_pos)


@v_args(meta=True)
class TreeBuilder(Transformer[Token, Any]):
    """Builds syntax nodes bottom up; a method bears the name of its grammar rule."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(visit_tokens=False)
        self.source = source

    def mistake(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        label: str = "",
        notes: tuple[str, ...] = (),
        helps: tuple[str, ...] = (),
    ) -> ProgramError:
        return ProgramError.of(code, message, span=span, source=self.source, label=label, notes=notes, helps=helps)

    def name(self, meta: Meta, children: Children) -> Ident:
        span = span_of(meta)
        quoted = self.source.text[span.start] in '"`'
        return Ident(str(children[0]), quoted=quoted, span=span)

    def variable(self, meta: Meta, children: Children) -> Ident:
        (ident,) = children
        assert isinstance(ident, Ident)
        return ident

    def integer(self, token: Token) -> int:
        """The value of a whole number that fits 64 bits."""
        if token.type != "INTEGER":
            raise self.mistake(
                "INK0116",
                f"expected a whole number, found `{token}`",
                span_of(token),
            )
        if len(token) > 19 or int(token) > LARGEST_INTEGER:
            raise self.mistake(
                "INK0116",
                f"the number {token[:20]}{'…' if len(token) > 20 else ''} is too large",
                span_of(token),
                notes=(f"the largest whole number is {LARGEST_INTEGER}",),
            )
        return int(token)

    def real(self, token: Token) -> float:
        """The value of a number that a float can hold."""
        value = float(token)
        vanished = value == 0 and any(digit in token.lower().split("e")[0] for digit in "123456789")
        if math.isinf(value) or vanished:
            raise self.mistake("INK0116", f"the number {token} is out of range", span_of(token))
        return value

    def probability(self, token: Token, *, what: str) -> float:
        value = self.real(token)
        if not 0 <= value <= 1:
            raise self.mistake(
                "INK0116",
                f"{what} lies between 0 and 1, found `{token}`",
                span_of(token),
                helps=(f"write `{value / 100:g}`",) if 1 < value <= 100 else (),
            )
        return value

    def count(self, token: Token, *, what: str) -> int:
        """A whole number of at least one."""
        value = self.integer(token)
        if value < 1:
            raise self.mistake("INK0116", f"{what} is at least 1, found `{token}`", span_of(token))
        return value
