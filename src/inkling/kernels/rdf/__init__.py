"""Loops over the bytes of RDF files."""
