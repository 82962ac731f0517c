"""What `WINDOW` and `ON CHANGE` demand of the event they stand in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.mistakes import Mistakes
from inkling.logical.binding.names import EventNames
from inkling.logical.binding.syntax_walk import parts_of


def opening_of(pattern: s.Pattern) -> tuple[s.Leaf, s.WindowOf] | None:
    """The parts of `SEQ(A a, WINDOW S w LAST … SINCE a)`, if the pattern is that."""
    match pattern:
        case s.Seq(policy="ANY", components=(s.Leaf() as opening, s.WindowOf() as window)):
            since = window.since
            named = since is not None and opening.var is not None and opening.var.text == since.text
            return (opening, window) if named else None
        case _:
            return None


def refuse_window(node: s.WindowOf, mistakes: Mistakes) -> None:
    """A window that is part of another pattern, or begins with nothing."""
    notes = ["WINDOW is a whole pattern, or with SINCE the last part of `SEQ(A a, WINDOW S w LAST … SINCE a)`"]
    if node.since is not None:
        notes.append(f"`{node.since}` must be the event before the window, a single one, and nothing else stands there")
    mistakes.wrong(
        "INK0355",
        "a window cannot be part of this pattern",
        node,
        notes=notes,
        helps=["derive an event from the window, and use that event here"],
    )


def refuse_windows(decls: Iterable[s.EventDecl], mistakes: Mistakes) -> None:
    """Windows of events that are united with others or use themselves."""
    for decl in decls:
        for node in parts_of(decl.body):
            if isinstance(node, s.WindowOf):
                mistakes.wrong(
                    "INK0355",
                    f"`{decl.name}` is united with others or uses itself, so it cannot be a window",
                    node,
                    helps=[f"derive an event of another name from the window, and make `{decl.name}` of that event"],
                )


def check_windows(decl: s.EventDecl, names: EventNames) -> None:
    """What a window demands of the rest of its event, and ON CHANGE of the pattern."""
    mistakes = names.mistakes
    if not any(isinstance(part, s.WindowOf) for part in parts_of(decl.body)):
        if decl.on_change:
            mistakes.wrong(
                "INK0356",
                "ON CHANGE needs a window",
                decl.name,
                "because of `ON CHANGE`",
                notes=["other results stand for themselves; nothing says which one comes before another"],
                helps=["look at the results through a window: `WINDOW e w LAST 1 EVENTS … ON CHANGE`"],
            )
        return
    for clause, at, note in _misfits(decl):
        mistakes.wrong("INK0357", f"{clause} does not fit a window", at, notes=[note])
    for place in names.shape.places:
        if place.atoms:
            mistakes.wrong(
                "INK0440",
                "values that a table supplies in the brackets of a window are not supported yet",
                place.span,
                helps=["derive an event that has these values, and look at it through the window"],
            )
        for condition in place.conditions:
            if any(isinstance(part, e.ListColumn) and part.own for part in e.walk(condition)):
                mistakes.wrong(
                    "INK0357",
                    "FIRST and LAST in the brackets of a window have no meaning",
                    place.span,
                    notes=["the condition says which events are members; each is looked at on its own"],
                    helps=["put a condition on the members together into HAVING"],
                )


def _misfits(decl: s.EventDecl) -> Iterator[tuple[str, s.Node, str]]:
    if decl.body.within is not None:
        yield "WITHIN", decl.body.within, "LAST says how far back a window reaches"
    if decl.keep_for is not None:
        yield "KEEP FOR", decl.keep_for, "LAST says how far back a window reaches"
    if decl.consume is not None:
        yield "CONSUME", decl.consume, "every event moves the window, and one does not use up another"
    if decl.on_timeout is not None:
        yield "ON TIMEOUT", decl.on_timeout, "a window is there with its first event; it waits for nothing"
    if decl.per == "VALUES":
        yield (
            "PER VALUES",
            decl.name,
            "results of a window come one after the other; `PER END` tells them apart by time",
        )
