"""Nested tensors of both layouts beside what PyTorch gives for the same calls, their gradients, and layers over them."""

import copy
import io
import json
from pathlib import Path

import pytest
from dialects.torch import nested_cases as cases

import retrograde.dialects.torch as torch
from retrograde.dialects.torch import nn

FOUND = json.loads((Path(__file__).parent / "data" / "nested.json").read_text())
MORE = {
    "strided": {
        "F.layer_norm(n,(3,))", "n.split(1,-1)", "n.sum(1,keepdim=True)", "n.mean(-1,keepdim=True)", "n.sin_()",
        "n.select(-1,1)", "F.embedding(i,w.t())", "F.rms_norm(n,(3,))", "n.to(layout=torch.strided)",
        "F.scaled_dot_product_attention(q.transpose(1,2),q.transpose(1,2),q.transpose(1,2))", "gradient of torch.cat([r, r], -1)",
    },
    "jagged": {"gradient of torch.cat([r, r], -1)", "gradient of r.sum(-1)"},
}  # fmt: skip
"""What PyTorch refuses by chance of its dispatch (or whose gradient), while what is next to it works."""
LESS: dict[str, set[str]] = {"strided": set(), "jagged": {"n.chunk(2,0)"}}
"""What works there and is refused here."""


@pytest.mark.filterwarnings("ignore:invalid value")  # roots and logarithms of negative numbers
@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_calls_give_what_pytorch_gives(layout):
    wrong = {}
    for call, wanted in FOUND[layout].items():
        names = cases.scope(torch, layout)
        run = cases.gradient if call.startswith("gradient of ") else cases.outcome
        found = run(torch, call.removeprefix("gradient of "), names)
        if found != wanted and not (wanted == "refused" and call in MORE[layout]) and call not in LESS[layout]:
            wrong[call] = found, wanted
    assert wrong == {}


@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
def test_layers_over_nested_tensors(layout):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.ReLU(), nn.Linear(4, 2))
    rows = [torch.randn(2, 3), torch.randn(5, 3)]
    x = torch.nested.nested_tensor(rows, layout=layout, requires_grad=True)
    out = net(x)
    sum(p.square().sum() for p in out.unbind()).backward()
    gradients = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    alone = [row.clone().requires_grad_() for row in rows]
    sum(net(row).square().sum() for row in alone).backward()
    for one, other in zip(gradients, [p.grad for p in net.parameters()]):
        torch.testing.assert_close(one, other)
    for part, row in zip(x.grad.unbind(), alone):
        torch.testing.assert_close(part, row.grad)


def test_gradients_reach_the_tensors_that_are_nested():
    a, b = torch.ones(2, 3, requires_grad=True), torch.ones(1, 3, requires_grad=True)
    for layout in (torch.strided, torch.jagged):
        nested = torch.nested.as_nested_tensor([a, b], layout=layout)
        assert not nested.is_leaf
        (nested * 3).to_padded_tensor(0.0).sum().backward()
        assert not torch.nested.nested_tensor([a, b], layout=layout).requires_grad
    assert (a.grad.tolist(), b.grad.tolist()) == ([[6.0] * 3] * 2, [[6.0] * 3])


def test_parts_that_differ_do_not_mix():
    x, y = torch.ones(2, 3), torch.ones(4, 3)
    jagged = [torch.nested.nested_tensor([x, y], layout=torch.jagged) for _ in range(2)]
    with pytest.raises(RuntimeError, match="offsets"):
        jagged[0] + jagged[1]
    with pytest.raises(RuntimeError, match="differ"):
        torch.nested.nested_tensor([x, y]) + torch.nested.nested_tensor([y, x])
    with pytest.raises(NotImplementedError, match=r"cumsum.*unbind\(\)"):
        jagged[0].cumsum(1)
    with pytest.raises(RuntimeError, match="unbind"):
        bool(jagged[0])


def test_nested_tensors_are_copied_and_saved():
    x = torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(1, 3)], layout=torch.jagged, requires_grad=True)
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    for again in (copy.deepcopy(x), torch.load(file, weights_only=False)):
        assert [p.tolist() for p in again.unbind()] == [p.tolist() for p in x.unbind()]
        assert again.requires_grad
        assert again.layout is torch.jagged
    assert repr(x).startswith("NestedTensor(size=(2, j")
    assert repr(torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])) == (
        "nested_tensor([\n  tensor([1.]),\n  tensor([1., 1.])\n])"
    )
