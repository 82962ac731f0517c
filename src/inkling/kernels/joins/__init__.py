"""Joins of partial matches with candidates, including conditions across events."""
