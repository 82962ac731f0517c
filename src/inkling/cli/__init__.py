"""What is typed in a shell: one thin file per command around the functions that Python users call.

Enters: words of the command line. Leaves: text, files and an exit status. Nothing imports it.
"""

from inkling.cli.app import app, main

__all__ = ["app", "main"]
