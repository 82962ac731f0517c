"""Queries over probable streams, answered exactly and without worlds."""
