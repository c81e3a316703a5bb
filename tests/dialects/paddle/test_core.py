"""The core of the paddle dialect against figures recorded from PaddlePaddle, and where it goes further."""

from __future__ import annotations

import gc
import json
import pickle
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from corpora import load_runner
from dialects.paddle.record_core import PREAMBLE, RECORD

from retrograde.dialects import paddle

PROGRAMS = json.loads(RECORD.read_text())

@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    """What the dialect answers to every program, from one warm interpreter."""
    programs = [{"id": str(i), "code": PREAMBLE + "\n".join(p["code"])} for i, p in enumerate(PROGRAMS)]
    return load_runner().run(programs, sys.executable, False, 30, "paddle")


@pytest.mark.parametrize("i", range(len(PROGRAMS)))
def test_programs_print_what_they_print_there(i: int, answers: dict[str, Any]) -> None:
    answer = answers[str(i)]
    assert answer["error"] is None
    assert load_runner().same("\n".join(PROGRAMS[i]["stdout"]), answer["stdout"]), answer["stdout"]


def leaf(values: object, **options: object) -> paddle.Tensor:
    return paddle.to_tensor(values, stop_gradient=False, **options)


# ------------------------------------------------------------------------------------------ further than PaddlePaddle


def test_only_inputs_false_accumulates_into_the_other_leaves() -> None:
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (g,) = paddle.grad(x * w, x, only_inputs=False)
    assert g.tolist() == [3.0, 4.0]
    assert w.grad.tolist() == [1.0, 2.0]
    assert x.grad is None


def test_gradients_of_a_wrong_shape_are_refused() -> None:
    x = leaf([1.0, 2.0])
    with pytest.raises(ValueError, match=r"shape \[3\] was given for an output of shape \[2\]"):
        paddle.grad(x * x, x, grad_outputs=paddle.ones([3]))
    with pytest.raises(AssertionError, match="shape"):
        (x * x).backward(paddle.ones([2, 1]))
    with pytest.raises(RuntimeError, match="shape"):
        paddle.autograd.backward([x * x], [paddle.ones([1])])


@pytest.mark.parametrize("answer", [5.0, np.ones(2, np.float32), "no", [1.0, 2.0]])
def test_a_hook_that_returns_no_tensor_is_an_error(answer: object) -> None:
    x = leaf([1.0, 2.0])
    y = x * 2
    y.register_hook(lambda g: answer)
    with pytest.raises(TypeError, match="hook returned"):
        y.sum().backward()
    x.register_hook(lambda g: answer)
    with pytest.raises(TypeError, match="hook returned"):
        (x * x).sum().backward()


def test_a_write_into_a_view_reaches_the_history_of_its_base() -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    y[0:2].scale_(3.0)
    (y * y).sum().backward()
    assert x.grad.tolist() == [18.0, 36.0, 6.0]


def test_no_grad_vars_may_be_computed_tensors_and_outputs() -> None:
    x = leaf([1.0, 2.0])
    h = x * x
    assert paddle.grad(h * x, x, no_grad_vars=[h])[0].tolist() == [1.0, 4.0]
    assert paddle.grad(h * 2, x, no_grad_vars=[h], allow_unused=True) == [None]
    assert paddle.grad(h, x, no_grad_vars=[h], allow_unused=True) == [None]


def test_derivatives_of_every_order() -> None:
    x = leaf([0.5], dtype="float64")
    y = paddle.sin(x) * x**4
    orders = []
    for _ in range(5):
        (y,) = paddle.grad(y, x, create_graph=True)
        orders.append(y.item())
    h = 0.5
    s, c = np.sin(h), np.cos(h)
    assert orders[2] == pytest.approx(-c * h**4 - 3 * s * 4 * h**3 + 3 * c * 12 * h**2 + s * 24 * h, rel=1e-12)


def test_forward_grad_and_grad_of_incubate_work_in_dynamic_mode() -> None:
    x = leaf([1.0, 2.0])
    y = x * x * x
    assert paddle.incubate.autograd.forward_grad(y, x).tolist() == [3.0, 12.0]
    assert paddle.incubate.autograd.grad(y, x, paddle.to_tensor([1.0, 0.0])).tolist() == [3.0, 0.0]


