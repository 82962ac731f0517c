"""Chains of events whose times are intervals: matches with the probability that they happened."""
