"""dtypes that are equal and other objects, and arrays at odd bytes: every entrance, every fast path and every generated
kernel gives the bits that it gives for the same numbers as NumPy makes them."""

import copy
import ctypes
import functools
import io
import pickle

import numpy as np
import pytest

import retrograde as rg
from retrograde.backend.canonical import canonical, canonical_dtype
from retrograde.backend.jit import (
    channels,
    convolutions,
    llvm,
    patches,
    pointwise,
    products,
    recurrent,
    reductions,
    rows,
    sampling,
    windows,
)
from retrograde.backend.jit.processor import AVX512
from retrograde.core.expression import SYMBOLIC, Expr
from retrograde.core.primitive import PRIMITIVES
from retrograde.core.value import Value, make
from retrograde.dialects import mindspore, paddle, torch

FLOAT32 = np.dtype(np.float32)
rng = np.random.default_rng(12)


def normal(*shape):
    return rng.normal(size=shape).astype(np.float32)


def foreign(x):
    """The same array with a dtype object of its own, as pickle gives it back."""
    if not isinstance(x, np.ndarray):
        return x
    if x.dtype.isbuiltin != 1:
        return x.view(x.dtype.newbyteorder("="))
    return x.view(pickle.loads(pickle.dumps(x.dtype)))


def shifted(x):
    """The same array one byte behind where its elements should begin."""
    if not isinstance(x, np.ndarray):
        return x
    room = np.zeros(x.nbytes + 1, np.uint8)
    strides = np.empty_like(x).strides  # what is transposed stays so
    found = np.ndarray(x.shape, x.dtype, room, 1, strides)
    found[...] = x
    assert not found.flags.aligned
    return found


def arrays_in(x):
    """The arrays of a result, whatever they are wrapped in."""
    if isinstance(x, (tuple, list)):
        return [a for part in x for a in arrays_in(part)]
    while isinstance(x, Value):
        x = x._a
    return [x] if isinstance(x, np.ndarray) else []


def is_canonical(x):
    return all(a.dtype is canonical_dtype(a.dtype) for a in arrays_in(x))


def bits(x):
    x = np.asarray(x) if isinstance(x, np.generic) else x  # what a kernel gives for a 0-d result
    return [(a.shape, a.dtype.str, a.tobytes()) for a in arrays_in(x)]


# ------------------------------------------------------------------------------------------ the function itself


def test_each_dtype_has_one_object():
    names = ["bool", *(f"{k}int{n}" for k in ("", "u") for n in (8, 16, 32, 64)), "float16", "float32", "float64",
             "longdouble", "complex64", "complex128", "bfloat16"]  # fmt: skip
    for name in names:
        dtype = rg.bfloat16 if name == "bfloat16" else np.dtype(name)
        x = np.ones((2, 3), dtype)
        assert canonical(x) is x
        other = foreign(x)
        assert other.dtype is not dtype
        found = canonical(other)
        assert found.dtype is dtype
        assert np.shares_memory(found, x)
    long = np.ones(3, "q" if np.dtype("q") is not np.dtype(np.int64) else "l")
    assert canonical(long).dtype is canonical_dtype(long.dtype)
    assert canonical(long.view(np.dtype(long.dtype, metadata={"of": "a file"}))).dtype.metadata is None


def test_other_layouts_and_classes():
    x = foreign(np.arange(24.0).reshape(4, 6))
    for y in (x.T, x[::2, ::-1], x[1, 2], x[:0], np.broadcast_to(x, (2, 4, 6)), shifted(x)):
        y = np.asarray(y)
        found = canonical(y)
        assert (found.shape, found.strides, found.dtype) == (y.shape, y.strides, y.dtype)
        np.testing.assert_array_equal(found, y)
    kept = foreign(np.arange(3.0))
    kept.flags.writeable = False
    assert not canonical(kept).flags.writeable
    assert type(canonical(x.view(np.matrix))) is np.matrix
    swapped = np.arange(3, dtype=">f4" if np.little_endian else "<f4")
    assert canonical(swapped).dtype is FLOAT32
    assert canonical(swapped).tolist() == [0, 1, 2]
    for y in (np.array(["a"]), np.zeros(2, "M8[s]"), np.zeros(2, [("a", "f4")]), np.array([None])):
        assert canonical(y) is y


