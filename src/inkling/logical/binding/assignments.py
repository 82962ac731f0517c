"""Names for values: `v = expression`, and what is wrong with those that go round in circles."""

from __future__ import annotations

from inkling.language import syntax as s
from inkling.logical.binding.names import Assignment, EventNames
from inkling.logical.binding.places import Place
from inkling.logical.binding.syntax_walk import walk
from inkling.logical.binding.unknown import report_unknown


def take_assignment(node: s.Expr, home: Place | None, names: EventNames) -> bool:
    """Whether a conjunct names a value: one side of `=` is a name that nothing else binds."""
    if not isinstance(node, s.Compare) or node.op != "=":
        return False
    for side, other in ((node.left, node.right), (node.right, node.left)):
        if not isinstance(side, s.Variable) or side.name.text in names.assignments:
            continue
        if names.is_free(side.name.text, home) and not (home is not None and home.is_broken):
            names.assignments[side.name.text] = Assignment(side.name, other, home)
            return True
    return False


def refuse_circles(names: EventNames) -> None:
    """Reports values that are defined by themselves and forgets them."""
    needs = {
        name: [
            node.name.text
            for node in walk(assignment.value)
            if isinstance(node, s.Variable) and names.is_free(node.name.text, assignment.home)
        ]
        for name, assignment in names.assignments.items()
    }
    for name, assignment in list(names.assignments.items()):
        circle = _circle(name, needs)
        if not circle or name in names.unknowable:
            continue
        notes = [] if len(circle) == 2 else [f"it needs {' → '.join(f'`{one}`' for one in circle)}"]
        names.mistakes.wrong("INK0312", f"`{name}` is defined by itself", assignment.name, notes=notes)
        names.unknowable.update(circle)
    for name in names.unknowable & names.assignments.keys():
        del names.assignments[name]


def report_unused(names: EventNames) -> None:
    """A name for a value that nothing uses has no effect, so something else was meant."""
    for name, assignment in names.assignments.items():
        if not assignment.is_used and name not in names.unknowable:
            home = assignment.home
            note = f"`{name} = …` would name a value, but nothing uses it"
            report_unknown(assignment.name, names, home, [note])


def _circle(name: str, needs: dict[str, list[str]]) -> list[str]:
    """The shortest way from a name back to itself."""
    paths = [[name]]
    seen: set[str] = set()
    while paths:
        path = paths.pop(0)
        for needed in needs.get(path[-1], ()):
            if needed == name:
                return [*path, name]
            if needed not in seen:
                seen.add(needed)
                paths.append([*path, needed])
    return []
