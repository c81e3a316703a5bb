"""What is timed: `builders(framework)` gives, by name, functions that set a workload up and return its step.

A framework is "torch", "paddle", "mindspore", or "retrograde." before one of them: the same program runs on the framework
and on retrograde's dialect of it. The chain has a HIPS autograd and a native retrograde form as well.
"""

from __future__ import annotations

from collections.abc import Callable


def builders(framework: str) -> dict[str, Callable[[], Callable[[], None]]]:
    """The workloads that a framework can run, by name."""
    if framework == "autograd":
        return {"chain": _chain_autograd}
    if framework == "native":
        return {"chain": _chain_native}
    dialect = framework.removeprefix("retrograde.")
    if dialect != framework:
        import retrograde

        retrograde.activate(dialect)
    if dialect == "paddle":
        return {"paddle.grad chain": _chain_paddle, "paddle mlp": _mlp_paddle}
    if dialect == "mindspore":
        return {"mindspore.value_and_grad mlp": _mlp_mindspore, "mindspore.grad chain": _chain_mindspore}
    import torch

    torch.manual_seed(0)
    return {
        "chain": lambda: _chain(torch),
        "chain, both wanted": lambda: _chain(torch, both=True),
        "pinn": lambda: _pinn(torch),
        "mlp": lambda: _mlp(torch),
        "conv": lambda: _conv(torch),
        "transformer": lambda: _transformer(torch),
        "gpt": lambda: gpt(torch),
        "adam": lambda: _adam(torch),
        **_calls(torch),
    }


def _calls(torch):
    """What one call costs, recorded: 100 calls of it on a few numbers."""
    x = torch.randn(8, 4, requires_grad=True)
    w, b = torch.randn(4, 4, requires_grad=True), torch.randn(4, requires_grad=True)
    i, linear = torch.tensor([0, 3, 5]), torch.nn.functional.linear
    calls = {
        "x[2]": lambda: x[2], "x[:, 0]": lambda: x[:, 0], "x[i]": lambda: x[i], "x.view(32)": lambda: x.view(32),
        "cat": lambda: torch.cat((x, x)), "x @ w": lambda: x @ w, "linear": lambda: linear(x, w, b),
    }  # fmt: skip

    def hundred(call):
        def step():
            for _ in range(100):
                call()

        return step

    return {name: lambda call=call: hundred(call) for name, call in calls.items()}


def _chain(torch, both=False):
    """100 multiplications of 4-vectors, forward and backward."""
    x = torch.tensor([1.0, 0.5, -1.0, 2.0], requires_grad=True)
    w = torch.tensor([1.01, 0.99, 1.0, -1.0], requires_grad=both)

    def step():
        y = x
        for _ in range(100):
            y = y * w
        y.sum().backward()
        x.grad = w.grad = None

    return step


def _chain_native():
    import retrograde as rg

    w = rg.asarray([1.01, 0.99, 1.0, -1.0])

    def f(x):
        y = x
        for _ in range(100):
            y = y * w
        return rg.sum(y)

    gradient = rg.grad(f)
    x = rg.asarray([1.0, 0.5, -1.0, 2.0])
    return lambda: gradient(x)


def _chain_autograd():
    import autograd.numpy as anp
    from autograd import grad

    w = anp.array([1.01, 0.99, 1.0, -1.0])

    def f(x):
        y = x
        for _ in range(100):
            y = y * w
        return anp.sum(y)

    gradient = grad(f)
    x = anp.array([1.0, 0.5, -1.0, 2.0])
    return lambda: gradient(x)


def _pinn(torch):
    """A 64-wide 3-layer tanh network on 256 points, a second derivative in the loss, forward and backward."""
    nn = torch.nn
    net = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    x = torch.linspace(-1, 1, 256).reshape(-1, 1).requires_grad_()

    def step():
        u = net(x)
        (du,) = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)
        (ddu,) = torch.autograd.grad(du, x, torch.ones_like(du), create_graph=True)
        loss = (ddu + u * du).pow(2).mean()
        net.zero_grad()
        loss.backward()

    return step


def _mlp(torch):
    """An MLP 784-256-10 at batch 64: cross-entropy, forward and backward."""
    nn, F = torch.nn, torch.nn.functional
    net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    x, target = torch.randn(64, 784), torch.randint(0, 10, (64,))

    def step():
        net.zero_grad()
        F.cross_entropy(net(x), target).backward()

    return step


