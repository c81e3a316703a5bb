"""Whether a trace holds for a call: what a function reads, what it changes outside itself, and how that is undone."""
