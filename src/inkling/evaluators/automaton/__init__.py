"""Patterns whose conditions look at one event each: one table look-up per event, many patterns in one pass."""
