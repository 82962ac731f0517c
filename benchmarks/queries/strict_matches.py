"""Three consecutive readings of a device, every match with its events: the join network instead of an automaton."""

from benchmarks.queries import strict
from benchmarks.queries.query import Query

EVENT = strict.EVENT.replace("PER END", "PER MATCH")

QUERY = Query("strict, every match", EVENT, {"window functions": strict.lead}, least_rate=1e6, least_ratio=1.0)
