"""Symbols in words: the conditions that hold on a row, as the program says them."""

from __future__ import annotations

from inkling.evaluators.forecast.symbols import SymbolReader
from inkling.logical.expr import AnyOf, Expr
from inkling.physical.plan import EventStep
from inkling.physical.row_text import row_text

OTHER = "any other event"


def symbol_words(step: EventStep, reader: SymbolReader) -> tuple[str, ...]:
    """By symbol: what a row is like that it stands for."""
    conditions = {one.number: one.expr for one in step.conditions}
    texts = {place: _text(conditions[bit]) for place, bit in enumerate(reader.bits)}
    read = [source for source in step.event.scope if source in step.event.sources]
    sources = dict(enumerate(read)) if len(read) > 1 else {}
    parts = []
    for guard in reader.guards:
        name = "|".join(sources[place] for place in sorted(guard.streams or ()) if place in sources)
        asked = " and ".join(texts[place] for place in sorted(guard.bits))
        parts.append(f"{name}[{asked}]" if name and asked else name or asked)
    held = [[part for place, part in enumerate(parts) if part and truth >> place & 1] for truth in reader.truths]
    return tuple(" and ".join(dict.fromkeys(some)) or OTHER for some in held)


def _text(condition: Expr) -> str:
    text = row_text(condition)
    return f"({text})" if isinstance(condition, AnyOf) else text
