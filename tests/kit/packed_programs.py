"""Random programs in which keys never meet, each with many small streams as keys of one.

>>> case = next(packed_programs(seed=7, n=1, n_datasets=3))
>>> len(case.datasets)
3
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.kit.programs import Options, size_for, wanted_program
from tests.kit.rulesets import PACKED, PackedCase
from tests.kit.streams import is_packable, random_rows, random_tables


def packed_programs(seed: int, n: int, n_datasets: int, options: Options = PACKED) -> Iterator[PackedCase]:
    """The same `n` programs for the same seed, each with as many datasets."""
    rng = random.Random(seed)
    made = 0
    while made < n:
        streams, program = wanted_program(rng, options)
        if not is_packable(program.plan):
            continue
        size = size_for(program.plan)
        datasets = [random_rows(rng, streams, n_events=size, bad_rows=False) for _ in range(n_datasets)]
        made += 1
        yield PackedCase(program.text, program.plan, tuple(datasets), random_tables(rng))
