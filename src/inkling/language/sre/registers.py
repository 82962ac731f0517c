"""Registers are stored once, and read by later events only."""

from collections.abc import Iterator, Mapping

from inkling.errors import ProgramError, nearest
from inkling.language.sre import terms as t
from inkling.source import SourceText, Span


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
