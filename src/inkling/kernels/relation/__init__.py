"""Probabilities of relations between segments whose ends were lost: sums over the orders of points."""
