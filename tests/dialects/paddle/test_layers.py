"""Layers as a tree: attributes, names, states, hooks, containers, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.dialects import paddle
from retrograde.dialects.paddle import nn


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.plain = paddle.to_tensor([1.0, 2.0])
        self.register_buffer("passing", paddle.to_tensor([3.0]), persistable=False)
        self.register_buffer("kept", paddle.to_tensor([4.0]))
        self.w = self.create_parameter([2])
        self.b = self.create_parameter([2], is_bias=True)

    def forward(self, x: Any) -> Any:
        return self.fc(x)


def test_members_and_states() -> None:
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["w", "b", "fc.weight", "fc.bias"]
    assert [n for n, _ in net.named_buffers()] == ["plain", "passing", "kept"]
    assert list(net.state_dict()) == ["w", "b", "kept", "fc.weight", "fc.bias"]
    assert list(net.to_static_state_dict()) == ["w", "b", "plain", "passing", "kept", "fc.weight", "fc.bias"]
    assert net.state_dict()["w"] is net.w
    assert net.b.numpy().tolist() == [0.0, 0.0]
    assert net.w.name == f"{net.full_name()}.w_0"
    assert net.b.name == f"{net.full_name()}.b_0"


@pytest.mark.parametrize("name,value,error", [("fc", 3, TypeError), ("w", 3, TypeError), ("kept", 3, TypeError)])
def test_a_member_is_replaced_by_its_kind_only(name: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=name):
        setattr(Net(), name, value)


@pytest.mark.parametrize(
    "call,error",
    [
        (lambda n: n.add_parameter("a.b", n.w), KeyError), (lambda n: n.add_parameter("", n.w), KeyError),
        (lambda n: n.add_parameter("fc", n.w), KeyError), (lambda n: n.add_parameter("z", 3), TypeError),
        (lambda n: n.add_parameter(3, None), TypeError), (lambda n: n.add_sublayer("s", 3), AssertionError),
        (lambda n: n.register_buffer("w", n.plain), KeyError), (lambda n: n.register_buffer("z", 3), TypeError),
        (lambda n: n.nothing, AttributeError), (lambda n: n.get_sublayer("x"), AttributeError),
        (lambda n: n.load_state_dict({}), RuntimeError), (lambda n: n.to(device="gpu"), ValueError),
        (lambda n: nn.Layer()(1), NotImplementedError), (lambda n: n.create_parameter([1], attr=3), TypeError),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(Net())


def test_set_state_dict_says_what_is_missing_and_unexpected() -> None:
    net = Net()
    found = net.set_state_dict({"fc.weight": np.ones((2, 3), "float32"), "junk": net.w})
    assert found == (["w", "b", "kept", "fc.bias"], ["junk"])
    assert net.fc.weight.numpy().min() == 1
    with pytest.warns(UserWarning, match="skip"):
        missing, _ = net.set_state_dict({"fc.weight": np.ones((2, 2), "float32")})
    assert "fc.weight" in missing
    with pytest.raises(AssertionError, match="float64"):
        net.set_state_dict({"fc.weight": np.ones((2, 3))})


def test_hooks_see_and_replace() -> None:
    net, seen = nn.Linear(1, 1), []
    net.weight.set_value(np.array([[2.0]], "float32"))
    first = net.register_forward_pre_hook(lambda layer, x: (x[0] * 10,))
    net.register_forward_post_hook(lambda layer, x, y: seen.append(float(x[0])))
    last = net.register_forward_post_hook(lambda layer, x, y: y + 100)
    assert float(net(paddle.ones([1, 1]))) == 120.0
    assert seen == [10.0]
    first.remove()
    last.remove()
    assert float(net(paddle.ones([1, 1]))) == 2.0


def test_containers() -> None:
    seq = nn.Sequential(("a", nn.Linear(1, 2)), ("b", nn.ReLU()))
    assert seq["a"] is seq[0] is seq.a
    assert len(seq) == 2
    assert repr(seq[1:]) == "Sequential(\n  (0): ReLU()\n)"
    layers = nn.LayerList([nn.ReLU()])
    layers.insert(0, nn.Tanh())
    assert [type(x).__name__ for x in layers + [nn.GELU()]] == ["Tanh", "ReLU", "GELU"]
    with pytest.raises(IndexError):
        layers[7]
    named = nn.LayerDict({"x": nn.Linear(1, 1)})
    assert "x" in named
    assert list(named.state_dict()) == ["x.weight", "x.bias"]
    params = nn.ParameterList([paddle.create_parameter([2], "float32")])
    assert [n for n, _ in params.named_parameters()] == ["0"]


def test_dtypes_change_in_place() -> None:
    net = Net()
    weight = net.fc.weight
    net.to(dtype="float64")
    assert net.fc.weight is weight
    assert weight.dtype is paddle.float64
    assert net.kept.dtype is paddle.float64
    assert net.float().fc.weight.dtype is paddle.float32
    net(paddle.ones([1, 2])).sum().backward()
    assert weight.grad.dtype is paddle.float32


def test_stacks_share_their_cells_parameters() -> None:
    lstm = nn.LSTM(2, 3)
    assert lstm.weight_ih_l0 is lstm[0].cell.weight_ih
    assert len(lstm.parameters()) == 4
    assert len(lstm.state_dict()) == 8
    with pytest.raises(ValueError, match="features"):
        lstm(paddle.ones([1, 2, 5]))


def test_weight_normalisation_comes_and_goes() -> None:
    layer, x = nn.Linear(2, 3), paddle.ones([1, 2])
    before = layer(x).numpy()
    nn.utils.weight_norm(layer)
    assert [n for n, _ in layer.named_parameters()] == ["bias", "weight_v", "weight_g"]
    np.testing.assert_allclose(layer(x).numpy(), before, rtol=1e-6)
    nn.utils.remove_weight_norm(layer)
    np.testing.assert_allclose(layer(x).numpy(), before, rtol=1e-6)


def test_optimizer_state_goes_on_elsewhere() -> None:
    def made() -> tuple[Any, Any]:
        p = paddle.create_parameter([2], "float32", name="p", default_initializer=nn.initializer.Constant(1.0))
        return p, paddle.optimizer.Adam(0.1, parameters=[p])

    def step(p: Any, o: Any) -> None:
        (p * p).sum().backward()
        o.step()
        o.clear_grad()

    with paddle.utils.unique_name.guard():
        p, o = made()
        for _ in range(3):
            step(p, o)
    state = {k: v.clone() for k, v in o.state_dict().items()}
    with paddle.utils.unique_name.guard():  # as in another process, where the names are counted anew
        q, other = made()
        other.set_state_dict(state)
        q.set_value(p)
        step(p, o)
        step(q, other)
        assert p.numpy().tolist() == q.numpy().tolist()
        third = paddle.optimizer.Adam(0.1, parameters=[q])  # its state is called moment1_1, and so on
        third.set_state_dict(state)
        with pytest.raises(AssertionError, match="has no 'p_moment1_1'"):
            step(q, third)
    with pytest.raises(AssertionError, match="has no 'p_moment1_0'"):
        o.set_state_dict({"LR_Scheduler": {}, "other": state["p_moment1_0"]})


def _falling(make: Any, steps: int) -> list[Any]:
    """The first element of (1, 2), from which every step takes 0.1 (1, 2), after each step; `make` says what goes on."""
    w = paddle.create_parameter([2], "float32", default_initializer=nn.initializer.Assign([1.0, 2.0]))
    step, look = make(w)
    seen = []
    for _ in range(steps):
        (w * paddle.to_tensor([1.0, 2.0])).sum().backward()
        step()
        w.clear_grad()
        seen.append(round(look(), 5))
    return seen


@pytest.mark.parametrize("k,alpha,recorded", [
    (1, 0.5, [0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6]), (2, 0.5, [0.9, 0.85, 0.75, 0.75, 0.65, 0.65, 0.55]),
    (3, 0.2, [0.9, 0.8, 0.86, 0.76, 0.66, 0.8, 0.7]), (2, 0.0, [0.9, 0.9, 0.8, 0.9, 0.8, 0.9, 0.8]),
])  # fmt: skip
def test_look_ahead(k: int, alpha: float, recorded: list[float]) -> None:
    def make(w: Any) -> tuple[Any, Any]:
        made = paddle.incubate.LookAhead(paddle.optimizer.SGD(0.1, parameters=[w]), alpha=alpha, k=k)
        return made.step, lambda: w[0].item()

    assert _falling(make, 7) == pytest.approx(recorded, abs=1e-6)


@pytest.mark.parametrize("rate,least,most,recorded", [
    (0.15, 2, 10, [0.9, 0.85, 0.8, 0.65, 0.6, 0.45, 0.4, 0.25]), (0.5, 2, 4, [0.9, 0.85, 0.8, 0.65, 0.6, 0.55, 0.4, 0.35]),
    (0.9, 1, 3, [0.9, 0.8, 0.75, 0.7, 0.6, 0.55, 0.5, 0.3]),
])  # fmt: skip
def test_model_average(rate: float, least: int, most: int, recorded: list[float]) -> None:
    def make(w: Any) -> tuple[Any, Any]:
        sgd = paddle.optimizer.SGD(0.1, parameters=[w])
        average = paddle.incubate.ModelAverage(rate, [w], least, most)

        def look() -> float:
            before = w.numpy()
            with average.apply():
                found: float = w[0].item()
            np.testing.assert_array_equal(w.numpy(), before)
            return found

        return lambda: (sgd.step(), average.step()), look

    assert _falling(make, 8) == pytest.approx(recorded, abs=1e-6)


def test_model_average_until_it_is_restored() -> None:
    w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))
    average = paddle.incubate.ModelAverage(0.5, [w])
    for value in (3.0, 5.0):
        w.sum().backward()
        w.set_value(paddle.full([1], value))
        average.step()
    with average.apply(need_restore=False):
        pass
    assert w.item() == 4.0
    average.restore()
    average.restore()
    assert w.item() == 5.0


@pytest.mark.parametrize("options", [{"alpha": -0.1}, {"alpha": 1.5}, {"k": 0}, {"k": 2.5}])
def test_look_ahead_refuses(options: dict[str, Any]) -> None:
    sgd = paddle.optimizer.SGD(0.1, parameters=nn.Linear(1, 1).parameters())
    with pytest.raises(AssertionError, match="LookAhead"):
        paddle.incubate.LookAhead(sgd, **options)


def test_sync_batch_normalisation_keeps_the_parameters() -> None:
    net = nn.Sequential(nn.BatchNorm2D(2, momentum=0.7), nn.Sequential(nn.BatchNorm1D(3)), nn.BatchNorm(2))
    before = net[0]
    made = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert made is net
    assert [type(x).__name__ for x in (net[0], net[1][0], net[2])] == [
        "SyncBatchNorm", "SyncBatchNorm", "BatchNorm"
    ]
    assert net[0].weight is before.weight
    assert net[0]._mean is before._mean
    assert repr(net[0]) == "SyncBatchNorm(num_features=2, momentum=0.7, epsilon=1e-05)"


def test_attributes_before_the_constructor_of_layer() -> None:
    class Early(nn.Layer):
        def __init__(self) -> None:
            self.inner = nn.Linear(1, 1)

    with pytest.raises(ValueError, match="super"):
        Early()


@pytest.mark.parametrize(
    "call,error",
    [
        (lambda p: paddle.optimizer.SGD(0.1), AttributeError), (lambda p: paddle.optimizer.SGD("a", parameters=p), TypeError),
        (lambda p: paddle.optimizer.SGD(0.1, parameters=p[0]), TypeError),
        (lambda p: paddle.optimizer.Adam(0.1, parameters=[]).step(), IndexError),
        (lambda p: paddle.optimizer.SGD(1, parameters=p), TypeError),
        (lambda p: paddle.optimizer.Adam(0.1, beta1=1.5, parameters=p), ValueError),
        (lambda p: paddle.optimizer.SGD(0.1, parameters=p, weight_decay="a"), TypeError),
        (lambda p: paddle.optimizer.SGD(0.1, parameters=p, grad_clip=1.0), TypeError),
        (lambda p: paddle.optimizer.lr.StepDecay(0.1, 2, gamma=1.5), ValueError),
        (lambda p: paddle.optimizer.lr.StepDecay("a", 2), TypeError), (lambda p: nn.ClipGradByValue(-1.0), AssertionError),
        (lambda p: nn.initializer.KaimingNormal(nonlinearity="x")(p[0]), ValueError),
    ],
)  # fmt: skip
def test_optimizer_errors(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call([paddle.create_parameter([2], "float32")])


def test_initial_values_have_the_deviation_that_paddle_gives_them() -> None:
    paddle.seed(0)
    assert abs(float(nn.Linear(100, 300).weight.numpy().std()) - (2 / 400) ** 0.5) < 1e-3
    assert abs(float(nn.Conv2D(32, 64, 3).weight.numpy().std()) - (2 / 288) ** 0.5) < 1e-3
    assert abs(float(nn.GRUCell(50, 100).weight_hh.numpy().max()) - 0.1) < 1e-3
    q = paddle.create_parameter([3, 5], "float32", default_initializer=nn.initializer.Orthogonal()).numpy()
    np.testing.assert_allclose(q @ q.T, np.eye(3), atol=1e-6)


def test_lbfgs_finds_the_minimum() -> None:
    w = paddle.create_parameter(
        [2], "float32", default_initializer=nn.initializer.Assign(np.array([-1.0, 1.5], "float32"))
    )
    opt = paddle.optimizer.LBFGS(parameters=[w], line_search_fn="strong_wolfe")

    def closure() -> Any:
        opt.clear_grad()
        loss = (1 - w[0]) ** 2 + 3 * (w[1] - w[0] * w[0]) ** 2
        loss.backward()
        return loss

    assert float(opt.step(closure)) == 4.75
    np.testing.assert_allclose(w.numpy(), [1, 1], atol=1e-4)


def test_reparametrised_weights_are_buffers_outside_the_state() -> None:
    m = nn.utils.weight_norm(nn.Linear(3, 2))
    assert [n for n, _ in m.named_parameters()] == list(m.state_dict()) == ["bias", "weight_v", "weight_g"]
    assert [n for n, _ in m.named_buffers()] == ["weight"]
    s = nn.utils.spectral_norm(nn.Linear(3, 2))
    assert [n for n, _ in s.named_buffers()] == ["weight", "weight_u", "weight_v"]
    assert list(s.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    assert list(nn.utils.remove_weight_norm(m).state_dict()) == ["bias", "weight"]


def test_cached_encoding_is_the_masked_one() -> None:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 2)
    encoder.eval()
    x = paddle.randn([1, 3, 4])
    whole = encoder(x, paddle.triu(paddle.full([3, 3], float("-inf")), 1))
    cache = encoder.gen_cache(x[:, :0])
    for t in range(3):
        out, cache = encoder(x[:, t : t + 1], None, cache)
        np.testing.assert_allclose(out.numpy(), whole.numpy()[:, t : t + 1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("make,text", [
    (lambda: nn.PairwiseDistance(epsilon=1e-3, keepdim=True), "PairwiseDistance(p=2.0, epsilon=0.001, keepdim=True)"),
    (lambda: nn.LPPool2D(2, (2, 3)), "LPPool2D(norm_type=2.0, kernel_size=(2, 3), stride=(2, 3), padding=0)"),
    (lambda: nn.LPPool1D(2, 3), "LPPool1D(norm_type=2.0, kernel_size=3, stride=None, padding=0)"),
])  # fmt: skip
def test_text_of_layers(make: Any, text: str) -> None:
    assert repr(make()) == text


def test_padding_of_another_mode_may_differ_by_axis() -> None:
    x = paddle.randn([1, 1, 5, 6])
    for padding in ([1, 2], (1, 2), 1):  # PaddlePaddle takes one number only
        conv = nn.Conv2D(1, 1, 3, padding=padding, padding_mode="reflect")
        rows, columns = (padding, padding) if isinstance(padding, int) else padding
        padded = paddle.nn.functional.pad(x, [columns, columns, rows, rows], "reflect")
        expected = paddle.nn.functional.conv2d(padded, conv.weight, conv.bias)
        np.testing.assert_allclose(conv(x).numpy(), expected.numpy(), rtol=1e-5)
    with pytest.raises(TypeError, match="padding must be numbers"):
        nn.Conv2D(1, 1, 3, padding="SAME", padding_mode="reflect")
