"""Aggregates over sliding windows."""
