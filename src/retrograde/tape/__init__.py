"""Floor 4: the tape. The backward pass, in-place changes and views, hooks, custom functions."""
