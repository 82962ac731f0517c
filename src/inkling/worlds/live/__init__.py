"""Worlds on streams without an end: rows go into all worlds as time passes, results come out when no world can change them."""
