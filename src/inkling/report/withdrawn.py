"""Results that were told and withdrawn, as a stream tells them: what stands, and what does not."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from inkling.live.revision.contents import differences

OP = "op"


class Net(NamedTuple):
    """Results that stand, and results that do not stand any more, each of them once, with `-`."""

    standing: pa.Table
    withdrawn: pa.Table


def net_of(table: pa.Table) -> Net:
    """What rows with `+` and `-` come to; each `-` takes back one equal row."""
    takes_back = pc.equal(table[OP], "-")
    withdrawn = table.filter(takes_back)
    if not withdrawn.num_rows:
        return Net(table, withdrawn)
    told = table.filter(pc.invert(takes_back))
    _, stands = differences(withdrawn, told, [name for name in table.column_names if name != OP])
    return Net(told.filter(pa.array(stands)), withdrawn)