# ------------------------------------------------------------------------------------------ entrances

X = normal(2, 3)
F = foreign(X)


def through_pickle(x):
    return pickle.loads(pickle.dumps(x))


def through_file(dialect, x):
    file = io.BytesIO()
    dialect.save(*((file, {"x": x}) if dialect is rg else ({"x": x}, file)))
    file.seek(0)
    return dialect.load(file)["x"]


def written(x, value):
    x[0] = value
    return x


def native_entrances():
    x = rg.asarray(X.copy())
    square = lambda a: a * a  # noqa: E731
    yield from (lambda c=c: rg.asarray(F, copy=c) for c in (None, True, False))
    yield lambda: rg.asarray([F[0], F[1]])
    yield lambda: rg.asarray([1, 2], dtype=F.dtype)
    yield lambda: rg.asarray(X.astype(X.dtype.newbyteorder()))
    yield lambda: rg.asarray(np.ones(3, np.longlong))
    yield from (functools.partial(f, (2, 3), dtype=F.dtype) for f in (rg.zeros, rg.ones, rg.empty))
    yield lambda: [rg.full((2,), 1.0, dtype=F.dtype), rg.eye(2, dtype=F.dtype), rg.arange(3, dtype=F.dtype)]
    yield lambda: [rg.linspace(0, 1, 3, dtype=F.dtype), rg.zeros_like(x, dtype=F.dtype), rg.zeros_like(F)]
    yield lambda: [rg.asarray([1, 2]).astype(F.dtype), rg.sum(x, dtype=F.dtype), rg.from_dlpack(F)]
    yield lambda: [F * x, x * F, F @ x.T, F[0, 0] * x, rg.multiply(F, x), np.multiply(F, x), rg.exp(F), rg.sum(F)]
    yield lambda: [rg.where(F > 0, F, x), rg.concat([F, F]), rg.stack([F, x]), rg.einsum("ij,kj->ik", F, x)]
    yield lambda: [written(rg.asarray(X.copy()), F[0]), rg.grad(lambda a: (a * a).sum())(F), rg.vmap(square)(F)]
    yield lambda: [*rg.jvp(square, (F,), (F,)), rg.vjp(square, F)[0], *rg.vjp(square, F)[1](F)]
    yield lambda: [through_pickle(x), copy.deepcopy(x), through_file(rg, F)]


def torch_entrances():
    x = torch.ones(2, 3)
    make = (torch.from_numpy, torch.tensor, torch.as_tensor, torch.asarray, torch.Tensor, torch.FloatTensor, torch.from_dlpack)
    yield from (functools.partial(f, F) for f in (*make, x.new_tensor))
    yield lambda: torch.tensor([F[0], F[1]])
    yield lambda: torch.from_numpy(np.ones(3, np.longlong))
    yield lambda: torch.frombuffer(F.copy(), dtype=torch.float32)
    yield lambda: [through_pickle(x), through_pickle(torch.nn.Parameter(x)), through_file(torch, x)]
    yield lambda: list(through_pickle(torch.nn.BatchNorm1d(3)).state_dict().values())
    yield lambda: next(iter(torch.utils.data.DataLoader(list(F), batch_size=2)))
    yield lambda: next(iter(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.from_numpy(F)), batch_size=2)))
    yield lambda: written(torch.ones(2, 3), torch.from_numpy(F)[0])
    yield lambda: [torch.empty(0).set_(torch.from_numpy(F)), torch.normal(torch.from_numpy(F), 1.0)]


def paddle_entrances():
    x = paddle.ones([2, 3])
    yield from (functools.partial(f, F) for f in (paddle.to_tensor, paddle.Tensor, paddle.from_dlpack, paddle.from_numpy))
    yield lambda: [paddle.assign(F), paddle.to_tensor(np.ones(3, np.longlong)), paddle.zeros([2], dtype=F.dtype)]
    yield lambda: [x * F, through_pickle(x), through_file(paddle, x), *through_pickle(paddle.nn.Linear(2, 3)).parameters()]
    yield lambda: written(paddle.ones([2, 3]), F[0])

    def loaded():
        layer = paddle.nn.Linear(2, 3)
        layer.set_state_dict({"weight": F, "bias": F[0]})
        return layer.parameters()

    yield loaded


