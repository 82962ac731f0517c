"""Patterns: their slots, what can be seen from where, and where each condition is tested."""
