"""What uncertainty is good for: the orderings of methods that hold whoever walks the corridor."""

import pytest
from tests.kit.corridor_quality import measured, orderings


def test_methods_are_in_order() -> None:
    found = orderings(measured(people=30, seconds=400, seed=1))
    assert all(found.values()), found


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 7])
def test_methods_are_in_order_at_full_size(seed: int) -> None:
    found = orderings(measured(people=60, seconds=900, seed=seed))
    assert all(found.values()), found