# ------------------------------------------------------------------------------------------ hooks and PyLayer


def test_grad_leaves_hooks_of_leaves_out_and_takes_those_between_in() -> None:
    x = leaf([1.0, 2.0])
    x.register_hook(lambda g: g * 100)
    y = x * x
    y.register_hook(lambda g: g * 10)
    gy, gx = paddle.grad(y.sum(), [y, x])
    assert gy.tolist() == [10.0, 10.0]
    assert gx.tolist() == [20.0, 40.0]


def test_a_second_pass_is_refused_even_where_nothing_was_saved() -> None:
    y = (leaf([1.0]) + 1).sum()
    y.backward()
    with pytest.raises(SystemError, match="retain_graph=True"):
        y.backward()


def test_pylayer_checks_what_backward_returns() -> None:
    def gradient(answer: object) -> object:
        class Double(paddle.autograd.PyLayer):
            @staticmethod
            def forward(ctx, x, y):
                return x * 2 + y

            @staticmethod
            def backward(ctx, d):
                return answer(d)

        x = leaf([1.0, 2.0])
        Double.apply(x, paddle.ones([2])).sum().backward()
        return x.grad.tolist()

    assert gradient(lambda d: (d * 2, None)) == [2.0, 2.0]
    assert gradient(lambda d: d * 2) == [2.0, 2.0]
    for wrong in (lambda d: (d, d), lambda d: d.numpy(), lambda d: (d, None, None), lambda d: paddle.ones([3])):
        with pytest.raises(ValueError, match="Double.backward"):
            gradient(wrong)


def test_pylayer_takes_lists_of_tensors() -> None:
    class Dot(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, xs, k):
            ctx.save_for_backward(*xs)
            return xs[0] * xs[1] * k

        @staticmethod
        def backward(ctx, d):
            a, b = ctx.saved_tensor()
            return [d * b * 3, d * a * 3]

    a, b = leaf([1.0, 2.0]), leaf([5.0, 7.0])
    Dot.apply([a, b], 3).sum().backward()
    assert a.grad.tolist() == [15.0, 21.0]
    assert b.grad.tolist() == [3.0, 6.0]


# ------------------------------------------------------------------------------------------ the old interface


