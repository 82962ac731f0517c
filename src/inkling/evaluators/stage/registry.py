"""The one list of what has the events of a stage go on: for each choice in a plan, what makes its steppers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from inkling.analysis.choice import Evaluator
from inkling.evaluators.automaton.stepper import AutomataCarry, AutomataStepper
from inkling.evaluators.consumption.carry import ConsumptionCarry, ConsumptionStepper
from inkling.evaluators.forecast.carry import ForecastStepper
from inkling.evaluators.network.stepper import NetworkStepper
from inkling.evaluators.stage.protocol import KeptRows, Setting, Stepper
from inkling.evaluators.windows.carry import WindowCarry, WindowStepper
from inkling.physical.plan import EventStep

AnyCarry = AutomataCarry | WindowCarry | ConsumptionCarry | KeptRows

Maker = Callable[[Sequence[EventStep], Setting], Sequence[Stepper[Any]]]

MAKERS: dict[str, Maker] = {
    Evaluator.AUTOMATON: AutomataStepper.of,
    Evaluator.WINDOW: WindowStepper.of,
    Evaluator.CONSUMPTION: ConsumptionStepper.of,
    Evaluator.FORECAST: ForecastStepper.of,
}
"""In the order in which they see rows. The network, which comes last, answers the events that none of them takes."""


def steppers_of(setting: Setting) -> tuple[Stepper[Any], ...]:
    """What answers the events of a stage; every event has one stepper."""
    steps, made = setting.stage.steps, list[Stepper[Any]]()
    for evaluator, make in MAKERS.items():
        made += make([step for step in steps if step.evaluator == evaluator], setting)
    answered = {name for stepper in made for name in stepper.events}
    left = [step for step in steps if step.event.name not in answered]
    return (*made, NetworkStepper(left, setting, answered)) if left else tuple(made)
