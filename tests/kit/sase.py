"""The meaning of SASE queries on certain points in time, by trying everything, and random queries.

Strategies are those of SASE+ (Agrawal, Diao, Gyllstrom, Immerman, SIGMOD 2008, section 2.1). Inside a repetition under
`skip_till_next_match`, the earliest event that can be taken or that can come next has to be used; ties fork.
"""

from __future__ import annotations

import operator
import random
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inkling.language.kit.cursor import Number, Text
from inkling.language.sase import terms as t
from inkling.language.sase.reader import STRATEGIES

COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
COMPUTED: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": lambda a, b: a / b if b else None,
    "%": lambda a, b: abs(a) % b * (1 if a >= 0 else -1) if b else None,
}  # fmt: skip
GATHERED: Mapping[str, Callable[[list[Any]], Any]] = {
    "sum": sum, "avg": lambda some: sum(some) / len(some), "min": min, "max": max, "median": statistics.median,
    "stddev": statistics.pstdev,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    id: str
    type: str
    time: int
    values: tuple[tuple[str, Any], ...]

    def __getitem__(self, column: str) -> Any:
        return dict(self.values).get(column)


Chosen = tuple[tuple[str, Event], ...]
"""The events of a match so far, each with its variable."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A query over events, of which some streams may be left out of the pattern."""

    query: t.Query
    events: tuple[Event, ...]

    def matches(self) -> set[tuple[str, ...]]:
        return {tuple(event.id for _, event in chosen) for chosen in self._grown((), 0) if self._is_match(chosen)}

    @property
    def _strategy(self) -> str:
        found = [one for one in t.conjuncts(self.query.where) if isinstance(one, t.Selection)]
        return found[0].strategy.text if found else "skip_till_any_match"

    @property
    def _happening(self) -> list[t.Component]:
        return [one for one in self.query.components if not one.negated]

    def _grown(self, chosen: Chosen, place: int) -> Iterator[Chosen]:
        """Every way to choose the events from a component on."""
        if place == len(self._happening):
            yield chosen
            return
        component = self._happening[place]
        for event in self._next(chosen, self._qualified(chosen, component), []):
            longer = (*chosen, (component.var.text, event))
            yield from self._repeated(longer, place) if component.repeated else self._grown(longer, place + 1)

    def _repeated(self, chosen: Chosen, place: int) -> Iterator[Chosen]:
        component, following = self._happening[place], self._happening[place + 1 : place + 2]
        takes = self._qualified(chosen, component)
        exits = [event for one in following for event in self._qualified(chosen, one)]
        for event in self._next(chosen, takes, exits):
            yield from self._repeated((*chosen, (component.var.text, event)), place)
        if not following:
            yield chosen
            return
        for event in self._next(chosen, exits, takes):
            longer = (*chosen, (following[0].var.text, event))
            again = following[0].repeated
            yield from self._repeated(longer, place + 1) if again else self._grown(longer, place + 2)

    def _next(self, chosen: Chosen, candidates: list[Event], rivals: list[Event]) -> list[Event]:
        if not chosen:
            return candidates
        last = chosen[-1][1]
        match self._strategy:
            case "skip_till_any_match":
                return candidates
            case "skip_till_next_match":
                first = min((event.time for event in (*candidates, *rivals)), default=0)
                return [event for event in candidates if event.time == first]
            case strategy:
                keys = self._shared if strategy == "partition_contiguity" else ()
                scope = [one for one in self.events if all(one[key] == last[key] for key in keys)]
                return [one for one in candidates if not any(last.time < other.time < one.time for other in scope)]

    @property
    def _shared(self) -> tuple[str, ...]:
        tests = [one for one in t.conjuncts(self.query.where) if isinstance(one, t.Equivalence)]
        return tuple(column.text for one in tests for column in one.columns)

    def _qualified(self, chosen: Chosen, component: t.Component) -> list[Event]:
        """The later events of the types that pass every condition at the component, given what is chosen."""
        since = chosen[-1][1].time if chosen else -(10**9)
        types = {type.text for type in component.types}
        later = [event for event in self.events if event.type in types and event.time > since]
        return [event for event in later if self._passes((*chosen, (component.var.text, event)), component)]

    def _passes(self, chosen: Chosen, component: t.Component) -> bool:
        if not self._agree(chosen):
            return False
        for condition in t.conjuncts(self.query.where):
            if isinstance(condition, t.Comparison | t.Joined | t.Negated):
                at, complete = self._tested_at(condition)
                if at == component.var.text and not complete and not self._holds_here(condition, chosen, component):
                    return False
                if complete and self._decides(at) == component.var.text and not self._holds(condition, chosen):
                    return False
        return True

    def _agree(self, chosen: Chosen) -> bool:
        first = chosen[0][1]
        pairs = [(event[key], first[key]) for _, event in chosen for key in self._shared]
        return all(one is not None and one == other for one, other in pairs)

    def _tested_at(self, condition: t.Condition) -> tuple[str, bool]:
        """The variable at which a condition is tested, and whether it is about the whole repetition."""
        read = list(t.readings(condition))
        order = {one.var.text: place for place, one in enumerate(self.query.components)}
        absent = {one.var.text for one in self.query.components if one.negated}
        at = max((node.var.text for node in read), key=lambda name: (name in absent, order[name]))
        whole = any(
            node.var.text == at and (not node.earlier if isinstance(node, t.Aggregated) else node.index == "LEN")
            for node in read
        )
        return at, whole

    def _decides(self, at: str) -> str | None:
        """Under NEXT, the part after a repetition is a candidate only if conditions on the repetition hold."""
        names = [one.var.text for one in self._happening]
        following = names[names.index(at) + 1 :]
        return following[0] if self._strategy == "skip_till_next_match" and following else None

    def _holds_here(self, condition: t.Condition, chosen: Chosen, component: t.Component) -> bool:
        name = component.var.text
        if component.repeated:
            own = [node for node in t.readings(condition) if node.var.text == name]
            indexes = {node.index if isinstance(node, t.Value) else "i-1" for node in own}
            is_first = [var for var, _ in chosen].count(name) == 1
            if indexes == {"1"}:
                return not is_first or self._holds(condition, chosen)
            if is_first and indexes != {"i"}:
                return True
        return self._holds(condition, chosen)

    def _is_match(self, chosen: Chosen) -> bool:
        begin, end = chosen[0][1].time, chosen[-1][1].time
        length = None if self.query.within is None else int(self.query.within.amount.size)
        if length is not None and end - begin > length - 1:
            return False
        for condition in t.conjuncts(self.query.where):
            if isinstance(condition, t.Comparison | t.Joined | t.Negated):
                at, complete = self._tested_at(condition)
                if complete and self._decides(at) is None and not self._holds(condition, chosen):
                    return False
        if not all(self._holds(one, chosen) for one in t.conjuncts(self.query.having)):
            return False
        return not any(self._happens(place, chosen, length) for place in range(len(self.query.components)))

    def _happens(self, place: int, chosen: Chosen, length: int | None) -> bool:
        """Whether the absent event at a place happens in its gap."""
        absent = self.query.components[place]
        if not absent.negated:
            return False
        before = {one.var.text for one in self.query.components[:place] if not one.negated}
        earlier = [event.time for var, event in chosen if var in before]
        later = [event.time for var, event in chosen if var not in before]
        begin, end = chosen[0][1].time, chosen[-1][1].time
        since = max(earlier) if earlier else end - (length or 0)
        until = min(later) if later else begin + (length or 0)
        types = {type.text for type in absent.types}
        inside = [one for one in self.events if one.type in types and since < one.time < until]
        tests = [
            one
            for one in t.conjuncts(self.query.where)
            if isinstance(one, t.Comparison | t.Joined | t.Negated) and self._tested_at(one)[0] == absent.var.text
        ]
        return any(
            self._agree((*chosen, (absent.var.text, one)))
            and all(self._holds(test, (*chosen, (absent.var.text, one))) for test in tests)
            for one in inside
        )

    def _holds(self, condition: t.Condition, chosen: Chosen) -> bool:
        match condition:
            case t.Comparison(op=op, left=left, right=right):
                one, other = self._value(left, chosen), self._value(right, chosen)
                return one is not None and other is not None and COMPARED[op](one, other)
            case t.Negated(item=item):
                return not self._holds(item, chosen)
            case t.Joined(op="AND", items=items):
                return all(self._holds(item, chosen) for item in items)
            case t.Joined(items=items):
                return any(self._holds(item, chosen) for item in items)
            case _:
                raise AssertionError(condition)

    def _value(self, term: t.Term, chosen: Chosen) -> Any:
        match term:
            case Number(size=size):
                return size
            case Text(value=value) | t.Truth(value=value):
                return value
            case t.Percent(share=share):
                return float(share)
            case t.Minus(item=item):
                one = self._value(item, chosen)
                return None if one is None else -one
            case t.Arithmetic(op=op, left=left, right=right):
                one, other = self._value(left, chosen), self._value(right, chosen)
                return None if one is None or other is None else COMPUTED[op](one, other)
            case t.Value(var=var, index=index, column=column):
                some = [event for name, event in chosen if name == var.text]
                place = {"1": 0, "i-1": -2}.get(index or "", -1)
                return some[place][column.text] if -len(some) <= place < len(some) else None
            case t.Aggregated(function=function, var=var, earlier=earlier, column=column):
                some = [event for name, event in chosen if name == var.text][: -1 if earlier else None]
                values = [event[column.text] for event in some if event[column.text] is not None] if column else some
                if function.text == "count":
                    return len(values)
                return GATHERED[function.text](values) if values else None


def random_query(rng: random.Random) -> str:
    """A query over the streams A, B, C and D, which have the columns k and v."""
    shape = rng.choice(
        (
            "A a, B b", "A a, B b, C c", "A a, ~(D d), C c", "A a, B+ b[], C c", "B+ b[], C c", "A a, B+ b[]",
            "A a, B+ b[], B|C c", "A a, !(D d), B+ b[], C+ c[]", "~(D d), A a, B b", "A a, B b, ~(D d)", "A|B a, B|A b",
        )
    )  # fmt: skip
    strategy = rng.choice((*STRATEGIES, "skip_till_next_match"))
    names = [part.split()[-1].strip("()") for part in shape.split(", ")]
    happening = [name for name, part in zip(names, shape.split(", "), strict=True) if part[0] not in "~!"]
    conditions = [_condition(rng, names, happening) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    if strategy == "partition_contiguity" or rng.random() < 0.3:
        conditions.append("[k]")
    rng.shuffle(conditions)
    head = f"{strategy}({', '.join(happening)})"
    where = f"{head} {{ {' AND '.join(conditions)} }}" if conditions else head
    needs_window = shape.startswith("~") or shape.endswith(")")
    within = f" WITHIN {rng.randint(3, 9)}" if needs_window or rng.random() < 0.6 else ""
    is_repeated = any(name.endswith("[]") for name in happening)
    having = rng.choice(("", "", "count(b[]) > 1", "avg(b[].v) >= 1", "b[1].v <= b[b.LEN].v")) if is_repeated else ""
    if "b[]" not in happening:
        having = ""
    return f"PATTERN SEQ({shape}) WHERE {where}{within}{' HAVING ' + having if having else ''}"


def _condition(rng: random.Random, names: list[str], happening: list[str]) -> str:
    """A condition at one event, maybe about an earlier one; at an absent event, maybe about any other."""
    op = rng.choice(("=", "<", "<=", ">=", ">", "!="))
    name = rng.choice(names)
    others = happening[: happening.index(name)] if name in happening else happening
    other = rng.choice(others or ["1"])
    read = f"{other[0]}[{other[0]}.LEN].v" if other.endswith("[]") else f"{other}.v" if others else "1"
    if not name.endswith("[]"):
        constant = rng.randint(0, 3)
        return rng.choice((f"{name}.v {op} {read}", f"{name}.v {op} {constant}", f"({name}.v + 1) * 2 {op} 50% * 5"))
    b = name[0]
    return rng.choice(
        (
            f"{b}[1].v {op} {read}", f"{b}[i].v {op} {read}", f"{b}[i].v {op} {b}[i-1].v", f"{b}[i].v {op} {b}[1].v",
            f"{b}[i].v {op} avg({b}[..i-1].v)", f"count({b}[..i-1]) < {rng.randint(1, 3)}", f"{b}[{b}.LEN].v {op} 1",
            f"({b}[i].v > 1 OR NOT {b}[i].v = {read})", f"{b}[1].v {op} {rng.randint(0, 3)}",
        )
    )  # fmt: skip


def random_events(rng: random.Random, n: int, until: int) -> tuple[Event, ...]:
    return tuple(
        Event(
            f"e{number}",
            rng.choice("AABBBBCCD"),
            rng.randint(1, until),
            (("k", rng.choice((0, 0, 1, None))), ("v", rng.choice((0, 1, 2, 3, None)))),
        )
        for number in range(n)
    )
