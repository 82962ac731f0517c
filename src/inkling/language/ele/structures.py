"""Structured terms and lists of a fixed length as several arguments: `at(loc('N', X))` as `at('N', X)`.

Terms that meet in an argument or an equation have one structure. A variable for a structured term becomes one variable
for each of its parts, with the number of the part after its name: `Loc_1`, `Loc_2`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from inkling.errors import Diagnostic, ProgramError
from inkling.language.ele import terms as t
from inkling.language.ele.functions import FUNCTIONS
from inkling.language.ele.predicates import Slot, column_slot, key_of, variable_slot
from inkling.language.ele.terms import ASSIGNMENTS, names_of, variables
from inkling.language.syntax import Ident
from inkling.source import SourceText, Span

DEEPEST = 20
"""Levels of structured terms inside each other."""

Shape: TypeAlias = tuple[str, int]  # functor and number of arguments; lists have the functor `[]`

_EQUATIONS = ASSIGNMENTS - {"is", "=:="}
_DIFFERENCES = frozenset({"\\=", "\\=="})


def flattened(statements: Sequence[t.Statement], source: SourceText) -> tuple[list[t.Statement], list[Diagnostic]]:
    """The same statements without structured terms, and where terms of different structure meet."""
    if not any(_has_structure(statement) for statement in statements):
        return list(statements), []
    structures = _Structures(source)
    problems: list[Diagnostic] = []
    made: list[t.Statement] = []
    try:
        for number, statement in enumerate(statements):
            _Reader(structures, number).statement(statement)
        structures.check()
    except ProgramError as error:
        return list(statements), list(error.diagnostics)
    for number, statement in enumerate(statements):
        try:
            made.append(_Flattening(structures, number, _taken(statement)).statement(statement))
        except ProgramError as error:
            problems.extend(error.diagnostics)
    return made, problems


def is_structure(term: t.Term) -> bool:
    """Whether a term is neither a constant nor the call of a function."""
    match term:
        case t.Listed():
            return True
        case t.Atom(name=name, args=args):
            return bool(args) and name.text not in FUNCTIONS
        case _:
            return False


def _has_structure(statement: t.Statement) -> bool:
    if isinstance(statement, t.Directive):
        first = statement.setting.parts[:1]
        return any(isinstance(part, t.Setting) and any(map(_is_nested, part.parts)) for part in first)
    atoms = [statement.head]
    if isinstance(statement, t.Rule):
        atoms += t.atoms(statement.pattern)
    goals = tuple(t.every_goal(statement.pattern)) if isinstance(statement, t.Rule) else statement.goals
    return any(is_structure(arg) for atom in (*atoms, *t.static_atoms(goals)) for arg in atom.args) or any(
        is_structure(side) for goal in _equations(goals) for side in (goal.left, goal.right)
    )


def _is_nested(part: t.Part) -> bool:
    return isinstance(part, t.Setting) and bool(part.parts)


def _equations(goals: Iterable[t.Term]) -> Iterator[t.Comparison]:
    for goal in t.flat_goals(goals):
        match goal:
            case t.Comparison(op=op) if op in _EQUATIONS | _DIFFERENCES:
                yield goal
            case t.Negated(goal=inner):
                yield from _equations((inner,))
            case t.Choice(branches=branches):
                for branch in branches:
                    yield from _equations((*(branch.condition or ()), *branch.goals))
            case _:
                pass


def _taken(statement: t.Statement) -> set[str]:
    match statement:
        case t.Rule(head=head, pattern=pattern):
            return names_of(variables(head)) | names_of(t.pattern_variables(pattern))
        case t.Clause(head=head, goals=goals):
            return names_of(v for term in (head, *goals) for v in variables(term))
        case _:
            return set()


@dataclass(slots=True)
class _Structures:
    """Arguments and variables that must agree form one class, which has at most one structure."""

    source: SourceText
    _parent: dict[Slot, Slot] = field(default_factory=dict)
    _shapes: dict[Slot, tuple[Shape, Span]] = field(default_factory=dict)
    _constants: dict[Slot, Span] = field(default_factory=dict)

    def root(self, slot: Slot) -> Slot:
        while slot in self._parent:
            slot = self._parent[slot]
        return slot

    def part(self, slot: Slot, number: int) -> Slot:
        return ("part", self.root(slot), number)

    def shape(self, slot: Slot) -> Shape | None:
        found = self._shapes.get(self.root(slot))
        return found[0] if found else None

    def give(self, slot: Slot, shape: Shape, span: Span) -> None:
        known = self._shapes.setdefault(self.root(slot), (shape, span))
        if known[0] != shape:
            raise self._clash(shape, span, known)

    def constant(self, slot: Slot, span: Span) -> None:
        self._constants.setdefault(self.root(slot), span)

    def agree(self, left: Slot, right: Slot, depth: int = 0) -> None:
        left, right = self.root(left), self.root(right)
        if left == right:
            return
        shapes = self._shapes.get(left), self._shapes.pop(right, None)
        self._parent[right] = left
        if right in self._constants:
            self._constants.setdefault(left, self._constants.pop(right))
        if shapes[1] is None:
            return
        shape, span = shapes[1]
        if depth == DEEPEST:
            raise self.endless(span)
        self.give(left, shape, span)
        for number in range(shape[1]):
            self.agree(("part", left, number), ("part", right, number), depth + 1)

    def check(self) -> None:
        for slot, span in self._constants.items():
            shape = self._shapes.get(self.root(slot))
            if shape is not None:
                raise self._clash(("", 0), span, shape)

    def endless(self, span: Span) -> ProgramError:
        return ProgramError.of(
            "INK0137",
            "a term contains itself",
            span=span,
            source=self.source,
            notes=("a structured term becomes several columns, so its depth is fixed",),
        )

    def _clash(self, shape: Shape, span: Span, known: tuple[Shape, Span]) -> ProgramError:
        place = self.source.position(known[1].start)
        return ProgramError.of(
            "INK0137",
            f"expected {_described(known[0])}, found {_described(shape)}",
            span=span,
            source=self.source,
            notes=(
                f"line {place.line}, column {place.column} has {_described(known[0])} here",
                "a structured term becomes several columns, so all terms at one place have the same structure",
            ),
        )


def _described(shape: Shape) -> str:
    name, n = shape
    if not name:
        return "a constant"
    if name == "[]":
        return f"a list of {n}"
    return f"`{name}({', '.join('_' * n)})`"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Which terms of one statement must agree."""

    structures: _Structures
    number: int

    def statement(self, statement: t.Statement) -> None:
        match statement:
            case t.Rule(head=head, pattern=pattern):
                self._atoms((head, *(inner.head for inner in t.inner_rules(pattern)), *t.atoms(pattern)))
                self._goals(tuple(t.every_goal(pattern)))
            case t.Clause(head=head, goals=goals):
                self._atoms((head,))
                self._goals(goals)
            case t.Directive(setting=t.Setting(parts=(t.Setting(name=name, parts=parts), *_))):
                for place, part in enumerate(parts):
                    self._declared(column_slot((name.text, len(parts)), place), part)
            case t.Directive():
                pass

    def _goals(self, goals: tuple[t.Term, ...]) -> None:
        self._atoms(t.static_atoms(goals))
        for equation in _equations(goals):
            self.structures.agree(self._slot(equation.left), self._slot(equation.right))

    def _atoms(self, atoms: Iterable[t.Atom]) -> None:
        for atom in atoms:
            for place, arg in enumerate(atom.args):
                self.structures.agree(column_slot(key_of(atom), place), self._slot(arg))

    def _slot(self, term: t.Term) -> Slot:
        match term:
            case t.Variable(name=name) if not term.is_anything:
                return variable_slot(self.number, name)
            case _:
                pass
        slot: Slot = ("term", id(term))
        items = _items(term)
        if items is not None:
            self.structures.give(slot, _shape(term, items), term.span)
            for place, item in enumerate(items):
                self.structures.agree(self.structures.part(slot, place), self._slot(item))
        elif not isinstance(term, t.Variable):
            self.structures.constant(slot, term.span)
        return slot

    def _declared(self, slot: Slot, part: t.Part) -> None:
        if isinstance(part, t.Setting) and part.parts:
            self.structures.give(slot, (part.name.text, len(part.parts)), part.span)
            for place, inner in enumerate(part.parts):
                self._declared(self.structures.part(slot, place), inner)


