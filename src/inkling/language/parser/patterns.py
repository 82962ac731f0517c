"""Builds patterns: leaves, sequences, repetitions, relations and nested bodies."""

from dataclasses import dataclass
from typing import Any, cast

from lark import Token, v_args
from lark.tree import Meta

from inkling.language import syntax as s
from inkling.language.kit.lalr import Children, Rule, node, node_of_all, span_of
from inkling.language.parser.expressions import ExpressionTransformer
from inkling.source import Span

_SHORTHANDS: dict[str, tuple[int, int | None]] = {"+": (1, None), "*": (0, None), "?": (0, 1)}
_HOW_TO_JOIN = {
    "WHERE": ("join the conditions with `AND`",),
    "HAVING": ("join the conditions with `AND`",),
    "KEY": ("write several columns as `KEY a, b`",),
    "PARTITION BY": ("write several columns as `PARTITION BY a, b`",),
    "RETURN": ("write several values as `RETURN a.x, b.y`",),
    "DERIVE": ("write several columns as `DERIVE x = …, y = …`",),
}


@dataclass(frozen=True, slots=True)
class ParsedClause:
    """`WHERE …` and the like: the fields it fills, under the words it starts with."""

    words: str
    fields: dict[str, object]
    span: Span

    @property
    def word_span(self) -> Span:
        return Span(self.span.start, self.span.start + len(self.words.split()[0]))


def only_part(_: Any, meta: Meta, children: Children) -> Any:
    """The part of a grammar rule that has no other."""
    return children[0]


def clause(words: str, field: str, value: Rule = only_part) -> Rule:
    """Builds a clause that fills one field, by default with its only part."""
    return lambda self, meta, children: ParsedClause(words, {field: value(self, meta, children)}, span_of(meta))


def is_there(_: Any, meta: Meta, children: Children) -> bool:
    """The value of a clause that is there or not."""
    return True


def keyword(_: Any, meta: Meta, children: Children) -> str:
    """The value of a clause that is a choice of words."""
    word: str = children[0].type
    return word


def count_of(what: str) -> Rule:
    """The value of a clause that is a number of at least 1."""
    return lambda self, _, children: self.count(children[0], what=what)


