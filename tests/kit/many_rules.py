"""Many random rule sets as one program over the same streams, so that one job or query checks all of them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from tests.kit.arrival import with_lateness
from tests.kit.background import RULES
from tests.kit.programs import Options
from tests.kit.rulesets import random_rules
from tests.kit.streams import is_packable
from tests.kit.universe import TABLES, Declared

from inkling.query import Program, parse

NAMES = re.compile(r"\b(r|q|base|last|last_late)\b")
IN_ORDER = frozenset({"ties with order"})


def many_rules(
    rng: random.Random, streams: Sequence[Declared], n: int, *, lateness: int = 0, without: frozenset[str] = IN_ORDER
) -> Program:
    """A program of `n` rule sets in which keys never meet; each has event names of its own."""
    events: list[str] = []
    options = Options(partitioned=True, bad_rows=False, without=without)
    while len(events) < n:
        rules = random_rules(rng, options, streams)
        if is_packable(rules.plan):
            own = "EVENT " + rules.text.partition("EVENT ")[2]
            events.append(NAMES.sub(rf"\g<1>_{len(events)}", own))
    declared = with_lateness("\n".join(map(str, streams)), lateness)
    return parse("\n".join([declared, f"{TABLES}{RULES}".rstrip(), *events]))
