"""Queries over probable streams: what they ask for, which class they belong to, and how they are answered exactly."""
