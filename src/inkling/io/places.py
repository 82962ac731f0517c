"""Values of ORDER BY as whole numbers that compare like them, across all streams of a program."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.io.normalize import PLACE


def with_numbered_places(sources: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Places as integers: integers stand for themselves; as soon as there is text, all are ranked."""
    kinds = {source[PLACE].type for source in sources.values()}
    if not any(pa.types.is_string(kind) for kind in kinds):
        return dict(sources)
    ranks: dict[str, pa.Table] = {}
    everything = pa.concat_arrays([source[PLACE].cast(pa.string()).combine_chunks() for source in sources.values()])
    words = pc.drop_null(pc.unique(everything))
    words = words.take(pc.array_sort_indices(words))
    for name, source in sources.items():
        found = pc.index_in(source[PLACE].cast(pa.string()).combine_chunks(), value_set=words)
        column = pa.array(np.asarray(found.cast(pa.int64()).to_numpy(zero_copy_only=False)), from_pandas=True)
        ranks[name] = source.set_column(source.column_names.index(PLACE), PLACE, column.cast(pa.int64()))
    return ranks
