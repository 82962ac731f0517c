"""Chains of events with imprecise times: bounds of their ticks and sums over them."""
