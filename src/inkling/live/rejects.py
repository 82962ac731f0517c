"""Rows that a stream cannot take although each of them is well formed."""

from __future__ import annotations

import pyarrow as pa

from inkling.evaluators.stage import rows as r
from inkling.io.rejects import REJECTS_SCHEMA, Reason
from inkling.physical.plan import Stage


def tied_rejects(stage: Stage, tied: pa.Table) -> pa.Table:
    """Rejects for rows at the same place as another one, where an automaton needs to know which comes first."""
    if not len(tied):
        return REJECTS_SCHEMA.empty_table()
    found = {
        (stage.inputs[number].source, str(identity), end)
        for number, end, identity in zip(*(tied[name].to_pylist() for name in (r.SOURCE, r.END, r.ID)), strict=True)
    }
    return pa.Table.from_pylist(
        [
            {
                "stream": stream,
                "reason": Reason.TIED.value,
                "detail": f"at time {end} another row has the same place in ORDER BY",
                "row": None,
                "id": identity,
            }
            for stream, identity, end in sorted(found, key=str)
        ],
        schema=REJECTS_SCHEMA,
    )
