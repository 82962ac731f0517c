"""Patterns on Spark from Parquet to the sum over their matches, beside the same patterns written by hand.

The hand-written queries drop rows as early as ours, read the columns they need, and join within stretches of time.
Each gives a row per match with its first and last time. Both sides count the rows and add up the times: so none can
leave work undone, and both must have found the same matches.
"""

from benchmarks.queries import correlation, negation, next_match, repetition, strict, strict_matches

QUERIES = (strict.QUERY, strict_matches.QUERY, next_match.QUERY, repetition.QUERY, negation.QUERY, correlation.QUERY)
