"""What a program would say with a model, for every state of its automaton and everything that may have come before."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.analysis.choice import Evaluator
from inkling.errors import InputError
from inkling.evaluators.forecast.families import Families, Family
from inkling.evaluators.forecast.symbols import SymbolReader
from inkling.fitting.nodes import spelled
from inkling.markov.chain import Chain
from inkling.markov.model import Model
from inkling.physical.runnable import Runnable


def forecast_lines(program: Runnable, model: Model) -> list[str]:
    """The forecasts of a program that a model is for; those within a duration need its clock and are left out."""
    lines: list[str] = []
    problems = []
    for stage in program.physical.stages:
        for step in stage.steps:
            forecast = step.event.forecast
            if step.evaluator is not Evaluator.FORECAST or forecast is None or forecast.of != model.event:
                continue
            reader = SymbolReader.of(step, len(stage.inputs), stage.resets)
            try:
                families = Families.of(step, reader, model.to_arrow(), lambda span: 0)
            except InputError as problem:
                problems.append(problem)  # it may have another model
                continue
            if forecast.within is None:
                chain = Chain.of(reader.delta, reader.dfa.final, families.model.contexts())
                lines += [f"{step.event.name}", *_rows(chain, families.member(0))]
    if not lines and problems:
        raise problems[0]
    if not lines:
        raise InputError.of(
            "INK0618",
            f"the program has no forecast of `{model.event}` that counts events",
            notes=("the model is one of this event",),
        )
    return lines


def _rows(chain: Chain, family: Family) -> Iterator[str]:
    table = family.table
    words = chain.contexts.words()
    names = [spelled(words[context]) for context in chain.context]
    wide = max(map(len, names))
    yield f"  {'state':<6}{'after':<{wide}}  {'first':>5}  {'last':>5}  {'chance':>7}  {'expected':>8}"
    for row, name in enumerate(names):
        if family.issued[row]:
            yield (
                f"  {chain.state[row]:<6}{name:<{wide}}  {table.first[row]:>5}  {table.last[row]:>5}  "
                f"{table.chance[row]:>7.4f}  {table.expected[row]:>8.2f}"
            )
