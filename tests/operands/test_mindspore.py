"""MindSpore's answers to calls that differentiate every operand, and the dialect's."""

from operands import mindspore_calls, replay

from retrograde.dialects import mindspore


def test_every_call_has_the_recorded_values_and_gradients():
    replay.check(mindspore_calls.framework(mindspore), replay.HERE / "mindspore.jsonl")
