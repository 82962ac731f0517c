"""All other queries, unsafe ones included: the distribution over sets of partial matches, exact or sampled."""