def test_fluid_programs() -> None:
    code = """
import numpy as np
import paddle
import paddle.fluid as fluid
with fluid.dygraph.guard(fluid.CPUPlace()):
    v = fluid.dygraph.to_variable(np.arange(3, dtype="float32"))
    v.stop_gradient = False
    strategy = fluid.dygraph.BackwardStrategy()
    strategy.sort_sum_gradient = True
    fluid.layers.reduce_sum(fluid.layers.elementwise_mul(v, v)).backward(strategy)
    print(v.gradient())
    print(fluid.dygraph.grad(v * 3, v, backward_strategy=strategy)[0].numpy())
    linear = fluid.dygraph.Linear(3, 1, act="relu", param_attr=fluid.initializer.Constant(0.5))
    loss = fluid.layers.mean(linear(v))
    loss.backward()
    fluid.optimizer.SGDOptimizer(0.5, parameter_list=linear.parameters()).minimize(loss)
    print(linear.weight.numpy().reshape(-1), loss.numpy())
with paddle.imperative.guard():
    x = paddle.ones(shape=[1], dtype="float32", device=None, out=None)
print(x)
"""
    done = subprocess.run(
        [sys.executable, "-c", "import retrograde; retrograde.activate('paddle')\n" + code],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split("\n")[:4] == ["[0. 2. 4.]", "[3. 3. 3.]", "[ 0.5  0.  -0.5] [1.5]",
                                           "Tensor(shape=[1], dtype=float32, place=Place(cpu), stop_gradient=True,"]  # fmt: skip


def test_fluid_functions_keep_their_old_defaults() -> None:
    from retrograde.dialects.paddle import fluid

    layers, x = fluid.layers, leaf([[1.0, -2.0, 3.0], [0.5, 8.0, -0.1]])
    zeros = paddle.zeros([2, 3])
    assert layers.argmax(x).tolist() == [0, 1, 0]
    ordered, places = layers.argsort(x)
    assert ordered[0].tolist() == [-2.0, 1.0, 3.0]
    assert places[0].tolist() == [1, 0, 2]
    assert layers.where(x > 2.0).tolist() == [[0, 2], [1, 1]]
    assert layers.flatten(paddle.ones([2, 3, 4])).shape == [2, 12]
    assert layers.flatten(paddle.ones([2, 3, 4]), axis=2).shape == [6, 4]
    np.testing.assert_allclose(layers.leaky_relu(x)[0], [1.0, -0.04, 3.0], rtol=1e-6)
    np.testing.assert_allclose(layers.brelu(10 * x)[0], [10.0, 0.0, 24.0])
    np.testing.assert_allclose(layers.hard_sigmoid(x)[0], [0.7, 0.1, 1.0], rtol=1e-6)
    np.testing.assert_allclose(layers.huber_loss(x, zeros, 1.5)[0], [0.5, 1.875, 3.375])
    np.testing.assert_allclose(layers.smooth_l1(x, zeros, sigma=2.0), [[5.625], [8.27]], rtol=1e-6)
    start = fluid.initializer.NumpyArrayInitializer(np.full((3, 1), 2.0, np.float32))
    linear = fluid.dygraph.Linear(3, 1, param_attr=start, bias_attr=fluid.ParamAttr(initializer=fluid.initializer.Xavier()))
    layers.reduce_sum(linear(paddle.ones([1, 3]))).backward()
    fluid.optimizer.SGD(
        0.5, parameter_list=[linear.weight], regularization=fluid.regularizer.L2Decay(regularization_coeff=0.5),
        grad_clip=fluid.clip.GradientClipByValue(0.5),
    ).minimize(layers.reduce_sum(linear(paddle.ones([1, 3]))))  # fmt: skip
    np.testing.assert_allclose(linear.weight.reshape([-1]), [1.25] * 3)
    image = paddle.ones([1, 2, 3, 3])
    assert fluid.dygraph.Conv2DTranspose(2, 3, 2, output_size=[7, 7], stride=2, act="relu")(image).shape == [1, 3, 7, 7]
    assert fluid.dygraph.GroupNorm(2, 2, act="sigmoid")(image).tolist() == paddle.full([1, 2, 3, 3], 0.5).tolist()


# ------------------------------------------------------------------------------------------ the other edges


@pytest.mark.parametrize(("name", "remedy"), [
    ("Executor", "dynamic mode"), ("Program", "to_static"), ("append_backward", "loss.backward"), ("save", "state_dict"),
])  # fmt: skip
def test_static_programs_are_refused_with_the_remedy(name: str, remedy: str) -> None:
    with pytest.raises(NotImplementedError, match=f"paddle.static.{name}: .*{remedy}"):
        getattr(paddle.static, name)()
    with pytest.raises(NotImplementedError, match="to_static"):
        paddle.enable_static()


def test_a_guard_of_static_programs_does_nothing_in_dynamic_ones() -> None:
    with paddle.static.amp.fp16_guard():
        assert (paddle.ones([2]) / 3).dtype == paddle.float32
    assert paddle.static.amp.fp16_guard()(lambda: 3)() == 3


def test_sparse_tensors_go_further() -> None:
    """Products by rows, gradients of sparse leaves, and functions whose gradients PaddlePaddle lacks on the CPU."""
    s = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2], stop_gradient=False)
    y = paddle.sparse.matmul(s, paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert y.tolist() == [[3.0, 4.0], [2.0, 4.0]]
    y.sum().backward()
    assert s.grad.is_sparse_coo()
    assert s.grad.to_dense().tolist() == [[0.0, 7.0], [3.0, 0.0]]
    x = leaf([[0.0, 3.0], [2.0, 0.0]])
    paddle.sparse.square(x.to_sparse_csr()).to_dense().sum().backward()
    assert x.grad.tolist() == [[0.0, 6.0], [4.0, 0.0]]
    p = paddle.sparse.nn.functional.softmax(leaf([[1.0, 2.0], [0.0, 5.0]]).to_sparse_csr())
    assert p.to_dense().sum(1).tolist() == pytest.approx([1.0, 1.0])
    _, scales, _ = paddle.sparse.pca_lowrank(s, 2, center=False)
    assert scales.tolist() == pytest.approx([2.0, 1.0])
    with pytest.raises(ValueError, match="to_dense"):
        s.numpy()


def test_a_file_in_the_binary_format_that_is_cut_off_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "x"
    paddle.save(paddle.ones([3]), str(path), use_binary_format=True)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(pickle.UnpicklingError, match="as many elements"):
        paddle.load(str(path))


def test_async_save_writes_what_there_was(tmp_path: Any) -> None:
    x = paddle.ones([2])
    paddle.async_save({"x": x}, str(tmp_path / "x"))
    x.zero_()
    paddle.framework.clear_async_save_task_queue()
    assert paddle.load(str(tmp_path / "x"))["x"].tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="cannot be saved"):
        paddle.async_save(lambda: 0, str(tmp_path / "y"))