@v_args(meta=True)
class PatternTransformer(ExpressionTransformer):
    alternatives = node_of_all(s.Or)
    parallel = node_of_all(s.Par)
    conjunction = node_of_all(s.And)
    allen = node(s.Allen)
    except_ = node(s.Except)

    def left_join(self, meta: Meta, children: Children) -> s.LeftJoin:
        left, *relations, right = children
        return s.LeftJoin(left, relations[0] if relations else (), right, span=span_of(meta))

    not_between = node(s.NotBetween)

    def relations(self, meta: Meta, children: Children) -> tuple[s.Relation, ...]:
        names = [str(token).upper() for token in children if token.type == "RELATION"]
        return cast(tuple[s.Relation, ...], tuple(names))

    quantified = node(s.Quantified)

    def quantity(self, meta: Meta, children: Children) -> s.Quantity:
        head, stream, *var = children
        count = head if isinstance(head, s.EachCount) else self.integer(head) if head.type == "INTEGER" else None
        quantifier = cast(s.Quantifier, "AT LEAST" if count is not None else head.type)
        return s.Quantity(quantifier, stream, var[0] if var else None, count, span=span_of(meta))

    def each_count(self, meta: Meta, children: Children) -> s.EachCount:
        name, first, last = children
        least = self.count(first, what="a number of segments that is asked about")
        most = self.integer(last)
        if most < least:
            raise self.error(
                "INK0116",
                f"the range from {least} to {most} is empty",
                span_of(first).to(span_of(last)),
                helps=(f"write `FROM {most} TO {least}`",) if most else (),
            )
        if most > s.MOST_COUNTS:
            raise self.error("INK0116", f"numbers of segments go up to {s.MOST_COUNTS}, found `{last}`", span_of(last))
        return s.EachCount(name, least, most, span=span_of(meta))

    check = node(s.Check)

    def repeat(self, meta: Meta, children: Children) -> s.Repeat:
        pattern, (low, high, mode) = children
        return s.Repeat(pattern, low, high, mode, span=span_of(meta))

    def repetition(self, meta: Meta, children: Children) -> tuple[int, int | None, s.RepeatMode | None]:
        how_often, *mode = children
        low, high = _SHORTHANDS[how_often] if isinstance(how_often, Token) else how_often
        return low, high, cast(s.RepeatMode, mode[0].type) if mode else None

    def bounds(self, meta: Meta, children: Children) -> tuple[int, int | None]:
        numbers = [self.integer(token) for token in children if token.type == "INTEGER"]
        low, high = numbers[0], numbers[-1]
        if len(children) == 2:
            return low, None
        if high < low:
            raise self.error(
                "INK0112",
                f"a repetition cannot have at least {low} and at most {high}",
                span_of(meta),
                helps=(f"write `{{{high},{low}}}`",),
            )
        if high == 0:
            raise self.error("INK0112", "a repetition of zero never matches", span_of(meta))
        return low, high

    def leaf(self, meta: Meta, children: Children) -> s.Leaf:
        types, *rest = children
        var = next((part for part in rest if isinstance(part, s.Ident)), None)
        condition = next((part for part in rest if not isinstance(part, s.Ident)), None)
        return s.Leaf(types, var, condition, span=span_of(meta))

    def types(self, meta: Meta, children: Children) -> tuple[s.Ident, ...]:
        return tuple(child for child in children if isinstance(child, s.Ident))

    condition = only_part

    def sequence(self, meta: Meta, children: Children) -> s.Seq:
        explicit = isinstance(children[0], Token)
        policy = cast(s.Policy, children[0].type if explicit else "ANY")
        return s.Seq(policy, tuple(children[explicit:]), span=span_of(meta))

    absent = node(s.Absent)
    optional_part = node(s.OptionalPart)
    after = node(s.After)
    at_start = node(s.AtStart)

    def nested(self, meta: Meta, children: Children) -> s.Pattern:
        pattern, *rest = children
        clauses = [part for part in rest if isinstance(part, ParsedClause)]
        var = next((part for part in rest if isinstance(part, s.Ident)), None)
        if not clauses and var is None:
            return cast(s.Pattern, pattern)
        last = clauses[-1] if clauses else pattern
        body = s.Body(pattern, **self.fields_of(clauses), span=pattern.span.to(last.span))
        return s.Nested(body, var, span=span_of(meta))

    complement = node(s.Complement)

    def window_of(self, meta: Meta, children: Children) -> s.WindowOf:
        stream, var, *rest = children
        since = rest.pop() if isinstance(rest[-1], s.Ident) else None
        number, unit = rest[-2:]
        condition = rest[0] if len(rest) == 3 else None
        last = self.last(number, unit)
        return s.WindowOf(stream, var, condition, last, since, span=span_of(meta))

    def at_time(self, meta: Meta, children: Children) -> s.AtTime:
        (token,) = children
        value = self.integer(token) if token.type == "INTEGER" else str(token)
        return s.AtTime(s.Literal(value, span=span_of(token)), span=span_of(meta))

    where = clause("WHERE", "where")

    def within(self, meta: Meta, children: Children) -> ParsedClause:
        return ParsedClause("WITHIN", {"within": self.window(*children)}, span_of(meta))

    having = clause("HAVING", "having")

    def fields_of(self, clauses: Children) -> dict[str, Any]:
        """The fields of clauses in any order, each given once."""
        fields: dict[str, Any] = {}
        first: dict[str, ParsedClause] = {}
        for clause in clauses:
            earlier = first.setdefault(clause.words, clause)
            if earlier is not clause:
                line = self.source.position(earlier.span.start).line
                raise self.error(
                    "INK0110",
                    f"duplicate `{clause.words}`",
                    clause.word_span,
                    notes=(f"the first `{clause.words}` is on line {line}",),
                    helps=_HOW_TO_JOIN.get(clause.words, ()),
                )
            fields |= clause.fields
        return fields
