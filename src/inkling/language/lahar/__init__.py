"""Query files of Lahar (`.lahar`) as programs: read, translated into the syntax of `.ink`, printed."""

from inkling.language.lahar.files import format_queries, parse_queries

__all__ = ["format_queries", "parse_queries"]
