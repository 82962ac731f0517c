"""Streams with sequence numbers: gaps and lost events, rows that contradict earlier ones, and the rows to keep."""
