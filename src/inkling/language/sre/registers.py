"""Registers are stored once, and read by later events only."""

from inkling.errors import ProgramError, nearest
from inkling.language.sre import terms as t
from inkling.source import SourceText


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
