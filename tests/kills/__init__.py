"""Streams that are killed again and again while rows arrive; `python -m tests.kills` does it at length."""
