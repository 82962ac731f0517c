"""How late rows may come and how long they can be withdrawn: said by the program, and changed while it runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from inkling.logical.plan import ProgramPlan, StreamPlan
from inkling.logical.settings import SettingError
from inkling.model.time import MICROSECONDS, Span

_WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?)\s+([A-Za-z]+)\s*")


@dataclass(frozen=True, slots=True)
class StreamWindow:
    """Lengths of time as they are written, `10 MINUTES`; None for what stays as the program says."""

    lateness: str | None = None
    withdrawals: str | None = None


StreamWindows: TypeAlias = Mapping[str, StreamWindow]


def with_windows(program: ProgramPlan, windows: StreamWindows) -> ProgramPlan:
    """The program with other windows of some of its streams; raises `SettingError`."""
    if not windows:
        return program
    changed = [_changed(one, windows.get(one.schema.name, StreamWindow())) for one in program.streams]
    return replace(program, streams=tuple(changed))


def _changed(stream: StreamPlan, window: StreamWindow) -> StreamPlan:
    schema = stream.schema
    late = schema.late if window.lateness is None else span_of(window.lateness)
    op_for = schema.op_for if window.withdrawals is None else span_of(window.withdrawals)
    if window.withdrawals is not None and schema.op is None:
        raise SettingError(f"rows of `{schema.name}` are never withdrawn: it has no OP")
    for span in (late, op_for):
        if span is not None:
            _require_measurable(span, stream)
    if late is not None and op_for is not None and schema.units(op_for) < schema.units(late):
        raise SettingError(f"rows of `{schema.name}` could come later than they can be withdrawn: {late} > {op_for}")
    return replace(stream, schema=replace(schema, late=late, op_for=op_for))


def _require_measurable(span: Span, stream: StreamPlan) -> None:
    try:
        stream.schema.units(span)
    except ValueError as problem:
        raise SettingError(str(problem)) from None


def span_of(text: str) -> Span:
    """A length of time from its text.

    >>> span_of("90 seconds")
    Span(amount=Fraction(90, 1), unit='SECONDS')
    """
    found = _WRITTEN.fullmatch(text)
    unit = "" if found is None else found[2].upper()
    unit = unit if unit.endswith("S") else f"{unit}S"
    if found is None or unit not in (*MICROSECONDS, "TICKS"):
        raise SettingError(f"`{text}` is no length of time; one is written like `10 MINUTES`")
    return Span(Fraction(found[1]), unit)
