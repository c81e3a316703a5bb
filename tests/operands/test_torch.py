"""PyTorch's answers to calls that differentiate every operand, and the dialect's."""

from operands import replay, torch_calls

import retrograde.dialects.torch as torch


def test_every_call_has_the_recorded_values_and_gradients():
    replay.check(torch_calls.framework(torch), replay.HERE / "torch.jsonl")
