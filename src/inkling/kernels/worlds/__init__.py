"""Possible worlds: independent parts of the data, random draws, and automata in many worlds at once."""
