"""Text to syntax: scan, choose keywords, run the LALR automaton, build nodes, explain errors."""

from inkling.language.parser.program import parse

__all__ = ["parse"]
