"""Other ways to answer queries over probable streams: the most probable world, and worlds of some streams only."""
