"""Worlds on streams without an end: rows go into all worlds as time passes, results come when no world can change them."""