def mindspore_entrances():
    x = mindspore.Tensor(X)
    make = (mindspore.Tensor, mindspore.tensor, mindspore.Tensor.from_numpy, mindspore.Tensor.from_dlpack, mindspore.Parameter)
    yield from (functools.partial(f, F) for f in (*make, mindspore.numpy.array, mindspore.numpy.asarray))
    yield lambda: [mindspore.Tensor([F[0], F[1]]), mindspore.Tensor(np.ones(3, np.longlong))]
    yield lambda: [through_pickle(x), through_pickle(mindspore.Parameter(x, name="x")), copy.deepcopy(x)]
    slices = mindspore.dataset.NumpySlicesDataset(F, shuffle=False)
    yield lambda: next(iter(slices.create_tuple_iterator(num_epochs=1)))
    yield lambda: mindspore.nn.Dense(3, 2, weight_init=mindspore.Tensor(F)).weight


@pytest.mark.parametrize("entrances", [native_entrances, torch_entrances, paddle_entrances, mindspore_entrances])
def test_what_enters_is_canonical(entrances):
    wrong = [k for k, enter in enumerate(entrances()) if not (arrays_in(found := enter()) and is_canonical(found))]
    assert not wrong


def test_memory_is_shared_as_ever():
    x = foreign(np.zeros(3, np.float32))
    tensors = torch.from_numpy(x), rg.asarray(x), mindspore.Tensor.from_numpy(x), rg.asarray(x, copy=False)
    x[0] = 1
    assert [float(t[0]) for t in tensors] == [1] * 4
    swapped = np.zeros(3, FLOAT32.newbyteorder())
    with pytest.raises(ValueError, match="byte order"):
        rg.asarray(swapped, copy=False)
    with pytest.raises(TypeError):
        torch.from_numpy(swapped)


# ------------------------------------------------------------------------------------------ the table, and programs


def test_every_kernel_gives_canonical_results_and_the_same_bits():
    for name, prim in sorted(PRIMITIVES.items()):
        for operands, params in prim.samples():
            plain = prim.numpy_kernel(*operands, **params)
            assert is_canonical(plain), name
            again = prim.numpy_kernel(*operands, **params)
            if bits(plain) == bits(again):  # what is drawn differs
                assert bits(prim.numpy_kernel(*map(foreign, operands), **params)) == bits(plain), name


def native_program(x, w, labels):
    x, w = (make(rg.Tensor, a) for a in (x, w))
    w.requires_grad_()
    y = rg.tanh(x @ w) * 2 + x[:, :1] / 3 - rg.maximum(x, 0 * x).sum() * 0.01
    y.sum().backward()
    (second,) = rg.vjp(rg.grad(lambda a: rg.sum(a * a * a)), x)[1](x)
    return y, w.grad, second


def torch_program(x, w, labels):
    x, w, labels = (make(torch.Tensor, a) for a in (x, w, labels))
    layer = torch.nn.Linear(x.shape[1], w.shape[1])
    layer.weight.data = w.T.contiguous()
    layer.bias.data = w[0].clone()
    found = []
    for cls in (torch.optim.Adam, torch.optim.SGD, torch.optim.RMSprop, torch.optim.Adagrad):
        optimizer = cls(layer.parameters(), lr=0.1)
        y = torch.relu(layer(x)) * 2 + torch.cat([x, x], 1)[:, : w.shape[1]] - torch.stack([x, x]).mean()
        loss = torch.nn.functional.cross_entropy(y, labels) + torch.nn.functional.mse_loss(y, 0 * y)
        optimizer.zero_grad()
        (loss + torch.where(y > 0, y, 0 * y).sum() * 0.01).backward()
        optimizer.step()
        found += [y, loss, layer.weight.grad, layer.weight, layer.bias]
    return found