def _items(term: t.Term) -> tuple[t.Term, ...] | None:
    match term:
        case t.Listed(items=items):
            return items
        case t.Atom(args=args) if is_structure(term):
            return args
        case _:
            return None


def _shape(term: t.Term, items: tuple[t.Term, ...]) -> Shape:
    return (term.name.text if isinstance(term, t.Atom) else "[]"), len(items)


@dataclass(frozen=True, slots=True)
class _Flattening:
    structures: _Structures
    number: int
    taken: set[str]
    parts: dict[str, tuple[t.Variable, ...]] = field(default_factory=dict)

    def statement(self, statement: t.Statement) -> t.Statement:
        match statement:
            case t.Rule(head=head, pattern=pattern):
                return replace(statement, head=self.atom(head), pattern=t.mapped(pattern, self.atom, self.goals))
            case t.Clause(head=head, goals=goals):
                return replace(statement, head=self.atom(head), goals=self.goals(goals))
            case t.Directive(setting=t.Setting(parts=(t.Setting() as first, *rest)) as setting):
                flat = replace(first, parts=tuple(_declared_columns(first.parts)))
                return replace(statement, setting=replace(setting, parts=(flat, *rest)))
            case t.Directive():
                return statement

    def atom(self, atom: t.Atom) -> t.Atom:
        event = t.aggregated(atom)
        if event is not None:
            return replace(atom, args=(atom.args[0], self.atom(event), atom.args[2]))
        slots = (column_slot(key_of(atom), place) for place in range(atom.arity))
        args = (term for slot, arg in zip(slots, atom.args, strict=True) for term in self._terms(arg, slot, 0))
        return replace(atom, args=tuple(args))

    def goals(self, goals: tuple[t.Term, ...]) -> tuple[t.Term, ...]:
        return tuple(self._goal(goal) for goal in goals)

    def _goal(self, goal: t.Term) -> t.Term:
        match goal:
            case t.Atom():
                return self.atom(goal)
            case t.Negated(goal=inner):
                return replace(goal, goal=self._goal(inner))
            case t.Goals(goals=goals):
                return replace(goal, goals=self.goals(goals))
            case t.Choice(branches=branches):
                changed = (
                    replace(
                        branch,
                        goals=self.goals(branch.goals),
                        condition=None if branch.condition is None else self.goals(branch.condition),
                    )
                    for branch in branches
                )
                return replace(goal, branches=tuple(changed))
            case t.Comparison(op=op, left=left, right=right) if op in _EQUATIONS | _DIFFERENCES:
                return self._equation(goal, left, right)
            case _:
                return goal

    def _equation(self, goal: t.Comparison, left: t.Term, right: t.Term) -> t.Term:
        slot = next((self._slot(side) for side in (left, right) if self._is_structured(side)), None)
        if slot is None:
            return goal
        pairs = zip(self._terms(left, slot, 0), self._terms(right, slot, 0), strict=True)
        equations = tuple(replace(goal, op="=", left=one, right=other) for one, other in pairs)
        if not equations:
            return replace(goal, left=t.Atom(Ident("[]")), right=t.Atom(Ident("[]")))
        together = t.Goals(equations, span=goal.span)
        return t.Negated(together, span=goal.span) if goal.op in _DIFFERENCES else together

    def _is_structured(self, term: t.Term) -> bool:
        if isinstance(term, t.Variable) and not term.is_anything:
            return self.structures.shape(variable_slot(self.number, term.name)) is not None
        return is_structure(term)

    def _slot(self, term: t.Term) -> Slot:
        return variable_slot(self.number, term.name) if isinstance(term, t.Variable) else ("term", id(term))

    def _terms(self, term: t.Term, slot: Slot, depth: int) -> Iterator[t.Term]:
        """The terms in place of one term."""
        shape = self.structures.shape(slot)
        if shape is None:
            yield term
            return
        if depth == DEEPEST:
            raise self.structures.endless(term.span)
        for place, item in enumerate(_items(term) or self._items_of(term, shape)):
            yield from self._terms(item, self.structures.part(slot, place), depth + 1)

    def _items_of(self, variable: t.Term, shape: Shape) -> tuple[t.Term, ...]:
        assert isinstance(variable, t.Variable)
        if variable.is_anything:
            return (variable,) * shape[1]
        if variable.name not in self.parts:
            names = [f"{variable.name}_{place}" for place in range(1, shape[1] + 1)]
            while self.taken & set(names):
                names = [f"{name}_" for name in names]
            self.taken.update(names)
            self.parts[variable.name] = tuple(t.Variable(name, span=variable.span) for name in names)
        return tuple(replace(one, span=variable.span) for one in self.parts[variable.name])


def _declared_columns(parts: Iterable[t.Part]) -> Iterator[t.Part]:
    for part in parts:
        if isinstance(part, t.Setting) and part.parts:
            yield from _declared_columns(part.parts)
        else:
            yield part
