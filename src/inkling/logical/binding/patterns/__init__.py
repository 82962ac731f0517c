"""Patterns: slots, the scope of names, and the slot or body where each condition is tested."""
