"""Query files of SASE (`.sase`) as programs: read, translated into the syntax of `.ink`, printed."""

from inkling.language.kit.reading import Notation
from inkling.language.sase.printer import format_file
from inkling.language.sase.reader import read_queries
from inkling.language.sase.translation import translate

SASE = Notation(read_queries, translate, format_file)
