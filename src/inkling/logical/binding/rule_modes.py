"""What the parts of a clause do: bind variables, name values, or test."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.language import syntax as s
from inkling.logical.binding.rule_clauses import WrittenClause, calls_in, is_anything, variables_in
from inkling.logical.binding.syntax_walk import walk


@dataclass(frozen=True, slots=True)
class Modes:
    """A clause sorted: what facts bind, what is named in order, what is tested, and what only the caller knows."""

    clause: WrittenClause
    atoms: tuple[s.Call, ...]
    bound: frozenset[str]  # by atoms
    named: tuple[tuple[s.Ident, s.Expr], ...]
    conditions: tuple[s.Expr, ...]
    open: frozenset[str]  # variables of the head that nothing here gives a value
    unsafe: tuple[s.Ident, ...]  # variables of the body alone that nothing gives a value

    def by_caller(self, *nodes: s.Expr) -> bool:
        """Whether expressions depend on what only the caller knows."""
        waiting = [name.text for name in variables_in(*nodes)]
        values = {name.text: value for name, value in self.named}
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in self.open:
                return True
            if name in values and name not in seen:
                seen.add(name)
                waiting.extend(inner.text for inner in variables_in(values[name]))
        return False


def modes_of(clause: WrittenClause, knowledge: frozenset[str]) -> Modes:
    """Sorts the conjuncts of a clause."""
    atoms: list[s.Call] = []
    others: list[s.Expr] = []
    for conjunct in clause.conjuncts:
        if isinstance(conjunct, s.Call) and conjunct.name.text in knowledge:
            atoms.append(conjunct)
        else:
            others.append(conjunct)
    bound = {
        arg.name.text for atom in atoms for arg in atom.args if isinstance(arg, s.Variable) and not is_anything(arg)
    }
    in_head = {name.text for name in variables_in(*clause.args)}
    named: dict[str, tuple[s.Ident, s.Expr]] = {}
    pending = list(others)
    for loose in (False, True):
        grows = True
        while grows:
            grows = False
            for conjunct in list(pending):
                chosen = _naming(conjunct, bound, named, in_head, loose=loose)
                if chosen is not None:
                    named[chosen[0].text] = chosen
                    pending.remove(conjunct)
                    grows = True
                    break
    conditions = tuple(conjunct for conjunct in others if conjunct in pending)
    existential = {name.text for test in conditions for name in _existential(test, knowledge)}
    mentioned = variables_in(*atoms, *conditions, *(value for _, value in named.values()))
    missing = [name for name in mentioned if name.text not in bound and name.text not in named]
    elsewhere = [name.text for test in conditions for name in _outside_calls(test, knowledge)]
    elsewhere += [name.text for _, value in named.values() for name in variables_in(value)]
    unsafe = tuple(
        name
        for name in missing
        if name.text not in in_head and (name.text not in existential or name.text in elsewhere)
    )
    opened = frozenset(name for name in in_head if name not in bound and name not in named)
    return Modes(clause, tuple(atoms), frozenset(bound), _in_order(named), conditions, opened, unsafe)


def _naming(
    conjunct: s.Expr,
    bound: set[str],
    named: dict[str, tuple[s.Ident, s.Expr]],
    in_head: set[str],
    *,
    loose: bool,
) -> tuple[s.Ident, s.Expr] | None:
    """The variable that `v = expression` names; `loose` when the expression may wait for the caller.

    Of two variables the one is named that is no parameter, for that one nobody else can give a value.
    """
    if not isinstance(conjunct, s.Compare) or conjunct.op != "=":
        return None
    sides = [(conjunct.left, conjunct.right), (conjunct.right, conjunct.left)]
    if loose and isinstance(conjunct.right, s.Variable) and conjunct.right.name.text not in in_head:
        sides.reverse()
    for side, other in sides:
        if not isinstance(side, s.Variable) or is_anything(side):
            continue
        name = side.name.text
        if name in bound or name in named:
            continue
        needs = _needs(other, named)
        known = all(need in bound for need in needs)
        if name not in needs and (known or loose):
            return side.name, other
    return None


def _needs(expr: s.Expr, named: dict[str, tuple[s.Ident, s.Expr]]) -> set[str]:
    """The variables behind an expression that are not named values themselves."""
    found: set[str] = set()
    for name in variables_in(expr):
        found |= _needs(named[name.text][1], named) if name.text in named else {name.text}
    return found


def _in_order(named: dict[str, tuple[s.Ident, s.Expr]]) -> tuple[tuple[s.Ident, s.Expr], ...]:
    """Named values after those they need."""
    done: dict[str, tuple[s.Ident, s.Expr]] = {}

    def visit(name: str) -> None:
        if name in done:
            return
        for needed in variables_in(named[name][1]):
            if needed.text in named:
                visit(needed.text)
        done[name] = named[name]

    for name in named:
        visit(name)
    return tuple(done.values())


def _existential(test: s.Expr, knowledge: frozenset[str]) -> list[s.Ident]:
    """Bare arguments of look-ups inside a condition; what nothing else binds may be anything there."""
    return [
        arg.name
        for call in calls_in(test, knowledge)
        for arg in call.args
        if isinstance(arg, s.Variable) and not is_anything(arg)
    ]


def _outside_calls(test: s.Expr, knowledge: frozenset[str]) -> list[s.Ident]:
    """Variables of a condition that stand outside look-ups, or inside larger arguments of them."""
    bare = {id(arg.name) for call in calls_in(test, knowledge) for arg in call.args if isinstance(arg, s.Variable)}
    return [
        part.name
        for part in walk(test)
        if isinstance(part, s.Variable) and not is_anything(part) and id(part.name) not in bare
    ]