def paddle_program(x, w, labels):
    x, w, labels = (make(paddle.Tensor, a) for a in (x, w, labels))
    layer = paddle.nn.Linear(*w.shape)
    layer.weight._a, layer.bias._a = w._a.copy(), w._a[0].copy()
    found = []
    for cls in (paddle.optimizer.Adam, paddle.optimizer.SGD, paddle.optimizer.Momentum):
        optimizer = cls(0.1, parameters=layer.parameters())
        y = paddle.nn.functional.gelu(layer(x)) * 2 + x[:, :1] - x.mean() + x @ w
        loss = paddle.nn.functional.cross_entropy(y, labels)
        loss.backward()
        found += [y, loss, layer.weight.grad]
        optimizer.step()
        optimizer.clear_grad()
        found += [layer.weight, layer.bias]
    return found


def mindspore_program(x, w, labels):
    x, w, labels = (make(mindspore.Tensor, a) for a in (x, w, labels))
    layer = mindspore.nn.Dense(w.shape[0], w.shape[1], weight_init=w.T.copy(), bias_init=w[0].copy())
    found = []
    for cls in (mindspore.nn.Adam, mindspore.nn.SGD, mindspore.nn.Momentum):
        optimizer = cls(layer.trainable_params(), 0.1, *([0.9] if cls is mindspore.nn.Momentum else []))

        def forward(x):
            y = mindspore.ops.tanh(layer(x)) * 2 + x[:, :1] - x.mean()
            return mindspore.ops.cross_entropy(y, labels), y

        (loss, y), gradients = mindspore.value_and_grad(forward, None, optimizer.parameters, has_aux=True)(x)
        optimizer(gradients)
        found += [loss, y, gradients, layer.weight, layer.bias]
    return found


@pytest.mark.parametrize("size", [4, 256])
@pytest.mark.parametrize("program", [native_program, torch_program, paddle_program, mindspore_program])
def test_programs_give_the_same_bits(program, size):
    """Of tensors made without asking: no entrance has made their arrays canonical."""
    operands = normal(size, size), normal(size, size) / size, np.arange(size) % 3
    expected = bits(program(*operands))
    assert len(expected) >= 3
    assert bits(program(*map(foreign, operands))) == expected


# ------------------------------------------------------------------------------------------ generated code

LONG = normal(130, 600)
SHORT = normal(300, 40)
WIDTHS = ((LONG, True), (SHORT, False))  # above and below SUMMED


def layers():
    for x, _ in WIDTHS:
        n = x.shape[1]
        for w, b in ((None, None), (normal(n), None), (None, normal(n)), (normal(n), normal(n))):
            yield "layer_norm", functools.partial(rows.layer_norm, width=n, eps=1e-5), (x, w, b)
            yield "layer_norm_pull", functools.partial(rows.layer_norm_pull, width=n, eps=1e-5), (normal(*x.shape), x, w)


def images():
    for x, blocks in (
        (normal(4, 3, 30, 30), channels.Blocks(4, 1, 1, 3, 900)),
        (normal(8, 16, 10, 10), channels.Blocks(1, 8, 4, 4, 100)),
    ):
        w, b = normal(x.shape[1]), normal(x.shape[1])
        for weight, bias in ((None, None), (w, b)):
            yield "normalize", functools.partial(channels.normalize, blocks=blocks, eps=1e-5), (x, weight, bias)
            pull = functools.partial(channels.normalize_pull, blocks=blocks, eps=1e-5)
            yield "normalize_pull", pull, (normal(*x.shape), x, weight)
    x, w, b, vectors = normal(300, 7), normal(7), normal(7), channels.Blocks(300, 1, 1, 7, 1)
    yield "normalize_columns", functools.partial(channels.normalize, blocks=vectors, eps=1e-5), (x, w, b)
    yield "normalize_pull_columns", functools.partial(channels.normalize_pull, blocks=vectors, eps=1e-5), (normal(300, 7), x, w)
    yield "scaled", channels.scaled, (normal(3, 7, 9, 9), w, b)

    def moved(mean, scale):
        running = np.ones(7, np.float32), np.ones(7, np.float32)
        assert channels.moved(running, mean, scale, 0.1, 1e-5, 1.25)
        return running

    yield "moved", moved, (w, b)


