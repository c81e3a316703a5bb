"""PaddlePaddle's answers to calls that differentiate every operand, and the dialect's."""

from operands import paddle_calls, replay

from retrograde.dialects import paddle


def test_every_call_has_the_recorded_values_and_gradients():
    replay.check(paddle_calls.framework(paddle), replay.HERE / "paddle.jsonl")
