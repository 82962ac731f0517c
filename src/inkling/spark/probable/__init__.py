"""Queries over probable streams on Spark."""
