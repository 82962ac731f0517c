"""Refuses events whose results would be told apart by the time of a lost event."""

from __future__ import annotations

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.mistakes import Mistakes
from inkling.logical.continuum import lost_border, lost_time
from inkling.logical.expr import Edge
from inkling.model.uncertainty import LostEvents

_OTHER_RESULTS = "write `PER MATCH` for a result per match, or `PER VALUES` for one per value of the head"


def refuse_continuum(program: s.Program, plan: p.ProgramPlan, mistakes: Mistakes) -> None:
    """A lost event can have happened at any time of its gap, so no single time of it has a probability."""
    declared = {decl.name.text: decl.name for decl in program.statements if isinstance(decl, s.EventDecl)}
    losing = {one.schema.name for one in plan.streams if isinstance(one.schema.doubt, LostEvents)}
    for event in plan.events:
        if losing & set(event.sources):
            losing.add(event.name)
            if isinstance(event.pattern, p.Sliding):
                mistakes.wrong(
                    "INK0441",
                    "windows over events that may be lost are not supported yet",
                    declared[event.name],
                    notes=["a lost event is a member too, and where the window starts depends on when it happened"],
                )
                continue
        if event.timeouts_of is not None or event.forecast is not None:
            continue
        name = declared[event.name]
        for edge, per in ((Edge.END, (p.Per.END, p.Per.INTERVAL)), (Edge.START, (p.Per.INTERVAL,))):
            if event.per in per and (stream := lost_border(event, plan, edge)) is not None:
                _refuse(
                    f"PER {event.per.value}, but a match can {edge.value.lower()} with a lost event of `{stream}`",
                    name,
                    f"because of `PER {event.per.value}`",
                    _OTHER_RESULTS,
                    mistakes,
                )
                break
        for output in event.head:
            stream = lost_time(output.expr, event, plan)
            if stream is not None:
                _refuse(
                    f"`{output.name}` tells results apart by the time of an event of `{stream}` that may be lost",
                    name,
                    f"because of `{output.name}` in its head",
                    "put it after `RETURN`, which tells values without telling results apart by them",
                    mistakes,
                )


def _refuse(message: str, name: s.Ident, label: str, advice: str, mistakes: Mistakes) -> None:
    mistakes.wrong(
        "INK0332",
        message,
        name,
        label,
        notes=["a lost event can have happened at any time of its gap, so no single result would have a probability"],
        helps=[advice],
    )
