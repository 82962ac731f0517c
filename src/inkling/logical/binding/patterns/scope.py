"""The names of one event, and which of them can be read at a point of its pattern.

`EventNames` is the symbol table of the event: pattern variables, named values, variables bound by tables, partition
columns. `NameScope` resolves names at one point and explains why some cannot be read there:

    PATTERN SEQ(A a[x > b.y], B b)    -- error: `b` is not bound yet in the brackets of `a`
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.catalog import Catalog, check_arity
from inkling.logical.binding.clocks import TimeUses
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean, listed
from inkling.logical.binding.expressions import ExpressionBinder, Reference, aggregate_type
from inkling.logical.binding.knowledge.rule_calls import lookup_test
from inkling.logical.binding.patterns.drafts import (
    EvaluationPoint,
    PatternDraft,
    ScopeObstacle,
    SlotDraft,
    hidden_by,
    typed_column,
)
from inkling.logical.user_aggregates import REGISTERED
from inkling.model.types import Type, common_type


@dataclass(slots=True, eq=False)
class NamedValue:
    """`v = expression`: a name for a value; bare names in the expression are columns of `home` first."""

    name: s.Ident
    value: s.Expr
    home: SlotDraft | None
    is_used: bool = False


@dataclass(frozen=True, slots=True)
class Supply:
    """A variable that a table look-up binds, and the slot that does the look-up."""

    fact: e.Expr
    slot: SlotDraft
    written: s.Ident


@dataclass(slots=True)
class EventNames:
    """The symbol table of one event; variables of tables enter when their look-ups are bound."""

    draft: PatternDraft
    catalog: Catalog
    diagnostics: Diagnostics
    times: TimeUses
    partition: dict[str, Type | None] = field(default_factory=dict)
    named_values: dict[str, NamedValue] = field(default_factory=dict)
    supplies: dict[str, list[Supply]] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)  # variables of tables that are used elsewhere
    poisoned: set[str] = field(default_factory=set)  # names whose binding failed with an error already reported
    quantity: str | None = None  # the variable k of `AT LEAST k FROM 1 TO 12`

    def supply(self, name: str, at: EvaluationPoint) -> Supply | None:
        """The look-up that binds a variable, as seen from a point; look-ups inside NOT are visible only there."""
        for supply in self.supplies.get(name, ()):
            if all(barrier in at.path for barrier in supply.slot.barriers):
                return supply
        return None

    def is_free(self, name: str, home: SlotDraft | None) -> bool:
        """Whether a bare name could still be bound by a look-up or an named."""
        return not (
            (home is not None and name in home.columns)
            or name in self.partition
            or name == self.quantity
            or self.draft.named(name) is not None
        )

    @property
    def bare_names(self) -> tuple[str, ...]:
        quantity = () if self.quantity is None else (self.quantity,)
        return (*self.partition, *quantity, *self.named_values, *self.supplies)


MOST_LISTED = 12
"""How many names a message lists."""


def report_unknown(name: s.Ident, names: EventNames, home: SlotDraft | None, notes: Iterable[str] = ()) -> None:
    """Reports a name that nothing binds, with the most likely repair."""
    if name.text in names.poisoned:
        return
    if home is not None and any(name.text in source.columns or name.text == source.op for source in home.sources):
        typed_column(home, name, names.diagnostics)
        return
    known = (*names.draft.names, *names.bare_names, *(home.columns if home else ()))
    choices = [choice for choice in known if choice != name.text]
    helps: tuple[str, ...] = did_you_mean(name.text, choices)
    having = [slot for slot in names.draft.slots if name.text in slot.columns and not slot.barriers]
    named = [slot.title for slot in having if slot.name]
    of_that_type = [
        slot.title for slot in names.draft.slots if slot.name and name.text in (source.name for source in slot.sources)
    ]
    remarks = list(notes)
    if having and home is None:
        remarks.insert(0, "outside `[…]` a bare name is a variable, not a column")
    if named:
        helps = (f"write {listed([f'{var}.{name}' for var in named[:3]], 'or')}",)
    elif having:
        source = having[0].sources[0].name if having[0].sources else "_"
        helps = (f"give the event a name, `{source} e`, and write `e.{name}`",)
    elif of_that_type:
        helps = (f"use the name of the event: {listed(of_that_type, 'or')}",)
    elif name.text in names.catalog.sources:
        helps = (f"give the event a name in the pattern, such as `{name} e`, and write `e`",)
    if name.quoted and not helps and names.diagnostics.text_of(name).startswith('"'):
        text = name.text.replace("'", "''")
        remarks = ["double quotes are for names, single quotes for strings"]
        helps = (f"write '{text}' for a string",)
    if not helps and not any(remarks):
        remarks = _what_there_is(names, home)
    names.diagnostics.error("INK0207", f"unknown name `{name}`", name, notes=remarks, helps=helps)


def _what_there_is(names: EventNames, home: SlotDraft | None) -> list[str]:
    """The names that could be meant: columns inside brackets, otherwise variables."""
    if home is not None:
        owner = f" of {listed([one.name for one in home.sources])}" if home.sources else ""
        return [f"columns{owner} are {', '.join(list(home.columns)[:MOST_LISTED])}"] if home.columns else []
    variables = [slot.name.text for slot in names.draft.slots if slot.name]
    many = "variables of the pattern are" if len(variables) > 1 else "the variable of the pattern is"
    return [f"{many} {', '.join(variables[:MOST_LISTED])}"] if variables else []


def warn_of_column(name: s.Ident, names: EventNames, besides: Collection[str] = ()) -> None:
    """Warns of a variable that matches any value where a column of that name exists."""
    slots = [slot for slot in names.draft.slots if slot.name and name.text in slot.columns]
    owners = [slot.title for slot in slots if slot.title not in besides]
    if owners:
        names.diagnostics.warn(
            "INK0325",
            f"`{name}` matches any value here; it is not a column",
            name,
            notes=["outside `[…]` a bare name is a variable, and nothing else uses this one"],
            helps=[f"write {listed([f'{owner}.{name}' for owner in owners[:3]], 'or')} for the column"],
        )


@dataclass(frozen=True, slots=True)
class NameScope:
    """Resolves names where a condition or an output is evaluated.

    Columns of `home` may be written without a variable; an `inline` condition stands in the brackets of `home`.
    """

    names: EventNames
    at: EvaluationPoint
    home: SlotDraft | None = None
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
        if name in names.named_values:
            return self._expand(node)
        supply = names.supply(name, self.at)
        if supply is not None:
            return self._fact(supply.fact, supply.slot, node)
        if name in names.poisoned or (self.home is not None and self.home.is_broken):
            return None
        slot = names.draft.named(name)
        if slot is not None and self.ids_for_variables:
            return self.reference(s.IdOf(node.name, span=node.span))
        if slot is not None:
            column = next(iter(slot.columns), "column")
            names.diagnostics.error(
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
                self.names.diagnostics.error(
                    "INK0306",
                    f"`{self.names.diagnostics.text_of(node)}` is only allowed in a stream declaration",
                    node,
                    helps=["add a column to the stream: `DERIVE name = …`, and use it here"],
                )
                return None
            case s.Attribute(var=var) | s.FirstOrLast(var=var) | s.Aggregate(var=var):
                slot = self._slot(var, node)
                return None if slot is None else self._read(slot, node)
            case s.TimeOf(which=which, var=var):
                return self._time(e.Edge(which), var, node)
            case s.IdOf(var=var):
                return self._id(var, node)

    def _read(self, slot: SlotDraft, node: s.Attribute | s.FirstOrLast | s.Aggregate) -> e.Expr | None:
        diagnostics = self.names.diagnostics
        match node:
            case s.Attribute(column=column):
                return self._column(slot, column, node)
            case s.FirstOrLast(which=function) | s.Aggregate(function=function):
                return _list_reference(self.at, slot, function, node.column, node, diagnostics)

    def table_test(self, node: s.Call, binder: ExpressionBinder) -> e.Expr | None:
        """A look-up that only tests whether a row exists; unbound names match any value."""
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
        self.names.diagnostics.error(
            "INK0213",
            f"column `{column}` is {wanted}, found {bound.type}",
            node,
            f"`{self.names.diagnostics.text_of(node)}` is {bound.type}",
        )
        return False

    def _column(self, slot: SlotDraft, column: s.Ident, node: s.Expr) -> e.Expr | None:
        kind = typed_column(slot, column, self.names.diagnostics)
        if kind is None:
            return None
        outer = self.at.outer_repetitions(slot)
        if not outer:
            return e.ColumnOf(slot.number, column.text, kind)
        if not all(frame.at_most_once for frame in outer):
            _needs_list(slot, column, node, self.names.diagnostics)
            return None
        if self.at.shares_repetition(slot):
            _nested_lists(slot, node, self.names.diagnostics)
            return None
        return e.ListColumn(e.Which.LAST, slot.number, column.text, kind)

    def _time(self, edge: e.Edge, var: s.Ident, node: s.Expr) -> e.Expr | None:
        slot = self._slot(var, node, span_allowed=True)
        if slot is None:
            return None
        outer = self.at.outer_repetitions(slot)
        if outer and (slot.inner is not None or self.at.shares_repetition(slot)):
            _nested_lists(slot, node, self.names.diagnostics)
            return None
        return e.TimeOf(edge, slot.number)

    def identities(self, one: s.IdOf, other: s.IdOf) -> tuple[e.Expr | None, e.Expr | None]:
        """Two ids that are compared: what they name is the same event, if either may be a result."""
        slots = [self.names.draft.named(node.var.text) for node in (one, other)]
        of_any = any(source.is_derived for slot in slots if slot is not None for source in slot.fillers)
        return self._id(one.var, one, of_any=of_any), self._id(other.var, other, of_any=of_any)

    def _id(self, var: s.Ident, node: s.Expr, *, of_any: bool = False) -> e.Expr | None:
        slot = self._slot(var, node)
        if slot is None or slot.is_broken:
            return None
        diagnostics = self.names.diagnostics
        if any(not frame.at_most_once for frame in self.at.outer_repetitions(slot)):
            diagnostics.error(
                "INK0311",
                f"`{var}` is a repetition, so it has no single id",
                node,
                notes=["the lineage of a result lists the ids of all events"],
                helps=[f"write `COUNT({var})`, or a column of one event: `LAST({var}).…`"],
            )
            return None
        if of_any:
            return e.IdOf(slot.number, Type.INTEGER, of_any=True)
        derived = [source.name for source in slot.fillers if source.is_derived]
        if derived:
            diagnostics.error(
                "INK0214",
                f"`{var}` is a result, and not identified by one value",
                node,
                f"`{derived[0]}` is an event of this program",
                notes=["a result is identified by its values, its times and its lineage together"],
                helps=[f"compare it with another event: `ID({var}) = ID(…)` or `ID({var}) <> ID(…)`"],
            )
            return None
        kind = slot.id_type
        if kind is None:
            kinds = ", ".join(f"{source.id_type} in `{source.name}`" for source in slot.fillers)
            diagnostics.error("INK0218", f"the ids of `{var}` have different types", node, notes=[f"they are {kinds}"])
            return None
        return e.IdOf(slot.number, kind)

    def _slot(self, var: s.Ident, node: s.Expr, *, span_allowed: bool = False) -> SlotDraft | None:
        """The slot of a pattern variable, if it can be read here."""
        slot = self.names.draft.named(var.text)
        if slot is None:
            report_unknown(var, self.names, self.home)
            return None
        obstacle = self.at.obstacle(slot)
        if obstacle is not None:
            self._explain(obstacle, slot, node)
            return None
        if slot.inner is not None and not span_allowed:
            self.names.diagnostics.error(
                "INK0214",
                f"`{var}` is a pattern in parentheses, which has no columns",
                node,
                helps=[f"use `START({var})`, `END({var})`, or the variables inside it"],
            )
            return None
        return slot

    def _explain(self, obstacle: ScopeObstacle, slot: SlotDraft, node: s.Expr) -> None:
        diagnostics, title = self.names.diagnostics, slot.title
        match obstacle:
            case ScopeObstacle.HIDDEN:
                word = hidden_by(slot, self.at)
                there = f"`{title}` is inside {word}, at {diagnostics.location(slot.span)}"
                repair = f"put conditions on the absent event into WHERE, or in brackets after `{title}`"
                if word != "NOT":
                    repair = f"write the condition in brackets after `{title}`"
                diagnostics.error(
                    "INK0307",
                    f"`{title}` is not part of a match",
                    node,
                    notes=[f"{there}, and is never part of a match"],
                    helps=[repair],
                )
            case ScopeObstacle.LATER:
                repair = f"move the condition to WHERE, or into the brackets of `{title}`"
                diagnostics.error(
                    "INK0308",
                    f"`{title}` is not bound yet at this point of the pattern",
                    node,
                    notes=[f"it is a later part of the pattern, at {diagnostics.location(slot.span)}"],
                    helps=[repair] if self.inline else [],
                )
            case ScopeObstacle.OTHER_BRANCH:
                diagnostics.error(
                    "INK0314",
                    f"`{title}` never occurs together with this part of the pattern",
                    node,
                    notes=["they are in different branches of OR"],
                )

    def _fact(self, fact: e.Expr, slot: SlotDraft, node: s.Variable) -> e.Expr | None:
        obstacle = self.at.obstacle(slot)
        diagnostics = self.names.diagnostics
        self.names.read.add(node.name.text)
        outer = self.at.outer_repetitions(slot)
        if obstacle is None and not all(frame.at_most_once for frame in outer):
            source = listed([one.name for one in slot.sources], "or") if slot.sources else "each stream of the scope"
            diagnostics.error(
                "INK0311",
                f"`{node.name}` has several values",
                node,
                notes=[f"a table supplies it for each event of `{slot.title}`, which is a list of events here"],
                helps=[f"derive an event from {source} with this value as a column, and repeat that event"],
            )
            return None
        if obstacle is ScopeObstacle.OTHER_BRANCH:
            self._explain(obstacle, slot, node)
            return None
        if outer and self.at.shares_repetition(slot):
            _nested_lists(slot, node, diagnostics)
            return None
        if obstacle is not None:
            diagnostics.error(
                "INK0308",
                f"`{node.name}` is not bound yet at this point of the pattern",
                node,
                notes=[f"a table supplies it together with `{slot.title}`, at {diagnostics.location(slot.span)}"],
                helps=["move the condition to WHERE"] if self.inline else [],
            )
            return None
        return _from_outside(fact) if outer else fact

    def _expand(self, node: s.Variable) -> e.Expr | None:
        """A named value is replaced by its expression; cyclic definitions are rejected before."""
        named = self.names.named_values[node.name.text]
        named.is_used = True
        return replace(self, home=named.home).binder().value(named.value)

    def _is_existential(self, name: str) -> bool:
        if name == "_":
            return True
        known = name in self.names.named_values or self.names.supply(name, self.at) is not None
        return self.names.is_free(name, self.home) and not known and name not in self.names.poisoned


def _from_outside(value: e.Expr) -> e.Expr:
    """A value of a part that may be missing, as it is read outside of the part."""
    match value:
        case e.FactColumn(atom=atom) if atom >= 0:
            return replace(value, outside=True)
        case e.ColumnOf(slot=slot, column=column, type=kind):
            return e.ListColumn(e.Which.LAST, slot, column, kind)
        case _:
            return e.rebuilt(value, _from_outside)


def _list_reference(
    at: EvaluationPoint, slot: SlotDraft, function: str, column: s.Ident | None, node: s.Expr, diagnostics: Diagnostics
) -> e.Expr | None:
    """`FIRST(b).x`, `LAST(b).x`, `COUNT(b)`, `SUM(b.x)`."""
    if not slot.repetitions:
        helps = [f"write `{slot.title}.{column}`"] if column else ["repeat the event with `+` or `{2,}`"]
        diagnostics.error(
            "INK0313", f"{function} needs a repetition, but `{slot.title}` is a single event", node, helps=helps
        )
        return None
    is_own = at.own == slot.number
    outer = at.outer_repetitions(slot)
    if len(slot.repetitions) > 1 and (is_own or not outer or at.shares_repetition(slot)):
        _nested_lists(slot, node, diagnostics)
        return None
    kind = typed_column(slot, column, diagnostics) if column else None
    if column is not None and kind is None:
        return None
    if function in ("FIRST", "LAST"):
        if column is None or kind is None:
            diagnostics.error(
                "INK0313",
                f"`{diagnostics.text_of(node)}` is an event, not a value",
                node,
                helps=[f"read one of its columns, such as `{diagnostics.text_of(node)}.{_some_column(slot)}`"],
            )
            return None
        return e.ListColumn(e.Which(function), slot.number, column.text, kind, own=is_own)
    if not outer and not is_own:
        diagnostics.error(
            "INK0315",
            f"`{diagnostics.text_of(node)}` is only known once the repetition is complete",
            node,
            notes=["a condition inside a repetition is tested for one event at a time"],
            helps=[f"put it into HAVING, or look at the previous event: `LAST({slot.title}).…`"],
        )
        return None
    if column is None or kind is None:
        if function == "COUNT":
            return e.Aggregate("COUNT", slot.number, None, Type.INTEGER, own=is_own)
        diagnostics.error(
            "INK0217",
            f"{function} needs a column",
            node,
            helps=[f"write `{function}({slot.title}.{_some_column(slot, function)})`"],
        )
        return None
    if is_own and kind is Type.STRING:
        diagnostics.error(
            "INK0217",
            f"{function} of earlier events needs numbers, found {kind}",
            node,
            f"`{slot.title}.{column}` is {kind}",
            helps=[f"read one event: `FIRST({slot.title}).{column}` or `LAST({slot.title}).{column}`"],
        )
        return None
    if function in REGISTERED:
        by = REGISTERED[function]
        return e.Aggregate(function, slot.number, column.text, by.returns, by, own=is_own)
    result = aggregate_type(function, kind)
    if result is None:
        wanted = "values with an order" if function in ("MIN", "MAX") else "numbers"
        diagnostics.error(
            "INK0217", f"{function} needs {wanted}, found {kind}", node, f"`{slot.title}.{column}` is {kind}"
        )
        return None
    return e.Aggregate(function, slot.number, column.text, result, own=is_own)


def _some_column(slot: SlotDraft, function: str = "COUNT") -> str:
    """A column to show in an example, one that the function can read."""
    fitting = (name for name, kind in slot.columns.items() if kind and aggregate_type(function, kind))
    return next(fitting, "column")


def _needs_list(slot: SlotDraft, column: s.Ident, node: s.Expr, diagnostics: Diagnostics) -> None:
    words = diagnostics.text_of(node)
    if slot.name is None:
        helps = ["give the repeated event a name"]
    else:
        name = slot.name.text
        helps = [
            f"write `LAST({name}).{column}` or `FIRST({name}).{column}` for one of them,"
            f" or an aggregate such as `MAX({name}.{column})`"
        ]
    diagnostics.error(
        "INK0311",
        f"`{words}` has several values",
        node,
        notes=[f"`{slot.title}` is a repetition, so it is a list of events here"],
        helps=helps,
    )


def _nested_lists(slot: SlotDraft, node: s.Expr, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        "INK0413",
        "looking back into a repetition inside a repetition is not supported yet",
        node,
        f"`{slot.title}` is repeated within something that is repeated",
    )
