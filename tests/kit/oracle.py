"""What the results must be, by the definition: in one world here, over all worlds in `probable_oracle`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.kit.context import Tables, expression_context
from tests.kit.probable_oracle import ProbableResult, probable_oracle

from inkling.language import parse
from inkling.logical import bind
from inkling.logical import plan as p
from inkling.meaning.semantics import Result, semantics
from inkling.meaning.streams import RawRow, world_of
from inkling.model.time import Clock
from inkling.source import SourceText

__all__ = ["ProbableResult", "bound", "expression_context", "oracle", "probable_oracle"]


def bound(text: str) -> p.ProgramPlan:
    """The plan of a program in `.ink`."""
    return bind(parse(text), SourceText("program.ink", text)).plan


def oracle(
    plan: p.ProgramPlan, rows: Mapping[str, Sequence[RawRow]], tables: Tables | None = None, clock: Clock = Clock.TICKS
) -> dict[str, tuple[Result, ...]]:
    """The results of every event of a program on certain streams."""
    context = expression_context(plan, tables or {}, clock)
    return semantics(plan, world_of(plan, rows, context), context)
