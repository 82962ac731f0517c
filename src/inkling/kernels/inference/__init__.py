"""Hidden Markov models: filtering, smoothing, best paths, particles."""
