"""Declarations of streams: columns and their roles, probabilities, imprecise times, lost events and withdrawals."""
