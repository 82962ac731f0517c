"""Random events whose pattern is a sliding window."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.kit.conditions import (
    Variable,
    across_condition,
    aggregate,
    aggregate_condition,
    finished_condition,
    local_condition,
)
from tests.kit.patterns import Source

from inkling.model.types import Type


def window_event(
    rng: random.Random, name: str, sources: Sequence[Source], *, partitioned: bool, aggregates: Sequence[str] = ()
) -> tuple[str, dict[str, Type], bool]:
    """The text of an event, the columns that later ones see, and whether its results are ordered.

    `aggregates` of whole numbers may be used besides those of the language.
    """
    source = rng.choice(list(sources))
    members = Variable("w", source.columns, is_list=True)
    opening = rng.choice(list(sources)) if rng.random() < 0.3 else None
    conditions = []
    if source.columns and rng.random() < 0.4:
        conditions.append(local_condition(rng, source.columns, "f1"))
    if opening is not None and source.columns and opening.columns and rng.random() < 0.4:
        conditions.append(across_condition(rng, source.columns, Variable("a", opening.columns)))
    looked_up = "" if opening is None or "s" not in opening.columns or rng.random() < 0.5 else _looked_up(rng)
    if "top" in looked_up and "x" in source.columns and rng.random() < 0.7:
        conditions.append(rng.choice(("x >= top", "x < top OR y > top", "lim(s, f2) AND f2 <= top")))
    if opening is not None and {"s", "x"} <= source.columns.keys() and "s" in opening.columns and rng.random() < 0.3:
        conditions.append(rng.choice(("near(a.s, f3) AND near(s, f3)", "lim(a.s, f3) AND f3 > x", "near(a.s, f3)")))
    checked = f"[{' AND '.join(f'({one})' for one in conditions)}]" if conditions else ""
    last = rng.choice([f"{rng.randint(1, 4)} EVENTS", f"{rng.randint(0, 4)} TICKS"])
    window = f"WINDOW {source.name} w{checked} LAST {last}"
    on_change = rng.random() < 0.3
    clauses = [
        f"PATTERN {window}" if opening is None else f"PATTERN SEQ({opening.name} a{looked_up}, {window} SINCE a)"
    ]
    if rng.random() < 0.25:
        having = aggregate_condition(rng, members) if rng.random() < 0.5 else finished_condition(rng, [members])
        clauses.append(f"HAVING {having}")
    if partitioned:
        clauses.append("PARTITION BY k")
    head, columns = [], {}
    if partitioned and rng.random() < 0.8:
        head, columns = ["k"], {"k": Type.STRING}
    for column, kind in source.columns.items():
        if column in ("x", "y", "s") and rng.random() < 0.5:
            head.append(f"{_value(rng, column, kind, on_change)} AS {column}")
            columns[column] = kind
    if "top" in looked_up and rng.random() < 0.5:
        head.append("top AS top")
        columns["top"] = Type.INTEGER
    returned = [_returned(rng, members, on_change) for _ in range(rng.randint(0, 3))]
    returned += ["top"] if "top" in looked_up and rng.random() < 0.5 else []
    returned += [f"{one}(w.x)" for one in aggregates if "x" in columns and rng.random() < 0.5]
    if returned:
        clauses.append(f"RETURN {', '.join(f'{item} AS r{number}' for number, item in enumerate(returned))}")
    clauses.append(rng.choice(("", "PER MATCH", "PER INTERVAL", "PER END")))
    if on_change:
        clauses.append("ON CHANGE")
    text = f"EVENT {name}({', '.join(head)}) AS\n  " + "\n  ".join(clause for clause in clauses if clause) + ";"
    return text, columns, source.is_ordered and (opening is None or opening.is_ordered)


def _looked_up(rng: random.Random) -> str:
    """Look-ups of the opening event, whose values later conditions may read as `top`."""
    return rng.choice(("[lim(s, top)]", "[near(s, f4) AND lim(f4, top)]", "[near(s, f4)]"))


def _value(rng: random.Random, column: str, kind: Type, on_change: bool) -> str:
    """A value of the type of a column."""
    functions = ["MIN", "MAX", *(["SUM"] if kind.is_numeric else [])]
    if kind is Type.DOUBLE:
        functions += ["AVG", "MEDIAN", *([] if on_change else ["STDDEV"])]
    chosen = rng.choice([*functions, "FIRST", "LAST"])
    return f"{chosen}(w).{column}" if chosen in ("FIRST", "LAST") else f"{chosen}(w.{column})"


def _returned(rng: random.Random, members: Variable, on_change: bool) -> str:
    if rng.random() < 0.25:
        return rng.choice(("START(w)", "END(w)", "END(w) - START(w)"))
    written = aggregate(rng, members)
    return "COUNT(w)" if on_change and "STDDEV" in written else written
