"""`inkling lsp`: a language server for editors."""

from inkling.cli.options import Debug
from inkling.extras import require


def lsp(*, debug: Debug = False) -> None:
    """Serve editors over stdin and stdout: errors, hover, completion, definitions, formatting."""
    require("pygls")
    from inkling.editor.server import server

    server.start_io()
