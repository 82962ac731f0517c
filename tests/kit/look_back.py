"""For tests that look back at the cases of their module: they say nothing when only some of the cases ran."""

import pytest


def require_all(n_ran: int, n_all: int) -> None:
    """Skip the test unless all parts of its module ran before it, in the same process."""
    if n_ran < n_all:
        pytest.skip(f"looks back at all {n_all} parts of its module, of which {n_ran} ran")
