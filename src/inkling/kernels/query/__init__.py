"""Queries over probable streams: automata, safe plans, sets of partial matches."""
