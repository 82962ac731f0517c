"""Where `Program.why` begins: certain events are explained as they are, uncertain ones in their worlds."""

from __future__ import annotations

from collections.abc import Mapping

from inkling.evaluators.sampling import Sampling
from inkling.io import Data
from inkling.logical.in_worlds import doubtful_events
from inkling.physical.runnable import Runnable
from inkling.why.account import Why
from inkling.why.uncertain import UncertainWhy


def why(
    program: Runnable,
    event: str,
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None = None,
    sampling: Sampling | None = None,
) -> Why:
    """Why an event has the results that it has over these inputs, or none."""
    if event in doubtful_events(program.plan):
        return UncertainWhy(program, event, inputs, tables, sampling or Sampling())
    return Why(program, event, inputs, tables)
