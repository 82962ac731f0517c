"""Which rows are gone and which are new, counted."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from inkling.runtime.revision.contents import differences

KINDS = {"x": pa.int64(), "y": pa.float64(), "s": pa.string(), "ids": pa.list_(pa.string())}
ROW = st.fixed_dictionaries(
    {
        "x": st.sampled_from([0, 1, None]),
        "y": st.sampled_from([0.0, 0.5, None]),
        "s": st.sampled_from(["", "a", None]),
        "ids": st.sampled_from([[], ["a"], ["a", "b"], ["ab"]]),
    }
)
Rows = list[dict[str, object]]


def table(rows: Rows) -> pa.Table:
    return pa.Table.from_pylist(rows, pa.schema(KINDS.items()))


@given(st.lists(ROW, max_size=12), st.lists(ROW, max_size=12), st.sampled_from([list(KINDS), ["x", "s"]]))
def test_equal_rows_are_counted(old: Rows, new: Rows, names: list[str]) -> None:
    gone, fresh = differences(table(old), table(new), names)
    one, other = (Counter(repr([row[name] for name in names]) for row in rows) for rows in (old, new))
    left = Counter(repr([row[name] for name in names]) for row, is_gone in zip(old, gone, strict=True) if is_gone)
    come = Counter(repr([row[name] for name in names]) for row, is_new in zip(new, fresh, strict=True) if is_new)
    assert left == one - other
    assert come == other - one
