"""All other queries: the distribution over sets of partial matches, sampled where these sets become too many."""
