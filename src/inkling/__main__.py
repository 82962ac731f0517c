"""`python -m inkling` is the command `inkling`."""

from inkling.cli import main

main()