def test_flops_counts_layers(capsys: Any) -> None:
    net = paddle.nn.Sequential(paddle.nn.Conv2D(1, 3, 3), paddle.nn.ReLU(), paddle.nn.Flatten(), paddle.nn.Linear(48, 2))
    assert paddle.flops(net, [1, 1, 6, 6]) == 48 * 10 + 48 * 2
    assert "Total Flops: 576     Total Params: 128" in capsys.readouterr().out


def test_attention_at_some_places_is_that_of_a_mask() -> None:
    q, k, v = (leaf(np.random.default_rng(i).standard_normal((1, 2, 3, 4)).astype("float32")) for i in range(3))
    allowed = np.tril(np.ones((3, 3), "float32"))
    mask = paddle.to_tensor(np.stack([allowed, allowed])).to_sparse_csr()
    found = paddle.sparse.nn.functional.attention(q, k, v, mask)
    hidden = paddle.to_tensor(np.where(allowed > 0, 0.0, -1e9).astype("float32"))
    scores = paddle.matmul(q, k, transpose_y=True) / 2.0 + hidden
    np.testing.assert_allclose(found.numpy(), paddle.matmul(paddle.nn.functional.softmax(scores), v).numpy(), atol=1e-6)


def test_folders_of_images_are_data_sets(tmp_path: Any) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "x.npy", np.full((2, 2, 3), ord(name), np.uint8))
    found = paddle.vision.datasets.DatasetFolder(str(tmp_path), loader=np.load, extensions=(".npy",))
    assert found.classes == ["a", "b"]
    assert [(int(x[0, 0, 0]), y) for x, y in (found[0], found[1])] == [(97, 0), (98, 1)]
    with pytest.raises(AttributeError, match="fetches its images"):
        paddle.vision.datasets.MNIST  # noqa: B018 - the look-up is the test
    with pytest.raises(NotImplementedError, match="fetches no weights"):
        paddle.vision.models.resnet18(pretrained=True)


def test_unknown_names_say_who_answers() -> None:
    with pytest.raises(AttributeError, match="near it are .*ones_like"):
        paddle.oneslike  # noqa: B018 - the look-up is the test
    with pytest.raises(AttributeError, match="retrograde answering"):
        paddle.ones([1]).resize_  # noqa: B018 - the look-up is the test


