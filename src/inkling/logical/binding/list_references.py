"""References to repetitions: FIRST, LAST and aggregates, and when a repeated event needs them."""

from __future__ import annotations

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.mistakes import Mistakes
from inkling.logical.binding.place_columns import typed_column
from inkling.logical.binding.places import Place, Standpoint
from inkling.logical.binding.typing_rules import aggregate_type
from inkling.logical.user_aggregates import REGISTERED
from inkling.model.types import Type


def list_reference(
    at: Standpoint,
    place: Place,
    function: str,
    column: s.Ident | None,
    node: s.Expr,
    mistakes: Mistakes,
) -> e.Expr | None:
    """`FIRST(b).x`, `LAST(b).x`, `COUNT(b)`, `SUM(b.x)`."""
    if not place.repetitions:
        helps = [f"write `{place.title}.{column}`"] if column else ["repeat the event with `+` or `{2,}`"]
        mistakes.wrong(
            "INK0313",
            f"{function} needs a repetition, but `{place.title}` is a single event",
            node,
            helps=helps,
        )
        return None
    is_own = at.own == place.number
    outer = at.outer_repetitions(place)
    if len(place.repetitions) > 1 and (is_own or not outer or at.shares_repetition(place)):
        nested_lists(place, node, mistakes)
        return None
    kind = typed_column(place, column, mistakes) if column else None
    if column is not None and kind is None:
        return None
    if function in ("FIRST", "LAST"):
        if column is None or kind is None:
            mistakes.wrong(
                "INK0313",
                f"`{mistakes.words(node)}` is an event, not a value",
                node,
                helps=[f"read one of its columns, such as `{mistakes.words(node)}.{_some_column(place)}`"],
            )
            return None
        return e.ListColumn(e.Which(function), place.number, column.text, kind, own=is_own)
    if not outer:
        mistakes.wrong(
            "INK0315",
            f"`{mistakes.words(node)}` is only known once the repetition is complete",
            node,
            notes=["a condition inside a repetition is tested for one event at a time"],
            helps=[f"put it into HAVING, or look at the previous event: `LAST({place.title}).…`"],
        )
        return None
    if column is None or kind is None:
        if function == "COUNT":
            return e.Aggregate("COUNT", place.number, None, Type.INTEGER)
        mistakes.wrong(
            "INK0217",
            f"{function} needs a column",
            node,
            helps=[f"write `{function}({place.title}.{_some_column(place, function)})`"],
        )
        return None
    if function in REGISTERED:
        by = REGISTERED[function]
        return e.Aggregate(function, place.number, column.text, by.returns, by)
    result = aggregate_type(function, kind)
    if result is None:
        wanted = "values with an order" if function in ("MIN", "MAX") else "numbers"
        mistakes.wrong(
            "INK0217",
            f"{function} needs {wanted}, found {kind}",
            node,
            f"`{place.title}.{column}` is {kind}",
        )
        return None
    return e.Aggregate(function, place.number, column.text, result)


def _some_column(place: Place, function: str = "COUNT") -> str:
    """A column to show in an example, one that the function can read."""
    fitting = (name for name, kind in place.columns.items() if kind and aggregate_type(function, kind))
    return next(fitting, "column")


def needs_list(place: Place, column: s.Ident, node: s.Expr, mistakes: Mistakes) -> None:
    words = mistakes.words(node)
    if place.name is None:
        helps = ["give the repeated event a name"]
    else:
        name = place.name.text
        helps = [
            f"write `LAST({name}).{column}` or `FIRST({name}).{column}` for one of them,"
            f" or an aggregate such as `MAX({name}.{column})`"
        ]
    mistakes.wrong(
        "INK0311",
        f"`{words}` stands for several values",
        node,
        notes=[f"`{place.title}` is part of a repetition, so it is a list of events here"],
        helps=helps,
    )


def nested_lists(place: Place, node: s.Expr, mistakes: Mistakes) -> None:
    mistakes.wrong(
        "INK0413",
        "looking back into a repetition inside a repetition is not supported yet",
        node,
        f"`{place.title}` is repeated within something that is repeated",
    )
