"""Plans made from plans: simplified, renumbered, united, and moved into possible worlds."""