def planes():
    """What goes over the last two axes of images."""
    for dtype in (np.float32, np.float64):
        x = normal(3, 7, 12, 20).astype(dtype)
        w, b, y = (normal(*s).astype(dtype) for s in ((9, 7, 3, 3), (9,), (3, 9, 6, 10)))
        given = {"stride": (2, 2), "padding": ((1, 1), (1, 1)), "dilation": (1, 1), "groups": 1}
        yield "convolve", functools.partial(convolutions.convolve, **given, out=(6, 10)), (x, w, b)
        yield "convolve", functools.partial(convolutions.convolve_transpose, **given, size=(12, 20)), (y, w, b[:7].copy())
        yield "convolve_weight", functools.partial(convolutions.convolve_weight, kernel=(3, 3), **given), (x, y)
        yield "lay", functools.partial(convolutions.convolve, **given, out=(6, 10)), (x, w, b)
        small, square = normal(16, 64, 4, 4).astype(dtype), normal(64, 64, 3, 3).astype(dtype)
        given = {"stride": (1, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1), "groups": 1}
        yield "windows", functools.partial(convolutions.convolve, **given, out=(4, 4)), (small, square, normal(64).astype(dtype))
        pairs = [windows.table(n, [[k, k + 1] for k in range(0, n, 2)]) for n in (12, 20)]
        tables = {"rows": pairs[0], "columns": pairs[1]}
        yield "weighted", functools.partial(windows.weighted, **tables), (x,)
        yield "maxima", functools.partial(windows.maxima, **tables), (x,)
        yield "places", functools.partial(windows.places, **tables), (x,)
        at = windows.places(x, *pairs)
        yield "scattered", functools.partial(windows.scattered, shape=x.shape), (x[..., :6, :10].copy(), at)
        grid, padding = (rng.random((3, 8, 9, 2)) * 2 - 1).astype(dtype), {"padding": "border", "align": False}
        sample = functools.partial(sampling.sample, mode="linear", **padding)
        g = normal(3, 7, 8, 9).astype(dtype)
        spread = functools.partial(sampling.sample_pull, shape=x.shape, mode="linear", **padding)
        for name in ("corners", "read"):
            yield name, sample, (x, grid)
        yield "spread", lambda g, grid, spread=spread: spread(g, grid=grid), (g, grid)
        for name in ("slopes", "along"):
            yield name, functools.partial(sampling.grid_pull, **padding), (g, x, grid)
        form = {"counts": (12, 20), "kernel": (3, 3), "dilation": (1, 1), "padding": (1, 1), "stride": (1, 1)}
        yield "patches", functools.partial(patches.columns, **form), (x,)
        yield "unpatched", functools.partial(patches.images, size=(12, 20), **form), (patches.columns(x, *form.values()),)


def steps():
    gates, h, c, w, b = normal(3, 8, 160), normal(8, 40), normal(8, 40), normal(160, 40) / 9, normal(160)
    forwards = {"backwards": False}
    x, w_in = normal(3, 26, 20), normal(160, 20)
    for bias in (None, b):
        yield "lstm_layer", functools.partial(recurrent.lstm, **forwards), (gates, h, c, w, bias)
        few = None if bias is None else bias[:120]
        yield "gru_layer", functools.partial(recurrent.gru, **forwards), (normal(3, 8, 120), h, w[:120].copy(), few)
        for batch in (26, 8):
            given = x[:, :batch].copy(), *(normal(batch, 40) for _ in range(2)), w_in, w, bias
            yield "lstm_layer", functools.partial(recurrent.lstm_states, **forwards, every=False), given
            inputs = *given[:2], w_in[:120].copy(), w[:120].copy(), few, few
            yield "gru_layer", functools.partial(recurrent.gru_states, **forwards), inputs
    yield "lstm_step", recurrent.lstm_step, (normal(13, 160), normal(13, 40))
    yield "gru_step", recurrent.gru_step, (normal(13, 120), normal(13, 120), normal(13, 40))
    kept, states, cells, g = gates, *(normal(3, 8, 40) for _ in range(3))
    yield "lstm_pull_layer", functools.partial(recurrent.lstm_pull, **forwards), (kept, cells, c, w, g, states)
    yield "gru_pull_layer", functools.partial(recurrent.gru_pull, **forwards), (kept, states, h, w[:120].copy(), g)


