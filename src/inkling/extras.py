"""Optional packages: the extra of inkling that installs each, and the message where one is missing."""

from importlib.util import find_spec

from inkling.errors import InputError

DISTRIBUTION = "inkling-cep"
"""The name of inkling in package indexes, where `inkling` is another project."""

EXTRAS = {
    "pyspark": ("spark", "runs programs on Spark"),
    "pyoxigraph": ("rdf", "reads RDF files"),
    "pygls": ("editor", "serves editors"),
    "adbc_driver_postgresql": ("postgres", "writes to PostgreSQL"),
}
"""The extra that installs a package, and what the package does for inkling."""


def install_help(extra: str) -> str:
    """The command that installs an extra.

    >>> install_help("spark")
    "install it with `pip install 'inkling-cep[spark]'`"
    """
    return f"install it with `pip install '{DISTRIBUTION}[{extra}]'`"


def is_installed(package: str) -> bool:
    """Whether an optional package can be imported."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # its import is blocked
        return False


def require(package: str, code: str = "INK0518") -> None:
    """Raise an error with the extra to install if an optional package is missing."""
    if is_installed(package):
        return
    extra, does = EXTRAS[package]
    raise InputError.of(code, f"the package `{package}`, which {does}, is not installed", helps=(install_help(extra),))
