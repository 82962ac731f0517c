"""Whether a model belongs to a forecast: it must have been learned with the same automaton over the same events."""

from __future__ import annotations

from inkling.errors import InputError
from inkling.evaluators.forecast.symbols import SymbolReader
from inkling.evaluators.forecast.words import symbol_words
from inkling.markov.model import Model
from inkling.physical.plan import EventStep

MOST_SHOWN = 6


def require_fitting(model: Model, step: EventStep, reader: SymbolReader, made_by: str) -> None:
    """Refuses a model that was learned for something else, and says what is different."""
    forecast = step.event.forecast
    assert forecast is not None
    words = symbol_words(step, reader)
    same_words = model.alphabet == words or not _is_named(model)
    if model.fingerprint == reader.dfa.fingerprint and model.counts.n_symbols == reader.n_symbols and same_words:
        return
    raise InputError.of(
        "INK0631",
        f"the model `{forecast.model}` does not fit `{forecast.of}`",
        notes=_differences(model, forecast.of, words),
        helps=(f"learn it again: `{made_by}`",),
    )


def _is_named(model: Model) -> bool:
    """Symbols that are called by their numbers say nothing that could be compared."""
    return model.alphabet != tuple(map(str, range(len(model.alphabet))))


def _differences(model: Model, event: str, words: tuple[str, ...]) -> tuple[str, ...]:
    notes = [] if model.event == event else [f"it was learned for `{model.event}`"]
    gone = [word for word in model.alphabet if word not in words]
    new = [word for word in words if word not in model.alphabet]
    if _is_named(model) and gone:
        notes.append(f"it tells apart what the program does not: {_listed(gone)}")
    if _is_named(model) and new:
        notes.append(f"the program tells apart what it does not: {_listed(new)}")
    if len(model.alphabet) != len(words):
        notes.append(f"it knows {len(model.alphabet)} kinds of events; there are {len(words)} now")
    if not notes:
        notes.append(
            "it tells the same events apart, but the pattern asks for them in another order or number, "
            "or CONSUME RESTART was added or left out"
        )
    return tuple(notes)


def _listed(words: list[str]) -> str:
    shown = "; ".join(words[:MOST_SHOWN])
    return shown if len(words) <= MOST_SHOWN else f"{shown}; and {len(words) - MOST_SHOWN} more"
