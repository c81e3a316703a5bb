"""Update rules of optimisers and formulas of learning-rate schedules on plain arrays and numbers; no dialect names."""
