"""Queries over probable streams: forward passes of automata, safe plans, sets of partial matches in worlds."""