@pytest.mark.parametrize("call,error,words", [
    (lambda: paddle.exp(None), ValueError, "exp: argument 1 must be a Tensor, got NoneType"),
    (lambda: paddle.add(paddle.ones([1]), None), ValueError, "add: wanted two Tensors, got NoneType"),
    (lambda: paddle.full([2], "a"), TypeError, "full: fill_value must be a number"),
    (lambda: paddle.arange("a"), TypeError, "arange: end must be a number"),
    (lambda: paddle.nn.ClipGradByNorm("a"), ValueError, "ClipGradByNorm: clip_norm must be a number"),
    (lambda: paddle.nn.Linear(1, 1).set_state_dict(3), TypeError, "set_state_dict: wanted a dict"),
])  # fmt: skip
def test_wrong_arguments_are_named(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_devices_other_than_the_cpu_are_refused() -> None:
    assert repr(paddle.set_device("cpu")) == "Place(cpu)"
    for refused in (lambda: paddle.set_device("gpu"), lambda: paddle.CUDAPlace(0), lambda: paddle.ones([1], device="gpu"),
                    lambda: paddle.ones([1]).cuda(), lambda: paddle.to_tensor(1.0, place="gpu:0")):  # fmt: skip
        with pytest.raises(ValueError, match="no|device"):
            refused()


def test_static_mode_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="dynamic mode"):
        paddle.enable_static()
    with pytest.raises(NotImplementedError, match="compiled programs"):
        paddle.jit.save(None, "model")
    assert paddle.jit.to_static(lambda x: x + 1)(paddle.ones([2])).tolist() == [2, 2]


def test_memory_is_shared_through_dlpack_only() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    x.numpy()[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
    np.from_dlpack(x)
    y = paddle.from_dlpack(x)
    y[0] = 5.0
    assert x.tolist() == [5.0, 2.0]
    with pytest.raises(BufferError, match="detach"):
        np.from_dlpack(leaf([1.0]))


def test_a_chain_may_end_in_branches_several_outputs_or_nothing() -> None:
    x, w = leaf([1.0, 2.0, 3.0, 4.0]), leaf([2.0, 2.0, 2.0, 2.0])
    y = x * w * w
    for _ in range(3):
        y = y * 2
    assert paddle.grad(y, x)[0].tolist() == [32.0] * 4
    assert paddle.grad(y, w)[0].tolist() == [32.0, 64.0, 96.0, 128.0]
    assert paddle.grad(y * 2, y)[0].tolist() == [2.0] * 4
    top, _ = paddle.topk(x * 3, 2)
    assert paddle.grad(top * 2, x)[0].tolist() == [0.0, 0.0, 6.0, 6.0]
    z = (x * 2).detach()
    z.stop_gradient = False
    assert paddle.grad(z * 2, x, allow_unused=True) == [None]
    x[0:1].detach()[0] = 5.0  # an older value is changed: what was recorded before is refused
    with pytest.raises(RuntimeError, match="changed in place"):
        paddle.grad(y, w)


class Doubled(paddle.autograd.PyLayer):
    """Changes its argument in place, and saves it."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.scale_(2.0)

    @staticmethod
    def backward(ctx, d):
        return d * 2


@pytest.mark.parametrize("use", ["pylayer", "hooks", "create_graph", "jacobian", "view"])
def test_graphs_are_freed_without_the_garbage_collector(use: str) -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf([1.0, 2.0, 3.0])
        y = x * 2
        if use == "pylayer":
            y = Doubled.apply(y)
        elif use == "hooks":
            y.register_hook(lambda g: g * 2)
            x.register_hook(lambda g: g * 2)
        elif use == "create_graph":
            paddle.grad((y * y).sum(), x, create_graph=True)
        elif use == "jacobian":
            assert paddle.autograd.jacobian(y, x)[0, 0].item() == 2.0
        else:
            y[0:2].scale_(2.0)
        y.sum().backward()
        references = [weakref.ref(x), weakref.ref(y)]
        del x, y
        assert [r() for r in references] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize(("form", "arguments"), [("unsqueeze_", (0,)), ("reshape_", ([2, 1],)), ("flatten_", ())])
def test_a_leaf_reshaped_in_place_under_no_grad_stays_a_leaf(form: str, arguments: tuple[object, ...]) -> None:
    x = leaf([1.0, 2.0])
    with paddle.no_grad():
        getattr(x, form)(*arguments)
    assert x.is_leaf
    (x * paddle.ones(x.shape) * 3).sum().backward()
    assert x.grad.shape == x.shape
    assert x.grad.flatten().tolist() == [3.0, 3.0]
