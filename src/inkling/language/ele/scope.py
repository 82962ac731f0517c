"""The variables of one rule: what gives each of them its value, and terms over them as expressions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from inkling.errors import ProgramError
from inkling.language import syntax as s
from inkling.language.ele import terms as t
from inkling.language.ele.kinds import Kinds, column_slot, variable_slot
from inkling.language.ele.predicates import Predicates, key_of, unused
from inkling.language.ele.walk import variables
from inkling.source import SourceText, Span

_COMPARISONS: dict[str, s.ComparisonOperator] = {
    "<": "<",
    ">": ">",
    "=<": "<=",
    ">=": ">=",
    "=": "=",
    "==": "=",
    "=:=": "=",
    "is": "=",
    "\\=": "<>",
    "\\==": "<>",
    "=\\=": "<>",
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is known of a whole file when its statements are translated."""

    source: SourceText
    predicates: Predicates
    kinds: Kinds


@dataclass(slots=True)
class Scope:
    """Values of variables so far; a part that may be missing has a scope of its own."""

    meaning: Meaning
    statement: int
    counts: Counter[str]  # how often each variable stands in the rule
    bindable: frozenset[str]  # variables that every match of the rule gives a value
    columns: frozenset[str] = frozenset()  # of the events in the rule
    values: dict[str, s.Expr] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    later: frozenset[str] = frozenset()  # inside NOT: variables that some event outside it binds

    def inner(self, later: frozenset[str] = frozenset()) -> Scope:
        """A scope that sees these values and keeps its own to itself."""
        return replace(self, values=dict(self.values), later=self.later | later)

    def fresh(self, name: str) -> str:
        """A name for an event, like this one, that no other event or value of the rule has."""
        name = unused(name, self.taken)
        self.taken.add(name)
        return name

    def fresh_value(self, name: str) -> str:
        """A name for a value, like this one; between brackets a column would come first."""
        return self.fresh(unused(name, self.taken | self.columns))

    def is_used_outside(self, name: str, inside: int) -> bool:
        return self.counts[name] > inside

    def error(self, code: str, message: str, span: Span, *, label: str = "", **more: tuple[str, ...]) -> ProgramError:
        return ProgramError.of(code, message, span=span, source=self.meaning.source, label=label, **more)

    def is_double(self, name: str) -> bool:
        slot = variable_slot(self.statement, name)
        return self.meaning.kinds.type_of(slot) == "DOUBLE"

    def value(self, term: t.Term, *, double: bool = False) -> s.Expr:
        """A term as an expression; `double` writes whole numbers so that they are no integers."""

        def inner(part: t.Term) -> s.Expr:
            return self.value(part, double=double and not any(variables(term)))

        match term:
            case t.Variable(name=name, span=span):
                if name not in self.values:
                    raise self._unsafe(term)
                return _moved(self.values[name], span)
            case t.Number(value=value, span=span):
                return s.Literal(float(value) if double else value, span=span)
            case t.Text(value=text, span=span):
                return s.Literal(text, span=span)
            case t.Atom(name=name, args=(), span=span):
                return s.Literal(name.text, span=span)
            case t.Atom(name=name, args=args, span=span):
                return s.Call(s.Ident(name.text, span=name.span), tuple(self.value(arg) for arg in args), span=span)
            case t.Minus(operand=operand, span=span):
                return s.Unary("-", inner(operand), span=span)
            case t.Arithmetic(op="**", left=left, right=right, span=span):
                return s.Call(s.Ident("pow", span=span), (inner(left), inner(right)), span=span)
            case t.Arithmetic(op=op, left=left, right=right, span=span):
                written: s.ArithmeticOperator = "%" if op == "mod" else op  # type: ignore[assignment]
                return s.Binary(written, inner(left), inner(right), span=span)
            case t.Goals(goals=(only,)):
                return inner(only)
            case t.Goals(span=span) | t.Comparison(span=span) | t.Negated(span=span):
                raise self.error("INK0101", "expected a value, found a condition", span)

    def atom(self, atom: t.Atom, variable: Callable[[t.Variable], s.Expr]) -> s.Call:
        """A static atom; `variable` says what an argument without a value stands for."""
        key = key_of(atom)
        args: list[s.Expr] = []
        for number, arg in enumerate(atom.args):
            if isinstance(arg, t.Variable) and arg.name not in self.values:
                args.append(variable(arg))
            else:
                args.append(self.value(arg, double=self.meaning.kinds.type_of(column_slot(key, number)) == "DOUBLE"))
        name = s.Ident(self.meaning.predicates.knowledge_name(key), quoted=atom.name.quoted, span=atom.name.span)
        return s.Call(name, tuple(args), span=atom.span)

    def compare(self, goal: t.Comparison) -> s.Compare:
        return s.Compare(_COMPARISONS[goal.op], self.value(goal.left), self.value(goal.right), span=goal.span)

    def missing(self, term: t.Term) -> list[t.Variable]:
        return [variable for variable in variables(term) if variable.name not in self.values]

    def _unsafe(self, variable: t.Variable) -> ProgramError:
        if variable.is_anything:
            return self.error("INK0132", "`_` stands for anything, so it has no value", variable.span)
        return self.error(
            "INK0132",
            f"nothing gives `{variable.name}` a value",
            variable.span,
            notes=("a variable gets its value from an event of the pattern, a static predicate or an equation",),
        )


def _moved(expr: s.Expr, span: Span) -> s.Expr:
    """An expression as if it stood at another place."""
    match expr:
        case s.Attribute(var=var, column=column):
            return s.Attribute(replace(var, span=span), replace(column, span=span), span=span)
        case s.Variable(name=name):
            return s.Variable(replace(name, span=span), span=span)
        case _:
            return replace(expr, span=span)
