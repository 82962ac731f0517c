"""Physical plans as text: stages and steps, and what was proved about every event."""
