"""Pattern files of Wayeb (`.sre`) as programs: read, translated into the syntax of `.ink`, printed."""

from inkling.language.sre.files import format_patterns, parse_patterns

__all__ = ["format_patterns", "parse_patterns"]
