"""Query files of Lahar (`.lahar`) as programs: read, translated into the syntax of `.ink`, printed."""

from inkling.language.lahar.printer import format_file
from inkling.language.lahar.reader import read_queries
from inkling.language.lahar.translation import translate
from inkling.language.reading import Notation

LAHAR = Notation(read_queries, translate, format_file)
