"""Automata of one stage share a index of keys, though each has seen only some of them."""

from __future__ import annotations

import inkling
from inkling.evaluators.automaton.evaluator import SPARE_KEYS

PROGRAM = """
STREAM V(id INT, k INT, t INT, s STRING) ID id KEY k TIME t ORDER BY id;
STREAM W(id INT, k INT, t INT, s STRING) ID id KEY k TIME t ORDER BY id;
EVENT v(k) AS PATTERN SEQ STRICT(V[s = 'a'], V[s = 'b']) PARTITION BY k PER END;
EVENT w(k) AS PATTERN SEQ STRICT(W[s = 'a'], W[s = 'b']) PARTITION BY k PER END;
"""


def test_keys_are_forgotten_that_only_one_of_them_knows() -> None:
    stream = inkling.parse(PROGRAM).open(unbounded=True)
    found: dict[str, list[int]] = {"v": [], "w": []}
    times, per_time = range(9), SPARE_KEYS // 2
    for t in times:
        # every eighth key opens a match of w, key 0 one of v; at the last time all of them are completed
        last = t == times[-1]
        keys = range(0, t * per_time, 8) if last else range(t * per_time, (t + 1) * per_time)
        rows = [{"id": t * 10**5 + k, "k": k, "t": t, "s": "b" if last else "ca"[k % 8 == 0]} for k in keys]
        one = {"id": 10**7 + t, "k": 0, "t": t, "s": "b" if last else "a"}
        for name, table in stream.push({"W": rows, "V": [one]}).tables.items():
            found[name] += table["k"].to_pylist()
    for name, table in stream.finish().tables.items():
        found[name] += table["k"].to_pylist()
    assert found["v"] == [0]
    assert sorted(found["w"]) == list(range(0, 8 * per_time, 8))
