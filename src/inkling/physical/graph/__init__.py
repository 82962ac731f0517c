"""A program as a network of agents: streams flow in, agents filter, join and translate them, events come out."""
