"""Names read from one place of a pattern, with the reasons why some cannot be read there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.diagnostics import Diagnostics
from inkling.logical.binding.expressions import ExpressionBinder, Reference, aggregate_type
from inkling.logical.binding.knowledge.rule_calls import lookup_test
from inkling.logical.binding.knowledge.tables import check_arity
from inkling.logical.binding.names import EventNames, report_unknown, warn_of_column
from inkling.logical.binding.patterns.places import Obstacle, Place, Standpoint, hidden_by, typed_column
from inkling.logical.user_aggregates import REGISTERED
from inkling.model.types import Type, common_type


@dataclass(frozen=True, slots=True)
class NameScope:
    """The meaning of names where a condition or an output is evaluated.

    `home` is the leaf whose columns may be written bare; `inline` conditions stand in its brackets.
    """

    names: EventNames
    at: Standpoint
    home: Place | None = None
    inline: bool = False
    ids_for_variables: bool = False  # in a head, `a` means ID(a)

    def binder(self) -> ExpressionBinder:
        return ExpressionBinder(self, self.names.catalog, self.names.diagnostics, self.names.times)

    def variable(self, node: s.Variable) -> e.Expr | None:
        names, name = self.names, node.name.text
        if self.home is not None and name in self.home.columns:
            obstacle = self.at.obstacle(self.home)
            if obstacle is not None:
                self._explain(obstacle, self.home, node)
                return None
            return self._column(self.home, node.name, node)
        if name in names.partition:
            kind = names.partition[name]
            return None if kind is None else e.KeyColumn(name, kind)
        if name == names.quantity:
            return e.Quantity(name)
        if name in names.assignments:
            return self._expand(node)
        supply = names.supply(name, self.at)
        if supply is not None:
            return self._fact(supply.fact, supply.place, node)
        if name in names.unknowable or (self.home is not None and self.home.is_broken):
            return None
        place = names.shape.named(name)
        if place is not None and self.ids_for_variables:
            return self.reference(s.IdOf(node.name, span=node.span))
        if place is not None:
            column = next(iter(place.columns), "column")
            names.diagnostics.wrong(
                "INK0214",
                f"`{name}` is an event, not a value",
                node,
                helps=[f"read one of its columns, such as `{name}.{column}`, or its id: `ID({name})`"],
            )
            return None
        report_unknown(node.name, self.names, self.home)
        return None

    def reference(self, node: Reference) -> e.Expr | None:
        match node:
            case s.Previous() | s.SinceChange():
                self.names.diagnostics.wrong(
                    "INK0306",
                    f"`{self.names.diagnostics.words(node)}` is only allowed in a stream declaration",
                    node,
                    helps=["add a column to the stream: `DERIVE name = …`, and use it here"],
                )
                return None
            case s.Attribute(var=var) | s.Part(var=var) | s.Aggregate(var=var):
                place = self._place(var, node)
                return None if place is None else self._read(place, node)
            case s.TimeOf(which=which, var=var):
                return self._time(e.Edge(which), var, node)
            case s.IdOf(var=var):
                return self._id(var, node)

    def _read(self, place: Place, node: s.Attribute | s.Part | s.Aggregate) -> e.Expr | None:
        diagnostics = self.names.diagnostics
        match node:
            case s.Attribute(column=column):
                return self._column(place, column, node)
            case s.Part(which=function) | s.Aggregate(function=function):
                return _list_reference(self.at, place, function, node.column, node, diagnostics)

    def table_test(self, node: s.Call, binder: ExpressionBinder) -> e.Expr | None:
        """A look-up that only asks whether a row exists; names bound nowhere else match anything."""
        names = self.names
        if not check_arity(node, names.catalog, names.diagnostics) or node.name.text not in names.catalog.facts:
            return None
        args: list[e.Expr | None] = []
        for arg in node.args:
            if isinstance(arg, s.Variable) and self._is_existential(arg.name.text):
                warn_of_column(arg.name, names)
                args.append(None)
                continue
            bound = binder.value(arg)
            if bound is None:
                return None
            args.append(bound)
        return lookup_test(node, args, names.catalog, names.diagnostics, binder.times)

    def fits_column(self, bound: e.Expr, wanted: Type, node: s.Expr, column: str) -> bool:
        if common_type(bound.type, wanted) is not None:
            return True
        self.names.diagnostics.wrong(
            "INK0213",
            f"column `{column}` is {wanted}, found {bound.type}",
            node,
            f"`{self.names.diagnostics.words(node)}` is {bound.type}",
        )
        return False

    def _column(self, place: Place, column: s.Ident, node: s.Expr) -> e.Expr | None:
        kind = typed_column(place, column, self.names.diagnostics)
        if kind is None:
            return None
        outer = self.at.outer_repetitions(place)
        if not outer:
            return e.ColumnOf(place.number, column.text, kind)
        if not all(frame.at_most_once for frame in outer):
            _needs_list(place, column, node, self.names.diagnostics)
            return None
        if self.at.shares_repetition(place):
            _nested_lists(place, node, self.names.diagnostics)
            return None
        return e.ListColumn(e.Which.LAST, place.number, column.text, kind)

    def _time(self, edge: e.Edge, var: s.Ident, node: s.Expr) -> e.Expr | None:
        place = self._place(var, node, span_allowed=True)
        if place is None:
            return None
        outer = self.at.outer_repetitions(place)
        if outer and (place.inner is not None or self.at.shares_repetition(place)):
            _nested_lists(place, node, self.names.diagnostics)
            return None
        return e.TimeOf(edge, place.number)

    def _id(self, var: s.Ident, node: s.Expr) -> e.Expr | None:
        place = self._place(var, node)
        if place is None or place.is_broken:
            return None
        diagnostics = self.names.diagnostics
        if any(not frame.at_most_once for frame in self.at.outer_repetitions(place)):
            diagnostics.wrong(
                "INK0311",
                f"`{var}` is a repetition, so it has no single id",
                node,
                notes=["the lineage of a result lists the ids of all events"],
                helps=[f"write `COUNT({var})`, or a column of one event: `LAST({var}).…`"],
            )
            return None
        derived = [source.name for source in place.fillers if source.is_derived]
        if derived:
            diagnostics.wrong(
                "INK0415",
                "ids of derived events are not supported yet",
                node,
                f"`{derived[0]}` depends on several events",
                helps=[f"compare times instead, for example `START({var})`"],
            )
            return None
        kind = place.id_type
        if kind is None:
            kinds = ", ".join(f"{source.id_type} in `{source.name}`" for source in place.fillers)
            diagnostics.wrong("INK0218", f"the ids of `{var}` have different types", node, notes=[f"they are {kinds}"])
            return None
        return e.IdOf(place.number, kind)

    def _place(self, var: s.Ident, node: s.Expr, *, span_allowed: bool = False) -> Place | None:
        """The place of a pattern variable, if it can be read from here."""
        place = self.names.shape.named(var.text)
        if place is None:
            report_unknown(var, self.names, self.home)
            return None
        obstacle = self.at.obstacle(place)
        if obstacle is not None:
            self._explain(obstacle, place, node)
            return None
        if place.inner is not None and not span_allowed:
            self.names.diagnostics.wrong(
                "INK0214",
                f"`{var}` is a pattern in parentheses, which has no columns",
                node,
                helps=[f"use `START({var})`, `END({var})`, or the variables inside it"],
            )
            return None
        return place

    def _explain(self, obstacle: Obstacle, place: Place, node: s.Expr) -> None:
        diagnostics, title = self.names.diagnostics, place.title
        match obstacle:
            case Obstacle.HIDDEN:
                word = hidden_by(place, self.at)
                there = f"`{title}` is inside {word}, at {diagnostics.place(place.span)}"
                repair = f"put conditions on the absent event into WHERE, or in brackets after `{title}`"
                if word != "NOT":
                    repair = f"write the condition in brackets after `{title}`"
                diagnostics.wrong(
                    "INK0307",
                    f"`{title}` is not part of a match",
                    node,
                    notes=[f"{there}, and is never part of a match"],
                    helps=[repair],
                )
            case Obstacle.LATER:
                repair = f"move the condition to WHERE, or into the brackets of `{title}`"
                diagnostics.wrong(
                    "INK0308",
                    f"`{title}` is not bound yet at this point of the pattern",
                    node,
                    notes=[f"it is a later part of the pattern, at {diagnostics.place(place.span)}"],
                    helps=[repair] if self.inline else [],
                )
            case Obstacle.OTHER_BRANCH:
                diagnostics.wrong(
                    "INK0314",
                    f"`{title}` never occurs together with this part of the pattern",
                    node,
                    notes=["they are in different branches of OR"],
                )

    def _fact(self, fact: e.Expr, place: Place, node: s.Variable) -> e.Expr | None:
        obstacle = self.at.obstacle(place)
        diagnostics = self.names.diagnostics
        self.names.read.add(node.name.text)
        if obstacle is Obstacle.OTHER_BRANCH or self.at.outer_repetitions(place):
            where = "a branch of OR" if obstacle else "a repetition"
            diagnostics.wrong(
                "INK0416",
                f"a value that a table supplies inside {where} cannot be used outside it yet",
                node,
                f"`{node.name}` comes from the look-up of `{place.title}`",
            )
            return None
        if obstacle is not None:
            diagnostics.wrong(
                "INK0308",
                f"`{node.name}` is not bound yet at this point of the pattern",
                node,
                notes=[f"a table supplies it together with `{place.title}`, at {diagnostics.place(place.span)}"],
                helps=["move the condition to WHERE"] if self.inline else [],
            )
            return None
        return fact

    def _expand(self, node: s.Variable) -> e.Expr | None:
        """A named value is its expression, wherever it is used; circles are already gone."""
        assignment = self.names.assignments[node.name.text]
        assignment.is_used = True
        return replace(self, home=assignment.home).binder().value(assignment.value)

    def _is_existential(self, name: str) -> bool:
        if name == "_":
            return True
        known = name in self.names.assignments or self.names.supply(name, self.at) is not None
        return self.names.is_free(name, self.home) and not known and name not in self.names.unknowable


def _list_reference(
    at: Standpoint, place: Place, function: str, column: s.Ident | None, node: s.Expr, diagnostics: Diagnostics
) -> e.Expr | None:
    """`FIRST(b).x`, `LAST(b).x`, `COUNT(b)`, `SUM(b.x)`."""
    if not place.repetitions:
        helps = [f"write `{place.title}.{column}`"] if column else ["repeat the event with `+` or `{2,}`"]
        diagnostics.wrong(
            "INK0313", f"{function} needs a repetition, but `{place.title}` is a single event", node, helps=helps
        )
        return None
    is_own = at.own == place.number
    outer = at.outer_repetitions(place)
    if len(place.repetitions) > 1 and (is_own or not outer or at.shares_repetition(place)):
        _nested_lists(place, node, diagnostics)
        return None
    kind = typed_column(place, column, diagnostics) if column else None
    if column is not None and kind is None:
        return None
    if function in ("FIRST", "LAST"):
        if column is None or kind is None:
            diagnostics.wrong(
                "INK0313",
                f"`{diagnostics.words(node)}` is an event, not a value",
                node,
                helps=[f"read one of its columns, such as `{diagnostics.words(node)}.{_some_column(place)}`"],
            )
            return None
        return e.ListColumn(e.Which(function), place.number, column.text, kind, own=is_own)
    if not outer:
        diagnostics.wrong(
            "INK0315",
            f"`{diagnostics.words(node)}` is only known once the repetition is complete",
            node,
            notes=["a condition inside a repetition is tested for one event at a time"],
            helps=[f"put it into HAVING, or look at the previous event: `LAST({place.title}).…`"],
        )
        return None
    if column is None or kind is None:
        if function == "COUNT":
            return e.Aggregate("COUNT", place.number, None, Type.INTEGER)
        diagnostics.wrong(
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
        diagnostics.wrong(
            "INK0217", f"{function} needs {wanted}, found {kind}", node, f"`{place.title}.{column}` is {kind}"
        )
        return None
    return e.Aggregate(function, place.number, column.text, result)


def _some_column(place: Place, function: str = "COUNT") -> str:
    """A column to show in an example, one that the function can read."""
    fitting = (name for name, kind in place.columns.items() if kind and aggregate_type(function, kind))
    return next(fitting, "column")


def _needs_list(place: Place, column: s.Ident, node: s.Expr, diagnostics: Diagnostics) -> None:
    words = diagnostics.words(node)
    if place.name is None:
        helps = ["give the repeated event a name"]
    else:
        name = place.name.text
        helps = [
            f"write `LAST({name}).{column}` or `FIRST({name}).{column}` for one of them,"
            f" or an aggregate such as `MAX({name}.{column})`"
        ]
    diagnostics.wrong(
        "INK0311",
        f"`{words}` has several values",
        node,
        notes=[f"`{place.title}` is a repetition, so it is a list of events here"],
        helps=helps,
    )


def _nested_lists(place: Place, node: s.Expr, diagnostics: Diagnostics) -> None:
    diagnostics.wrong(
        "INK0413",
        "looking back into a repetition inside a repetition is not supported yet",
        node,
        f"`{place.title}` is repeated within something that is repeated",
    )
