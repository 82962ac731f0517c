"""Revision: late rows and withdrawn rows change results that were emitted."""
