"""Query files of Lahar (`.lahar`) as programs: read, translated into the syntax of `.ink`, printed."""

from inkling.language.kit.reading import Notation
from inkling.language.lahar.printer import format_file
from inkling.language.lahar.reader import read_queries
from inkling.language.lahar.translation import translate

LAHAR = Notation(read_queries, translate, format_file)
