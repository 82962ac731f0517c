"""Streams whose events are numbered: what was lost, which rows contradict earlier ones, what to remember of them."""
