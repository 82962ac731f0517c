"""Hidden Markov models: beliefs about hidden states by what was observed."""
