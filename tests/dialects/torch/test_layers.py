"""Every layer, with seeded weights and inputs, against what PyTorch computed (data/layers.json)."""

import math

import pytest
from dialects.torch import layer_cases

from retrograde.dialects import torch

RECORD = layer_cases.load()
CASES = list(layer_cases.cases())


def same(found, wanted, scale=1.0):
    """Whether two results agree; the sums within rounding of float32."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and found.keys() == wanted.keys() and all(same(found[k], wanted[k]) for k in wanted)
    if isinstance(wanted, list):
        scale = max([1.0, *(abs(x) for x in wanted if isinstance(x, float))])
        return isinstance(found, list) and len(found) == len(wanted) and all(map(same, found, wanted, [scale] * len(found)))
    if isinstance(wanted, float):
        return isinstance(found, float) and (found == wanted or abs(found - wanted) <= 3e-5 * scale or (
            math.isnan(found) and math.isnan(wanted)))  # fmt: skip
    return found == wanted


@pytest.mark.parametrize("key,expression,inputs,options", CASES, ids=[c[0] for c in CASES])
def test_computes_what_pytorch_computes(key, expression, inputs, options):
    found = layer_cases.run(torch, expression, inputs, options)
    assert same(found, RECORD[key]), f"{found}\n{RECORD[key]}"


@pytest.mark.parametrize("layer", [torch.nn.RNN, torch.nn.GRU])
@pytest.mark.parametrize("batch_first", [False, True])
def test_the_output_of_a_recurrent_layer_may_be_written(layer, batch_first):
    """As in PyTorch, where it is a stack of the states; that of an LSTM is what was saved, and is refused there, too."""
    net, x = layer(3, 3, batch_first=batch_first), torch.ones(2, 4, 3, requires_grad=True)
    (net(x)[0] * 2).sum().backward()
    expected, x.grad = x.grad, None
    out = net(x)[0]
    assert type(out.grad_fn).__name__ == ("TransposeBackward1" if batch_first else "StackBackward0")
    out *= 2
    out.sum().backward()
    assert x.grad.tolist() == expected.tolist()
