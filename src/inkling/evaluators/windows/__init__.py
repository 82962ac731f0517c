"""Sliding windows as an evaluator: one window per event, aggregates over each in one pass."""
