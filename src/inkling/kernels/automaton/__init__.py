"""Symbolic automata over rows sorted by key: symbols, runs, matches with their events."""
