"""Raw tables: one row per record of the input, including malformed records, so that positions are record numbers.

Column `MALFORMED` has the fault of a malformed record, and `ORIGINAL` its text.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

MALFORMED = "@malformed"
ORIGINAL = "@original"

TEXT = pa.string()


def with_malformed(rows: pa.Table, malformed: Mapping[int, tuple[str, str]]) -> pa.Table:
    """The rows with malformed records inserted, which are given by position: fault and text."""
    if not malformed:
        return rows
    places = sorted(malformed)
    is_malformed = np.zeros(len(rows) + len(places), bool)
    is_malformed[places] = True
    taken = np.empty(len(is_malformed), np.int64)
    taken[~is_malformed] = np.arange(len(rows))
    taken[is_malformed] = len(rows) + np.arange(len(places))
    others = pa.table(
        {
            MALFORMED: pa.array([malformed[place][0] for place in places], TEXT),
            ORIGINAL: pa.array([malformed[place][1] for place in places], TEXT),
        }
    )
    return pa.concat_tables([rows, others], promote_options="default").take(pa.array(taken))


def empty_text(names: Sequence[str]) -> pa.Table:
    return pa.table([pa.array([], TEXT) for _ in names], names=list(names))
