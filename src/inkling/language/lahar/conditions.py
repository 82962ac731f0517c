"""Reads conditions: comparisons and relations, with `and`, `or`, `not` and parentheses."""

from typing import cast, get_args

from inkling.language.lahar import terms as t
from inkling.language.lahar.cursor import Cursor

COMPARATORS: tuple[t.Comparator, ...] = get_args(t.Comparator)


class ConditionParser(Cursor):
    __slots__ = ()

    def condition(self) -> t.Condition:
        return self._joined("or")

    def _joined(self, op: t.Connective) -> t.Condition:
        begin = self.at
        items: list[t.Condition] = []
        while True:
            one = self._negated() if op == "and" else self._joined("and")
            items += one.items if isinstance(one, t.Joined) and one.op == op else [one]
            if not self.peek_word(op):
                break
            self.at += 1
        return items[0] if len(items) == 1 else t.Joined(op, tuple(items), span=self.span(begin))

    def _negated(self) -> t.Condition:
        begin = self.at
        if not self.peek_word("not"):
            return self._atom()
        self.at += 1
        self.deeper()
        item = self._negated()
        self.depth -= 1
        return t.Negated(item, span=self.span(begin))

    def _atom(self) -> t.Condition:
        begin = self.at
        if self.peek("("):
            self.deeper()
            self.open("(")
            inner = self.condition()
            self.close(")", "`and`, `or` or `)`")
            self.depth -= 1
            return inner
        if self.peek_word("true"):
            self.at += 1
            return t.Truth(span=self.span(begin))
        if self.at == len(self.tokens) or self.tokens[self.at].kind == "SYMBOL":
            self.unexpected("a condition", helps=self._help())
        left = self.term()
        if isinstance(left, t.Name) and self.peek("("):
            terms = self.terms()
            if not terms:
                self.fail("INK0151", f"`{left.text}` is asked for nothing", self.span(begin))
            return t.Atom(left, terms, span=self.span(begin))
        if not self.peek(*COMPARATORS):
            self.unexpected("a comparison" if not isinstance(left, t.Name) else "a comparison or `(`")
        op = cast(t.Comparator, self.next().text)
        right = self.term()
        for side in (left, right):
            if isinstance(side, t.Anything):
                self.fail(
                    "INK0153", "`_` has no value to compare", side.span, helps=("give the variable a name of its own",)
                )
        return t.Comparison(op, left, right, span=self.span(begin))

    def _help(self) -> tuple[str, ...]:
        return ("write `true` where there is no condition",) if self.peek("]", ">") else ()
