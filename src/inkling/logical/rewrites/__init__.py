"""Rewrites of logical plans: simplification, renumbering of slots, unions of declarations, possible worlds."""
