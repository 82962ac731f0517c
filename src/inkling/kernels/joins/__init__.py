"""Joins of partial matches with candidate events, and the conditions across events that they test."""
