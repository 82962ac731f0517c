"""How long results take and how much must be kept for them: windows, delays, revisions, memory."""
