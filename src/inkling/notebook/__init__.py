"""Programs, results, models, explanations and running streams in notebooks, and the magics `%%ink` and `%ink`.

`html_of` and `report_of` take objects of all layers and give HTML; the objects reach them through `inkling.shown` and
`Results.report`, which import this package when something is shown. `%load_ext inkling` registers the magics.
"""

from inkling.notebook.magics import load_ipython_extension
from inkling.notebook.objects import html_of
from inkling.notebook.report import Report, report_of

__all__ = ["Report", "html_of", "load_ipython_extension", "report_of"]
