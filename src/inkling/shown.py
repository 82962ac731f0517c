"""Objects that notebooks show as HTML; `inkling.notebook` makes it, which is imported when something is shown."""

from importlib import import_module


class ShownInNotebooks:
    """An object that a notebook shows as `inkling.notebook.html_of` renders it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = import_module("inkling.notebook").html_of(self)
        return html
