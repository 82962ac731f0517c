"""Chains: sequences of events with imprecise times, each match with its probability (Zhang, Diao, Immerman 2010)."""
