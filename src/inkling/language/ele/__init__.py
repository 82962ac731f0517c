"""ETALIS rule files (`.ele`) as programs: read, translated into the syntax of `.ink`, printed."""

from inkling.language.ele.printer import format_file
from inkling.language.ele.reader import read_rules
from inkling.language.ele.translation import translate
from inkling.language.kit.reading import Notation

ETALIS = Notation(read_rules, translate, format_file)
