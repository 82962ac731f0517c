"""Possible worlds: independent parts of the data, draws, and automata in many worlds at once."""
