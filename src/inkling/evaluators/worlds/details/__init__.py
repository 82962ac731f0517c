"""Single results looked at more closely: probable times, what they depend on, and their most probable world."""
