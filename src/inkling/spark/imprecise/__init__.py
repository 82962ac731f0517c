"""Chains over imprecise times on Spark: workers hold whole keys, or overlapping slices of time."""
