"""Pattern files of Wayeb (`.sre`) as programs: read, translated into the syntax of `.ink`, printed."""

from inkling.language.kit.reading import Notation
from inkling.language.sre.printer import format_file
from inkling.language.sre.reader import read_patterns
from inkling.language.sre.translation import translate

WAYEB = Notation(read_patterns, translate, format_file)
