"""ETALIS rule files (`.ele`) as programs: read, translated into the syntax of `.ink`, printed."""

from inkling.language.ele.rules import format_rules, parse_rules

__all__ = ["format_rules", "parse_rules"]
