"""Parts of a pattern in the words of the language, short enough for a line of a table."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.language.printer.patterns import repetition_text
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.text import (
    Wording,
    expr_text,
    lookup_text,
    moment_text,
    quantity_text,
    span_text,
    window_text,
)


@dataclass(frozen=True, slots=True)
class PartTexts:
    """Says parts of one event's pattern."""

    event: p.EventPlan
    names: Wording

    @classmethod
    def of(cls, event: p.EventPlan) -> PartTexts:
        return cls(event, Wording.of(event))

    def condition(self, condition: e.Expr) -> str:
        return expr_text(condition, self.names)

    def part(self, part: p.Part) -> str:
        match part:
            case p.Leaf():
                return self._leaf(part)
            case p.Sequence(policy=policy, parts=parts):
                word = "SEQ" if policy is p.Policy.ANY else f"SEQ {policy.value}"
                return f"{word}({self._all(parts, ', ')})"
            case p.Conjunction(items=items):
                return self._all(items, " AND ")
            case p.Disjunction(items=items):
                return f"({self._all(items, ' OR ')})"
            case p.Parallel(items=items):
                return self._all(items, " PAR ")
            case p.Related(left=left, relations=relations, right=right):
                word = relations[0] if len(relations) == 1 else f"{{{', '.join(relations)}}}"
                return f"{self.part(left)} {word} {self.part(right)}"
            case p.Except(pattern=pattern, other=other):
                return f"{self.part(pattern)} EXCEPT {self.part(other)}"
            case p.TimePoint(since_zero=since_zero):
                return f"AT {moment_text(since_zero)}"
            case p.Quantified(left=x, relations=relations, right=y):
                sides = [f"{quantity_text(side)} {self._leaf(side.leaf)}" for side in (x, y)]
                return f" {', '.join(relations)} ".join(sides)
            case p.Sliding(leaf=leaf, last=last, since=since):
                opened = "" if since is None else f" SINCE {self._leaf(since)}"
                return f"WINDOW {self._leaf(leaf)} LAST {window_text(last)}{opened}"
            case p.Repetition(pattern=inner, low=low, high=high, eager=eager):
                checks = inner.checks if isinstance(inner, p.Leaf) else ()
                check = f" CHECK ({' AND '.join(self.condition(one) for one in checks)})" if checks else ""
                return self.part(inner) + repetition_text(low, high) + (" EAGER" if eager else "") + check
            case p.Narrowed(pattern=inner, within=within, slot=slot):
                limit = "" if within is None else f" WITHIN {window_text(within)}"
                name = None if slot is None else self.names.slots.get(slot)
                return f"({self.part(inner)}{limit})" + (f" {name}" if name else "")
            case p.OtherRun(pattern=inner):
                return f"COMPLEMENT({self.part(inner)})"
            case p.Absent(pattern=inner):
                return f"NOT {self.part(inner)}"
            case p.Deadline(after=after):
                return f"AFTER {span_text(after)}"
            case p.StreamStart():
                return "AT START"

    def short(self, part: p.Part) -> str:
        """A part without its conditions, where it is a single event."""
        inner = part
        while isinstance(inner, p.Repetition):
            inner = inner.pattern
        return self._called(inner) if isinstance(inner, p.Leaf) else self.part(part)

    def _all(self, parts: tuple[p.Part, ...], between: str) -> str:
        return between.join(self.part(part) for part in parts)

    def _leaf(self, leaf: p.Leaf) -> str:
        conditions = [lookup_text(atom, self.names) for atom in leaf.atoms]
        conditions += [self.condition(condition) for condition in leaf.conditions]
        return self._called(leaf) + (f"[{' AND '.join(conditions)}]" if conditions else "")

    def _called(self, leaf: p.Leaf) -> str:
        name = self.event.slots[leaf.slot].name
        return (" | ".join(leaf.sources) or "_") + (f" {name}" if name else "")
