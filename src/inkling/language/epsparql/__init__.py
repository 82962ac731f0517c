"""Query files of EP-SPARQL (`.epsparql`, `.rq`) as programs: read, translated into the syntax of `.ink`, printed."""

from inkling.language.epsparql.printer import format_file
from inkling.language.epsparql.reader import read_queries
from inkling.language.epsparql.translation import translate
from inkling.language.kit.reading import Notation

EPSPARQL = Notation(read_queries, translate, format_file)
