"""`AT LEAST k FROM 1 TO 12`: how many segments of a key are asked about, one number at a time."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.binding.mistakes import Mistakes, listed
from inkling.logical.binding.names import EventNames
from inkling.logical.binding.syntax_walk import conjuncts, parts_of, walk


def bounds_of(side: s.Quantity) -> tuple[int | None, int | None]:
    """The least number of segments, None for all of them, and the last one of several that are asked about."""
    match side.count:
        case s.EachCount(least=least, most=most):
            return least, most
        case count:
            return (1 if side.quantifier == "SOME" else count), None


def take_quantity(body: s.Body, names: EventNames) -> None:
    """Enters the name of the number; where none may stand it is reported and not called unknown besides."""
    for count in _each_counts(body):
        if not isinstance(body.pattern, s.Quantified):
            names.unknowable.add(count.name.text)  # such a part of a pattern is refused as a whole
        elif count is body.pattern.right.count:
            names.unknowable.add(count.name.text)
            _refuse_right(count, names.mistakes)
        elif _is_taken(count.name, names):
            names.unknowable.add(count.name.text)
        else:
            names.quantity = count.name.text


def check_quantity(decl: s.EventDecl, names: EventNames, head: tuple[p.Output, ...]) -> None:
    """Results of different numbers are different ones, so the head tells them apart; WHERE chooses segments before."""
    if names.quantity is None or not isinstance(decl.body.pattern, s.Quantified):
        return
    count = decl.body.pattern.left.count
    assert isinstance(count, s.EachCount)
    shown = (names.shape.places[0].conditions, names.shape.places[1].conditions)
    if any(isinstance(part, e.Quantity) for some in shown for test in some for part in e.walk(test)):
        names.mistakes.wrong(
            "INK0354",
            f"`{count.name}` cannot choose segments",
            next(_tests(decl, count.name), count),
            notes=["WHERE chooses the segments first, and then it is asked how many of them qualify"],
            helps=[f"compare `{count.name}` with columns of KEY in HAVING"],
        )
    if not any(isinstance(output.expr, e.Quantity) for output in head):
        values = [names.mistakes.words(item) for item in decl.head or ()]
        names.mistakes.wrong(
            "INK0354",
            f"the head does not show `{count.name}`, so nothing tells results of different numbers apart",
            count,
            helps=[f"write `EVENT {decl.name}({', '.join([*values, count.name.text])})`"],
        )


def _each_counts(body: s.Body) -> Iterator[s.EachCount]:
    for node in parts_of(body):
        if isinstance(node, s.Quantity) and isinstance(node.count, s.EachCount):
            yield node.count


def _refuse_right(count: s.EachCount, mistakes: Mistakes) -> None:
    mistakes.wrong(
        "INK0354",
        "only the left side can go through several numbers",
        count,
        notes=["the right side says when a segment of the left side qualifies"],
        helps=[f"write one number, such as `AT LEAST {count.least}`"],
    )


def _is_taken(name: s.Ident, names: EventNames) -> bool:
    """Whether something else has the name, which is then reported."""
    other = names.shape.named(name.text)
    if other is not None and other.name is not None:
        names.mistakes.wrong(
            "INK0208",
            f"two parts of the pattern are called `{name}`",
            other.name,
            notes=[f"the first stands at {names.mistakes.place(name)}"],
            helps=["give one of them another name"],
        )
        return True
    if name.text in names.partition:
        names.mistakes.wrong(
            "INK0208",
            f"`{name}` is also a column of PARTITION BY",
            name,
            notes=[f"the columns of PARTITION BY are {listed(names.partition)}"],
            helps=["give the number another name"],
        )
        return True
    return False


def _tests(decl: s.EventDecl, name: s.Ident) -> Iterator[s.Expr]:
    """The conjuncts of WHERE that mention the number."""
    for node in conjuncts(decl.body.where):
        if any(isinstance(part, s.Variable) and part.name.text == name.text for part in walk(node)):
            yield node
