"""`aggregate(sum(X), event(X), S)` as a window over the events, whose aggregate is the value of S."""

from __future__ import annotations

from collections import Counter
from typing import cast

from inkling.language import syntax as s
from inkling.language.ele import terms as t
from inkling.language.ele.directives import duration
from inkling.language.ele.goals import joined
from inkling.language.ele.predicates import key_of
from inkling.language.ele.scope import Scope
from inkling.language.ele.walk import variables

FUNCTIONS: dict[str, s.AggregateName] = {
    "count": "COUNT",
    "sum": "SUM",
    "avg": "AVG",
    "min": "MIN",
    "max": "MAX",
    "stddev": "STDDEV",
    "median": "MEDIAN",
}
EVENTS = frozenset({"event", "events"})


def window_of(atom: t.Atom, scope: Scope, last: t.Quantity | None, since: s.Ident | None = None) -> s.WindowOf:
    """The window of an aggregate; the value of its last argument becomes known."""
    function, event, result = cast(tuple[t.Atom, t.Atom, t.Variable], atom.args)
    if last is None:
        raise scope.mistake(
            "INK0133",
            "an aggregate needs a window",
            atom.span,
            helps=("name the rule: `sums([window(5 events)]): …` or `sums([window(10 min)]): …`",),
        )
    name = s.Ident(scope.fresh("w"), span=event.span)
    column, condition = _columns(function, event, scope)
    scope.values[result.name] = s.Aggregate(_function(function, scope), name, column, span=function.span)
    stream = s.Ident(scope.meaning.predicates.event_name(key_of(event)), quoted=event.name.quoted, span=event.name.span)
    return s.WindowOf(stream, name, condition, _last(last, scope), since, span=atom.span)


def _function(function: t.Atom, scope: Scope) -> s.AggregateName:
    name = function.name.text
    if name not in FUNCTIONS or len(function.args) > 1 or (name != "count") == (not function.args):
        raise scope.mistake(
            "INK0133",
            "unknown aggregate",
            function.span,
            notes=("there are count, sum(X), avg(X), min(X), max(X), stddev(X) and median(X)",),
        )
    return FUNCTIONS[name]


def _columns(function: t.Atom, event: t.Atom, scope: Scope) -> tuple[s.Ident | None, s.Expr | None]:
    """The column that is aggregated, and the condition for events to count."""
    over = next((arg.name for arg in function.args if isinstance(arg, t.Variable)), None)
    inside = Counter(variable.name for term in (function, event) for variable in variables(term))
    chosen: s.Ident | None = None
    tests: list[s.Expr] = []
    for arg, name in zip(event.args, scope.meaning.predicates.columns[key_of(event)], strict=True):
        column = s.Ident(name, span=arg.span)
        match arg:
            case t.Variable(name=variable) if variable == over and variable not in scope.values:
                chosen = column
            case t.Variable(name=variable) if variable not in scope.values:
                if not arg.is_anything and scope.is_used_outside(variable, inside[variable]):
                    raise scope.mistake(
                        "INK0451",
                        f"`{variable}` has many values in an aggregate",
                        arg.span,
                        helps=("let an event before the aggregate give it a value: `start(X) SEQ aggregate(…)`",),
                    )
            case _:
                tests.append(s.Compare("=", s.Variable(column, span=arg.span), scope.value(arg), span=arg.span))
    if over is not None and chosen is None:
        raise scope.mistake("INK0132", f"no argument of the event is `{over}`", function.span)
    return chosen, joined(tests)


def _last(last: t.Quantity, scope: Scope) -> s.EventCount | s.Duration:
    if last.unit is not None and last.unit.text.lower() in EVENTS:
        if not isinstance(last.number.value, int) or last.number.value < 1:
            raise scope.mistake(
                "INK0116", f"a number of events is at least 1, found `{last.number.written}`", last.span
            )
        return s.EventCount(last.number.value, span=last.span)
    return duration(last, scope.meaning.source)
