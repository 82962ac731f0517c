"""Execution of symbolic automata over rows sorted by key: symbols of rows, runs, witnesses of matches."""
