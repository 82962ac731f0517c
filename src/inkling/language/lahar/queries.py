"""Reads queries: goals, selections, repetitions, and sequences of them from left to right."""

from inkling.language.lahar import terms as t
from inkling.language.lahar.conditions import ConditionParser


class QueryParser(ConditionParser):
    __slots__ = ()

    def query(self) -> t.Query:
        begin = self.at
        first = self._part()
        parts: list[t.Query] = list(first.parts) if isinstance(first, t.Sequence) else [first]
        while self.peek(";"):
            self.at += 1
            parts.append(self._followed_by())
        return parts[0] if len(parts) == 1 else t.Sequence(tuple(parts), span=self.span(begin))

    def _followed_by(self) -> t.Query:
        begin = self.at
        part = self._part()
        if isinstance(part, t.Sequence):
            self.fail(
                "INK0150",
                "a whole query stands to the right of `;`",
                self.span(begin),
                notes=("to the right of `;` stands one goal, with its own condition or repeated",),
                helps=("sequences go from left to right: write `q ; r ; s`",),
            )
        if not isinstance(part, t.Plus) and t.goal_of(part) is None:
            self.fail(
                "INK0150",
                "a selection around a whole query stands to the right of `;`",
                self.span(begin),
                notes=("to the right of `;`, `sigma` belongs to one goal and says which of its events are candidates",),
                helps=("put the condition around what leads here as well: `sigma[c](q ; r)`",),
            )
        return part

    def _part(self) -> t.Query:
        begin = self.at
        self.deeper()
        if self.peek_word("sigma"):
            found = self._selected()
        elif self.peek("("):
            self.open("(")
            inner = self.query()
            self.close(")", "`;` or `)`")
            found = self._repeated(inner, begin) if self.peek("+") else inner
        else:
            found = self._goal()
        self.depth -= 1
        return found

    def _selected(self) -> t.Query:
        begin = self.at
        self.at += 1
        self.open("[")
        condition = self.condition()
        self.close("]", "`and`, `or` or `]`")
        self.open("(")
        query = self.query()
        self.close(")", "`;` or `)`")
        return t.Selected(condition, query, span=self.span(begin))

    def _goal(self) -> t.Goal:
        begin = self.at
        name = self.name("an event, `sigma` or `(`")
        if not self.peek("("):
            self.unexpected("`(`")
        terms = self.terms()
        goal = t.Goal(name, terms, span=self.span(begin))
        if self.peek("+"):
            self.fail(
                "INK0101",
                "expected parentheses around what is repeated",
                self.tokens[self.at].span,
                helps=(f"write `({self.source.text_of(goal.span)})+<{{}}, true>`",),
            )
        return goal

    def _repeated(self, body: t.Query, begin: int) -> t.Plus:
        if t.goal_of(body) is None:
            self.fail(
                "INK0150",
                "what is repeated is more than one goal",
                body.span,
                helps=("repeat one goal, with its own condition or without",),
            )
        self.at += 1
        if not self.peek("<"):
            self.unexpected("`<`", helps=("write what stays the same and what must hold each time: `+<{x}, true>`",))
        self.open("<")
        kept = self.listed("{", lambda: self.name("a variable"), "}")
        self.take(",")
        condition = self.condition()
        self.close(">", "`and`, `or` or `>`")
        return t.Plus(body, kept, condition, span=self.span(begin))
