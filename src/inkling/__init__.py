"""Recognizes complex events in streams that cannot be fully trusted."""

__version__ = "0.1.0"
