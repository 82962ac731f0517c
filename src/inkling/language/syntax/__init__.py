"""The syntax tree: frozen nodes of the program text, before names are resolved.

The parser and the fluent builder make these nodes; the printer and the binder read them. Every
node has a `span`, which equality and `repr` ignore.
"""

from inkling.language.syntax.expressions import *
from inkling.language.syntax.nodes import *
from inkling.language.syntax.patterns import *
from inkling.language.syntax.statements import *
