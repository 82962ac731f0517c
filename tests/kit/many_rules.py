"""Many random recursive rule sets as one program over the same streams, so that one job or query checks all of them."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tests.kit.arrival import with_lateness
from tests.kit.background import RULES
from tests.kit.joined_rules import joined_rules
from tests.kit.programs import Options
from tests.kit.rows import Rows
from tests.kit.rulesets import RuleSet, random_rules
from tests.kit.streams import is_packable
from tests.kit.universe import TABLES, Declared

from inkling.logical.recursion import groups_of
from inkling.query import Program, parse

NAMES = re.compile(r"\b(r|q|base|last|last_late)\b")
IN_ORDER = frozenset({"ties with order"})
MOST_EXTENDING = 6
"""Rule sets of a program that derive events of a stream: each needs a copy of the stream."""


@dataclass(frozen=True, slots=True)
class ManyRules:
    """A program of rule sets in which keys never meet; each has event names of its own."""

    program: Program
    n: int
    copies: Mapping[str, str]  # streams that a rule set adds to, by the stream whose rows they have

    def rows(self, given: Rows) -> Rows:
        """The rows of all streams, from those of the first ones."""
        return {**given, **{copy: given[name] for copy, name in self.copies.items()}}


def many_rules(
    rng: random.Random, streams: Sequence[Declared], n: int, *, lateness: int = 0, without: frozenset[str] = IN_ORDER
) -> ManyRules:
    """`n` recursive rule sets: of any patterns, of two operands with arithmetic and facts, or that extend a stream."""
    events: list[str] = []
    copies: dict[str, Declared] = {}
    extended: dict[str, str] = {}
    options = Options(partitioned=True, bad_rows=False, without=without)
    n_extending = min(MOST_EXTENDING, n // 6)
    while len(events) < n:
        number = len(events)
        extending = number < n_extending
        if extending or number % 2:
            rules = random_rules(rng, options, streams, extending=extending)
        else:
            rules = joined_rules(rng, options, streams, facts=True)
        if not is_packable(rules.plan) or not any(group.is_recursive for group in groups_of(rules.plan)):
            continue
        own = NAMES.sub(rf"\g<1>_{number}", "EVENT " + rules.text.partition("EVENT ")[2])
        if extending:
            stream = _extended(rules)
            name = f"{stream.name}_{number}"
            own = re.sub(rf"\b{stream.name}\b", name, own)
            copies[name], extended[name] = replace(stream, name=name), stream.name
        events.append(own)
    declared = with_lateness("\n".join(map(str, (*streams, *copies.values()))), lateness)
    return ManyRules(parse("\n".join([declared, f"{TABLES}{RULES}".rstrip(), *events])), n, extended)


def _extended(rules: RuleSet) -> Declared:
    """The stream that an event of a rule set adds to."""
    return next(stream for stream in rules.streams if f"EVENT {stream.name}(" in rules.text)