def matrices():
    for dtype in (np.float32, np.float64):
        x, y, b = (a.astype(dtype) for a in (normal(96, 160), normal(160, 96), normal(96)))
        for given in ((x, y, None), (x, y, b), (np.asfortranarray(x), y, b), (x, np.asfortranarray(y), None)):
            yield "product", products.product, given


def sums(loop, *operands):
    return np.array(loop.sums(*operands))


def kernels():
    x, y = (Expr("operand", (k,), LONG.dtype) for k in range(2))
    for expression in (SYMBOLIC.special.erf(x), SYMBOLIC.exp(x) * y, y + x):
        loop = pointwise.Fused([expression])
        yield "pointwise", loop, (LONG, normal(*LONG.shape))
        yield "pointwise", loop, (LONG, normal(LONG.shape[1]))
        yield "pointwise", functools.partial(sums, loop), (LONG, normal(*LONG.shape))
    for way in (reductions.along_rows, reductions.down_columns, reductions.of_all):
        for name in ("sum", "max", "min"):
            done = "columns" if way is reductions.down_columns else "rows"
            kernel = f"{name}_{'parts' if way is reductions.of_all else done}"
            yield kernel, functools.partial(way, name), (LONG,)
    for x, _ in WIDTHS:
        yield "log_softmax", rows.log_softmax, (x,)
        yield "log_softmax_pull", rows.log_softmax_pull, (normal(*x.shape), x)
        yield "logsumexp", rows.logsumexp, (x,)
        yield "softmax", rows.softmax, (x,)
        yield "softmax_pull", rows.softmax_pull, (normal(*x.shape), x)
    yield from layers()
    yield from images()
    yield from planes()
    yield from steps()
    if llvm.processor() is AVX512:
        yield from matrices()


@pytest.fixture
def called(monkeypatch):
    """The names of the generated functions that are called, each with arrays at multiples of their elements' size."""
    names = set()

    def watched(make):
        def function(name, *given, **options):
            found = make(name, *given, **options)
            listed = [x.split()[0] for x in given[0].split(",")] if isinstance(given[0], str) else []
            kinds = ["ptr", "i64", "i64", *listed] if listed else getattr(found, "argtypes", ())

            def checked(*args):
                names.add(name)
                for kind, x in zip(kinds, args, strict=True):
                    assert kind not in ("ptr", ctypes.c_void_p) or isinstance(x, bytes) or x % 4 == 0  # bytes: a table
                    assert kind not in ("array", "object", ctypes.py_object) or x.flags.aligned or x is args[6] is not args[3]
                return found(*args)

            return found and checked

        return function

    monkeypatch.setattr(llvm, "function", watched(llvm.function))
    monkeypatch.setattr(llvm, "shared", watched(llvm.shared))
    monkeypatch.setattr(products, "_generated", {})
    monkeypatch.setattr(pointwise, "_FUNCTIONS", {})
    monkeypatch.setattr(products, "_plans", {})
    rooms = [rows._function, reductions._generated, channels._generated, recurrent._generated, convolutions._generated]
    rooms += [windows._generated, sampling._generated, patches._generated, recurrent._step]
    rooms += [convolutions._layer, convolutions._forward, convolutions._backward, convolutions._weights]
    for made in rooms:
        made.cache_clear()
    yield names
    for made in rooms:
        made.cache_clear()


@pytest.mark.skipif(not llvm.available(), reason="needs llvmlite and a processor that code is generated for")
def test_every_generated_kernel_gives_the_same_bits(called):
    wanted = set()
    for name, kernel, operands in kernels():
        wanted.add(name)
        expected = bits(kernel(*operands))
        assert expected, name
        for changed in (foreign, shifted):
            called.discard(name)
            assert bits(kernel(*map(changed, operands))) == expected, (name, changed.__name__)
            assert name in called, (name, changed.__name__)
    every = {"pointwise", *(f"{name}_{way}" for name in ("sum", "max", "min") for way in ("rows", "columns", "parts"))}
    every |= {*rows._TEXTS, *channels._TEXTS}
    for module in (convolutions, windows, sampling, patches):
        every |= set(module._TEXTS)
    every |= {"lstm_layer", "gru_layer", "lstm_pull_layer", "gru_pull_layer", "lstm_step", "gru_step"}
    every |= {"product"} if llvm.processor() is AVX512 else set()
    assert wanted == every
