"""Bounds of an event: its window, the delay of its results, revisions, and the size of its state."""
