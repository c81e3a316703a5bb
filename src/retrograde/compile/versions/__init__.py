"""What runs in place of a function: versions made of traces, their results and gradients; deferred segments."""
