"""Worlds on streams without an end: rows go into all worlds as time passes, and results come when they are settled."""
