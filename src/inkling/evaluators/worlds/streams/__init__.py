"""Streams as their events stand in possible worlds: one module per kind of uncertainty."""
