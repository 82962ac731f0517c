"""Patterns in prefix notation as patterns of a program; registers are stored once, and read by later events only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from inkling.errors import ProgramError, nearest
from inkling.language import syntax as s
from inkling.language.sre import terms as t
from inkling.language.sre.predicates import condition_of, is_anything
from inkling.language.sre.streams import Stream
from inkling.source import SourceText, Span


@dataclass(frozen=True, slots=True)
class Shapes:
    stream: Stream
    repeated: Mapping[Span, frozenset[str]]  # registers that are lists, by the place of an event
    source: SourceText

    def alone(self, node: t.Expression) -> s.Pattern:
        """A pattern that may stand anywhere: repetitions and complements of consecutive events say so."""
        part = self.part(node)
        if isinstance(part, s.Repeat | s.Complement):
            return s.Seq("STRICT", (part,), span=node.span)
        return part

    def part(self, node: t.Expression) -> s.Pattern:
        """A component of `SEQ STRICT`."""
        match node:
            case t.Single():
                return self._leaf(node)
            case t.Operation(op=";", items=items):
                return s.Seq("STRICT", tuple(self.part(item) for item in items), span=node.span)
            case t.Operation(op="+", items=items):
                return s.Or(tuple(self._alternatives(items)), span=node.span)
            case t.Operation(op="*", items=(item,)):
                return s.Repeat(self.alone(item), 0, span=node.span)
            case t.Operation(op="!", items=(item,)):
                return s.Complement(self.alone(item), span=node.span)
            case t.Operation(op=op, items=(item,)):
                return self._skipping("ANY" if op == "#" else "NEXT", item)
            case _:
                raise AssertionError(f"no such pattern: {node}")

    def _skipping(self, policy: s.Policy, node: t.Expression) -> s.Pattern:
        """A policy says how the parts of a sequence or a repetition follow each other; elsewhere it says nothing."""
        match node:
            case t.Operation(op=";", items=items):
                return s.Seq(policy, tuple(self.alone(item) for item in items), span=node.span)
            case t.Operation(op="*", items=(item,)):
                return s.Seq(policy, (s.Repeat(self.alone(item), 0, span=node.span),), span=node.span)
            case _:
                return self.alone(node)

    def _alternatives(self, items: tuple[t.Expression, ...]) -> list[s.Pattern]:
        found: list[s.Pattern] = []
        for item in items:
            one = self.alone(item)
            found += one.items if isinstance(one, s.Or) else [one]
        return found

    def _leaf(self, node: t.Single) -> s.Leaf:
        name = self.stream.declaration.name
        var = s.Ident(node.register.name, span=node.register.span) if node.register else None
        columns = replace(self.stream.columns, repeated=self.repeated[node.span])
        condition = None if is_anything(node.formula) else condition_of(node.formula, columns, self.source)
        types = (s.Ident(name.text, quoted=name.quoted, span=node.span),)
        return s.Leaf(types, var, condition, span=node.span)


def longest(node: t.Expression) -> int | None:
    """The most events from the first to the last of a match, None when there is no most."""
    match node:
        case t.Single():
            return 1
        case t.Operation(op=";", items=items):
            lengths = [longest(item) for item in items]
            return None if None in lengths else sum(length or 0 for length in lengths)
        case t.Operation(op="+", items=items):
            lengths = [longest(item) for item in items]
            return None if None in lengths else max(length or 0 for length in lengths)
        case t.Operation(op="#" | "@", items=(t.Operation(op="+") as item,)):
            return longest(item)
        case t.Operation(op="#" | "@", items=(t.Single() as item,)):
            return longest(item)
        case _:
            return None


def check_registers(expression: t.Expression, source: SourceText) -> None:
    """Raises `ProgramError` for a register that is read before it is stored, or stored twice."""
    stored: list[str] = []
    for single in t.singles(expression):
        for predicate in t.predicates(single.formula):
            for arg in predicate.args:
                if isinstance(arg, t.Register) and arg.name not in stored:
                    meant = nearest(arg.name, stored, n=1)
                    raise ProgramError.of(
                        "INK0143",
                        f'the register "{arg.name}" is read before an event is stored in it',
                        span=arg.span,
                        source=source,
                        helps=tuple(f'write "{one}"' for one in meant)
                        or (f'store an event that comes earlier: `GT(speed, 5.0)["{arg.name}"]`',),
                    )
        register = single.register
        if register is not None:
            if register.name in stored:
                raise ProgramError.of(
                    "INK0143",
                    f'two events are stored in the register "{register.name}"',
                    span=register.span,
                    source=source,
                    helps=("give each its own register",),
                )
            stored.append(register.name)


def repeated_registers(expression: t.Expression) -> Mapping[Span, frozenset[str]]:
    """By the place of each event, the registers that were stored in a repetition before it, each time anew."""
    found = list(_in_repetitions(expression, ()))
    stored = {single.register.name: around for single, around in found if single.register}
    return {
        single.span: frozenset(name for name, outer in stored.items() if around[: len(outer)] != outer)
        for single, around in found
    }


def _in_repetitions(node: t.Expression, around: tuple[Span, ...]) -> Iterator[tuple[t.Single, tuple[Span, ...]]]:
    match node:
        case t.Single():
            yield node, around
        case t.Operation(op=op, items=items):
            for item in items:
                yield from _in_repetitions(item, (*around, node.span) if op == "*" else around)
