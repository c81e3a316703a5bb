"""What the dialects have in common beside layers and update rules (those are in `retrograde.learn`)."""
