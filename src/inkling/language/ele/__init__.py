"""ETALIS rule files (`.ele`) as programs: read, translated into the syntax of `.ink`, printed."""
