"""Rows of a stage: their format, keys and conditions, derived columns, joined facts, and batches of events."""
