"""What several revisions change together, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from inkling.live.revision.contents import differences
from inkling.live.revision.machine import OWNER
from inkling.live.revision.news import Revision
from inkling.results import as_withdrawn


def net_of(revisions: Iterable[Revision]) -> dict[str, tuple[pa.Table, pa.Table]]:
    """By event what does not hold any more and what holds by now; what comes and goes again is left out."""
    withdrawn: dict[str, list[pa.Table]] = {}
    added: dict[str, list[pa.Table]] = {}
    for revision in revisions:
        for one, many in ((revision.withdrawn, withdrawn), (revision.added, added)):
            for name, rows in one.items():
                many.setdefault(name, []).append(rows)
    found = {}
    for name in {**withdrawn, **added}:
        nothing = (withdrawn.get(name) or added[name])[0].slice(0, 0)
        gone, fresh = (pa.concat_tables([nothing, *tables.get(name, [])]) for tables in (withdrawn, added))
        is_gone, is_fresh = differences(gone, fresh, fresh.column_names)
        found[name] = gone.filter(pa.array(is_gone)), fresh.filter(pa.array(is_fresh))
    return found


def shown(gone: pa.Table, fresh: pa.Table) -> pa.Table:
    """Results in the public columns, those that were told before first."""
    return pa.concat_tables([as_withdrawn(gone), fresh]).drop_columns([OWNER])
