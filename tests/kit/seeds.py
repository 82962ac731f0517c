"""How many seeds a property is tried with at length."""

import os


def at_length(seeds: range) -> range:
    """All of these under the profile `long` (`make test-long`), else the first quarter (`make test-full`)."""
    return seeds if os.environ.get("HYPOTHESIS_PROFILE") == "long" else seeds[: -(-len(seeds) // 4)]
