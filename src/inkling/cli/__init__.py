"""The command line: one thin file per command around the functions that Python users call.

It takes the words of a command line, and gives text, files and an exit status. Nothing imports it.
"""

from inkling.cli.app import app, main

__all__ = ["app", "main"]
