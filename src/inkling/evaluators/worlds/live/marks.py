"""How far rows say that time has come."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from inkling.evaluators.worlds.live.lossy import roles_said
from inkling.evaluators.worlds.room import countable
from inkling.model.schema import StreamSchema
from inkling.model.watermarks import Marks
from inkling.physical.streams import time_of


def marks_of(schemas: Mapping[str, StreamSchema], rows: Mapping[str, pa.Table], scale: int) -> Marks:
    """The latest time of each stream that a clock of this scale can count, and what rows call numbered events."""
    latest, roles = {}, {}
    for name, schema in schemas.items():
        if name not in rows:
            continue
        some, _ = countable(schema, rows[name], scale)
        if len(some):
            latest[name] = int(some[time_of(schema)].to_numpy().max())
        if (said := roles_said(schema, some)) is not None:
            roles[name] = said
    return Marks(latest, roles=roles)
