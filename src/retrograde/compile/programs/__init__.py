"""Programs that run as they are, with the parts that take the time compiled."""
