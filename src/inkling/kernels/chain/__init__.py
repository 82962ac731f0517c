"""Chains (sequences of events with imprecise times): bounds on their ticks, and probabilities as sums over ticks."""
