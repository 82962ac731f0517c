"""Uncertain streams: their possible worlds, evaluated side by side, and added up into probabilities."""
