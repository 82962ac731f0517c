"""Three consecutive readings of a device, every match with its events: the join network instead of an automaton."""

from benchmarks.queries import strict
from benchmarks.queries.query import Query

EVENT = strict.EVENT.replace("PER END", "PER MATCH")

QUERY = Query("strict, every match", EVENT, 1e6, strict.BY_HAND)
