"""What lies in memory from a forward pass to its backward pass is computed a second time where that is cheap: less is kept, and
the results have the same bits."""

import numpy as np
import pytest

import retrograde as rg
import retrograde.dialects.torch as torch
from retrograde.compile import pipeline
from retrograde.compile.emit import machine
from retrograde.compile.emit.expressions import expressible
from retrograde.compile.passes import again
from retrograde.compile.verify import verify

F = torch.nn.functional
nn = torch.nn


class Block(nn.Module):
    """Of a transformer."""

    def __init__(self, width):
        super().__init__()
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.reshape(batch, length, -1, 64).transpose(1, 2) for t in self.qkv(self.before(x)).chunk(3, -1))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.between(x))))


def gradients(net, x):
    """The compiled loss and gradients of a network, and their operands."""
    parameters = list(net.parameters())

    def step(x, *_parameters):
        loss = net(x).square().mean()
        return (loss.detach(), *torch.autograd.grad(loss, parameters))

    return rg.jit(step), (x, *parameters)


def perceptron(activation, layers, rows, width):
    torch.manual_seed(0)
    inside = [m for _ in range(layers) for m in (nn.Linear(width, width), activation())]
    return gradients(nn.Sequential(*inside, nn.Linear(width, width)), torch.randn(rows, width))


def transformer(blocks, shape):
    torch.manual_seed(0)
    return gradients(nn.Sequential(*[Block(shape[-1]) for _ in range(blocks)]), torch.randn(*shape))


@pytest.mark.parametrize(
    ("program", "share"),
    [
        (lambda: perceptron(nn.GELU, 6, 1024, 768), 0.75),
        (lambda: perceptron(nn.SiLU, 6, 1024, 768), 0.75),
        (lambda: transformer(2, (4, 128, 256)), 0.86),
    ],
    ids=["gelu", "silu", "transformer"],
)
def test_less_is_kept_and_the_bits_are_the_same(program, share, monkeypatch):
    f, operands = program()
    found, less = [x.numpy() for x in f(*operands)], f.cost(*operands).peak_memory
    monkeypatch.setattr(machine, "again", lambda graph, _: graph)
    f, operands = program()
    wanted, more = [x.numpy() for x in f(*operands)], f.cost(*operands).peak_memory
    assert less < share * more
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(x, y)


def test_what_fits_a_cache_is_kept():
    f, operands = perceptron(nn.GELU, 3, 16, 64)
    graph = pipeline.optimised(f.lower(*operands).graph)
    assert again.again(graph, expressible) is graph


def test_a_slope_is_computed_where_it_is_taken():
    """Kept is the product, once, in the place of the activation and its slope."""
    f, operands = perceptron(nn.GELU, 2, 512, 1024)
    found = machine.Emitted(pipeline.optimised(f.lower(*operands).graph))
    kernels = [k for piece in found.pieces if isinstance(piece, machine.Segment) for k in piece.kernels]
    loops = [[e.prim.name for e in k.group.equations] for k in kernels]
    assert loops.count(["gelu"]) == 2
    assert sum({"gelu", "gelu_slope", "multiply"} <= {*loop} for loop in loops) == 2


STEPS = {
    "tanh": lambda h, _x: torch.tanh(h),
    "gelu": lambda h, _x: F.gelu(h),
    "shifted": lambda h, _x: torch.exp(-h.square()) + 0.5,
    "normalised": lambda h, _x: F.layer_norm(h, h.shape[-1:]),
    "softmax": lambda h, _x: torch.softmax(h, -1),
    "residual": lambda h, x: F.silu(h + x) * h,
    "folded": lambda h, _x: torch.relu(h).reshape(2, -1, h.shape[-1]).transpose(0, 1).reshape(h.shape),
    "sums": lambda h, _x: torch.sin(h) * h.sum(0) + h.mean(-1, keepdim=True),
}


def drawn(seed):
    """A function of products with random steps in between, its gradients included, and its operands."""
    r = np.random.default_rng(seed)
    rows, width = int(r.integers(1, 5)) * 2, int(r.integers(2, 9))
    names = [[str(n) for n in r.permutation(list(STEPS))[: r.integers(2, 5)]] for _ in range(r.integers(3, 6))]
    x = torch.tensor(r.standard_normal((rows, width)))
    weights = [torch.tensor(r.standard_normal((width, width)) / width, requires_grad=True) for _ in names]

    def step(x, *weights):
        h = x
        for w, some in zip(weights, names):
            h = h @ w
            for name in some:
                h = STEPS[name](h, x)
        return (h.detach(), *torch.autograd.grad((h * h).sum(), weights))

    return step, (x, *weights)


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_compute_the_same(seed, monkeypatch):
    for name, value in (("LARGE", 1), ("SHARE", 1e9), ("GAP", 1)):
        monkeypatch.setattr(again, name, value)
    monkeypatch.setattr(machine, "tiled", lambda graph, _: graph)  # which would leave nothing to be done with small matrices
    graphs = []

    def watched(graph, expressible):
        found = again.again(graph, expressible)
        verify(found, "again")
        graphs.append((graph, found))
        return found

    monkeypatch.setattr(machine, "again", watched)
    monkeypatch.setattr(pipeline.records, "function", lambda _graph, made: made().function())  # nothing from disk
    step, operands = drawn(seed)
    results = [y.detach().numpy() for y in rg.jit(step)(*operands)]
    for x, y in zip(results, step(*operands), strict=True):
        y = y.detach().numpy()
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-10 * np.abs(y).max())
    graph, found = graphs[-1]
    assert any(e.prim is again.LATER for e in found.equations)
    arrays = [np.asarray(np.random.default_rng(seed).standard_normal(v.shape), v.dtype) for v in graph.inputs]
    for x, y in zip(graph.run(*arrays), found.run(*arrays), strict=True):
        np.testing.assert_array_equal(x, y)


def test_without_products_no_function_is_computed_twice():
    def step(x):
        h = torch.exp(x)
        for _ in range(4):
            h = torch.exp(torch.cumsum(h, -1) * 1e-6)
        return torch.autograd.grad(h.sum(), x)[0]

    f, x = rg.jit(step), torch.ones(512, 512, requires_grad=True)
    graph = pipeline.optimised(f.lower(x).graph)
    counted = [sum(e.prim.name == "exp" for e in g.equations) for g in (graph, again.again(graph, expressible))]
    assert counted[0] == counted[1]