def _conv(torch):
    """A network of 5×5 convolutions on 32 images of 28×28: forward and backward."""
    nn, F = torch.nn, torch.nn.functional
    net = nn.Sequential(
        nn.Conv2d(1, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(256, 10),
    )  # fmt: skip
    x, target = torch.randn(32, 1, 28, 28), torch.randint(0, 10, (32,))

    def step():
        net.zero_grad()
        F.cross_entropy(net(x), target).backward()

    return step


def _transformer(torch):
    """A transformer layer of width 64 on 8 sequences of 32: forward and backward."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    x = torch.randn(8, 32, 64)

    def step():
        layer.zero_grad()
        layer(x).pow(2).mean().backward()

    return step


def gpt(torch):
    """A training step of a small GPT: 3 layers of width 64, 8 sequences of 64, gelu, dropout 0.1, AdamW, clipped norm."""
    nn, functional = torch.nn, torch.nn.functional
    torch.manual_seed(0)
    width, heads, length, words = 64, 4, 64, 65

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.before_attention, self.before_layers = nn.LayerNorm(width), nn.LayerNorm(width)
            self.parts, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.layers = nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1)
            )  # fmt: skip
            self.dropout = nn.Dropout(0.1)
            self.register_buffer("past", torch.ones(length, length).tril().view(1, 1, length, length))

        def attention(self, x):
            b, t, c = x.shape
            q, k, v = (y.view(b, t, heads, c // heads).transpose(1, 2) for y in self.parts(x).split(width, dim=2))
            scores = (q @ k.transpose(-2, -1)) * (c // heads) ** -0.5
            weights = functional.softmax(scores.masked_fill(self.past == 0, float("-inf")), dim=-1)
            mixed = self.dropout(weights) @ v
            return self.dropout(self.joined(mixed.transpose(1, 2).contiguous().view(b, t, c)))

        def forward(self, x):
            x = x + self.attention(self.before_attention(x))
            return x + self.layers(self.before_layers(x))

    model = nn.ModuleDict({
        "word": nn.Embedding(words, width), "place": nn.Embedding(length, width),
        "blocks": nn.Sequential(*(Block() for _ in range(3))), "norm": nn.LayerNorm(width), "out": nn.Linear(width, words),
    })  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
    text, places = torch.randint(words, (8, length + 1)), torch.arange(length)

    def step():
        x = model["word"](text[:, :-1]) + model["place"](places)
        logits = model["out"](model["norm"](model["blocks"](x)))
        loss = functional.cross_entropy(logits.view(-1, words), text[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def _adam(torch):
    """One Adam step on the parameters of the MLP."""
    nn = torch.nn
    net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    net(torch.randn(64, 784)).pow(2).mean().backward()
    return torch.optim.Adam(net.parameters(), lr=1e-3).step


def _chain_paddle():
    """100 multiplications of 4-vectors and `paddle.grad`."""
    import paddle

    paddle.set_device("cpu")
    x = paddle.to_tensor([1.0, 0.5, -1.0, 2.0], stop_gradient=False)
    w = paddle.to_tensor([1.01, 0.99, 1.0, -1.0])

    def step():
        y = x
        for _ in range(100):
            y = y * w
        paddle.grad(y.sum(), x)

    return step


def _mlp_paddle():
    """An MLP 784-256-10 at batch 64: cross-entropy, forward and backward."""
    import paddle

    paddle.set_device("cpu")
    nn = paddle.nn
    net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    x, target = paddle.randn([64, 784]), paddle.randint(0, 10, [64])

    def step():
        nn.functional.cross_entropy(net(x), target).backward()
        net.clear_gradients()

    return step


def _mlp_mindspore():
    """A training step of an MLP 784-256-10 at batch 64 through `mindspore.value_and_grad`, with SGD."""
    import mindspore as ms
    import numpy as np
    from mindspore import Tensor, nn

    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = nn.SequentialCell(nn.Dense(784, 256), nn.ReLU(), nn.Dense(256, 10))
    draw = np.random.RandomState(0)
    x, target = Tensor(draw.randn(64, 784).astype(np.float32)), Tensor(draw.randint(0, 10, 64).astype(np.int32))
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.01)
    gradients_of = ms.value_and_grad(lambda x, target: loss_fn(net(x), target), None, net.trainable_params())

    def step():
        loss, gradients = gradients_of(x, target)
        optimizer(gradients)
        loss.asnumpy()  # the framework computes in the background

    return step


def _chain_mindspore():
    """100 multiplications of 4-vectors and `mindspore.grad`."""
    import mindspore as ms
    from mindspore import Tensor

    ms.set_context(mode=ms.PYNATIVE_MODE)
    x, w = Tensor([1.0, 0.5, -1.0, 2.0]), Tensor([1.01, 0.99, 1.0, -1.0])

    def chain(x):
        for _ in range(100):
            x = x * w
        return x.sum()

    gradient = ms.grad(chain)
    return lambda: gradient(x).asnumpy()
