"""What there is to say about a run over lost events besides its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import key_hashes
from inkling.evaluators.relation.numbered import NumberedRows
from inkling.evaluators.relation.program import RelationProgram
from inkling.evaluators.relation.regularity import regularity, regularity_note
from inkling.io.normalize import START
from inkling.model.uncertainty import LostEvents
from inkling.results import BOUNDS, ROUNDING


def notes_of(program: RelationProgram, rows: Mapping[str, pa.Table], tables: Mapping[str, pa.Table]) -> list[str]:
    """Answers that were sampled, and streams whose arrivals are more regular than they say."""
    return [*_sampled(program, tables), *_regular(program, rows)]


def _sampled(program: RelationProgram, tables: Mapping[str, pa.Table]) -> Iterator[str]:
    for event in program.events:
        table = tables[event.name]
        n = int(((table["error"].to_numpy() > ROUNDING) & (np.array(table["method"].to_pylist()) != BOUNDS)).sum())
        if n:
            yield f"{n:,} of {len(table):,} of {event.name} sampled ({program.limits.n_samples:,} orders)"


def _regular(program: RelationProgram, rows: Mapping[str, pa.Table]) -> Iterator[str]:
    for schema in (stream.schema for stream in program.part.streams):
        doubt = schema.doubt
        if not isinstance(doubt, LostEvents) or doubt.intensity is not None or not len(rows[schema.name]):
            continue
        found = NumberedRows.of(schema, rows[schema.name], tables=program.tables)
        recorded = found.rows.slice(0, found.n_recorded)
        key = np.unique(key_hashes(schema, recorded), return_inverse=True)[1]
        number, time = recorded[doubt.number].to_numpy().astype(np.int64), recorded[START].to_numpy()
        n_lost = int(np.diff(found.gaps).sum())
        note = regularity_note(schema.name, regularity(key, number, time), n_lost, doubt.shape)
        if note is not None:
            yield note
