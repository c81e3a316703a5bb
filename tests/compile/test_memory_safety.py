"""Generated code touches what it was given and nothing else, whatever sizes, dtypes and the way that operands lie."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import retrograde as rg
from retrograde.backend.jit.vectors import LANES
from retrograde.compile import jit
from retrograde.compile.emit import fences, machine
from retrograde.core.value import make

pytestmark = pytest.mark.skipif(not machine.available(), reason="no machine code is made here")


@pytest.fixture(autouse=True)
def fenced(monkeypatch):
    monkeypatch.setenv("RETROGRADE_VERIFY", "1")


WIDTHS = sorted({0, 1, 2, 3, *(n * k + d for n in (1, 2) for k in (LANES // 2, LANES, 2 * LANES) for d in (-1, 0, 1))})
DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int64, np.int32, np.uint8, np.bool_]
FLOATS = DTYPES[:4]


def softmax(x):
    e = rg.exp(x - rg.max(x, axis=-1, keepdims=True))
    return e / rg.sum(e, axis=-1, keepdims=True)


def normalised(x):
    d = x - rg.mean(x, axis=-1, keepdims=True)
    return d / rg.sqrt(rg.mean(d * d, axis=-1, keepdims=True) + 0.5), rg.sum(d * d, axis=0)


FUNCTIONS = {
    "elements": (lambda x: rg.tanh(x * 2 + 1) * rg.exp(-x * x), FLOATS),
    "all": (lambda x: (rg.sum(x * x), rg.sum(rg.sin(x))), FLOATS),
    "rows": (lambda x: rg.sum(rg.cos(x) * x, axis=-1), FLOATS),
    "columns": (lambda x: rg.sum(rg.cos(x) * x, axis=0), FLOATS),
    "broadcast": (lambda x: x * x[:1] + x[:, :1], DTYPES[:-1]),
    "softmax": (softmax, FLOATS),
    "normalised": (normalised, FLOATS),
    "gradient": (rg.grad(lambda x: rg.sum(softmax(x) * rg.sin(x))), FLOATS),
    "product": (lambda x: rg.tanh(rg.matmul(x, rg.matrix_transpose(x)) * 0.5), FLOATS[:2]),
    "numbers": (lambda x: (x + x) * x - 1, [np.int64, np.int32, np.uint8]),
    "truths": (lambda x: (rg.where(x > x[:1], x, x * 2), (x == x[:1]) | (x > 1)), DTYPES[:-1]),
    "bits": (lambda x: rg.logical_xor(x, x[:1]) | rg.logical_not(x), [np.bool_]),
    "extremes": (lambda x: (rg.max(x + 1, axis=-1), rg.min(x + 1), rg.max(x + 1, axis=0)), FLOATS[:2]),
}
EMPTY = {"softmax", "extremes", "gradient", "normalised"}
"""What needs an element along the rows."""


def draws(shape, dtype):
    x = np.random.default_rng(3).uniform(-2, 2, shape)
    return (x > 0) if dtype is np.bool_ else np.abs(x * 9).astype(dtype) if np.dtype(dtype).kind in "iu" else x.astype(dtype)


def backwards(x):
    return np.flip(np.flip(x).copy())


def every_other(x):
    wide = np.zeros([2 * n for n in x.shape], x.dtype)
    wide[::2, ::2] = x
    return wide[::2, ::2]


def misaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)
    out = memory[1:].view(x.dtype).reshape(x.shape)
    out[...] = x
    return out


def overlapping(x):
    """Rows that begin one element after each other."""
    rows, width = x.shape
    memory = np.resize(x.ravel() if x.size else np.zeros(1, x.dtype), rows + width)
    return np.lib.stride_tricks.as_strided(memory, x.shape, (x.itemsize, x.itemsize), writeable=False)


def repeated(x):
    return np.broadcast_to(x[:1], x.shape)


LAYOUTS = {
    "as it is": lambda x: x, "transposed": lambda x: x.T.copy().T, "backwards": backwards, "every other": every_other,
    "misaligned": misaligned, "overlapping": overlapping, "repeated": repeated,
}  # fmt: skip


def arrays_of(out):
    return [np.asarray(y._a) for y in (out if isinstance(out, tuple) else (out,))]


def check(name, dtype, shape, layout="as it is"):
    f = FUNCTIONS[name][0]
    x = LAYOUTS[layout](draws(shape, dtype))
    before = x.copy()
    with np.errstate(all="ignore"):
        found, wanted = arrays_of(jit(f)(make(rg.Tensor, x))), arrays_of(f(make(rg.Tensor, before)))
    np.testing.assert_array_equal(x, before)
    narrow = {"float16": 4e-3, "bfloat16": 4e-2, "float32": 2e-5, "float64": 1e-13}
    for a, b in zip(found, wanted):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if a.dtype.kind in "iub":
            np.testing.assert_array_equal(a, b)
        else:
            tolerance = narrow[a.dtype.name]
            a, b = a.astype(np.float64), b.astype(np.float64)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1, np.max(np.abs(b), initial=0)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_widths_beside_those_of_vectors(name):
    for width in (0, 1, LANES // 2 + 1, 2 * LANES - 1, 2 * LANES, 2 * LANES + 1):
        if width or name not in EMPTY:
            check(name, FUNCTIONS[name][1][0], (3, width))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_operands_that_lie_in_another_way(layout):
    for name in ("elements", "softmax", "columns"):
        check(name, np.float32, (5, LANES + 1), layout)


def test_the_last_of_columns_is_narrowed_alone():
    for dtype in (np.float16, ml_dtypes.bfloat16):
        check("columns", dtype, (2, LANES // 4 + 1))


def test_small_integers_beside_numbers():
    for dtype in (np.int8, np.uint8, np.int16, np.int32, np.int64):
        check("numbers", dtype, (3, LANES + 1))
        check("truths", dtype, (3, LANES + 1))


def test_what_is_computed_tile_by_tile():
    def loss(w, b, x):
        return rg.sum(rg.tanh(rg.tanh(x @ w + b) @ w) ** 2)

    step = jit(rg.value_and_grad(loss, (0, 1)))
    for rows, width, dtype in ((4096, 9, np.float32), (1030, 33, np.float64)):
        x, w, b = (rg.asarray(draws(shape, dtype) / 3) for shape in ((rows, width), (width, width), (width,)))
        assert " tiles, " in step.lower(w, b, x).text()
        value, gradients = step(w, b, x)
        wanted, expected = rg.value_and_grad(loss, (0, 1))(w, b, x)
        for y, z in zip((value, *gradients), (wanted, *expected), strict=True):
            scale = np.max(np.abs(z._a))
            np.testing.assert_allclose(y._a / scale, z._a / scale, atol=1e-4 if dtype is np.float32 else 1e-11)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_width_dtype_and_layout(name, layout):
    for dtype in FUNCTIONS[name][1]:
        for width in WIDTHS:
            for rows in (1, 2, 5, 33):
                if width or name not in EMPTY:
                    check(name, dtype, (rows, width), layout)


@pytest.mark.long
@pytest.mark.parametrize("name", ["elements", "all", "rows", "columns", "softmax", "normalised", "gradient"])
def test_blocks_and_threads(name):
    for shape in [(1, 4095), (1, 4097), (2, 8193), (700, 129), (4097, 3), (3, 70001)]:
        check(name, np.float32, shape)


# ------------------------------------------------------------------------------------------ the fences themselves


def test_a_byte_that_is_written_beside_an_array_is_seen():
    for at_end in (True, False):
        place = fences.Fenced([5], np.dtype(np.float32), around=7, at_end=at_end)
        place.array[...] = 1
        place.look("the array")
        neighbour = place.array.ctypes.data + (-1 if at_end else 20)
        np.ctypeslib.as_array((np.ctypeslib.ctypes.c_uint8 * 1).from_address(neighbour))[0] = 1
        with pytest.raises(fences.OutOfBounds, match=f"1 bytes {'before' if at_end else 'behind'} the array"):
            place.look("the array")


def test_results_that_depend_on_other_bytes_are_seen():
    v = machine.Variable((3,), np.dtype(np.float32))

    def incomplete(pool, result, operand):
        result[:2] = operand[:2]  # the last one stays what was there

    def greedy(pool, result, operand):
        result[...] = operand
        operand[0] += 1

    x = np.ones(3, np.float32)
    with pytest.raises(fences.OutOfBounds, match="depends on bytes"):
        fences.function(incomplete, [v], [v], 0, 0, np.ascontiguousarray)(x)
    with pytest.raises(fences.OutOfBounds, match="into operand 0"):
        fences.function(greedy, [v], [v], 0, 0, np.ascontiguousarray)(x)


@pytest.mark.skipif(sys.platform == "win32", reason="pages are not forbidden there")
def test_a_page_beside_an_array_may_not_be_touched():
    source = (
        "import ctypes, numpy as np\n"
        "from retrograde.compile.emit.fences import Fenced\n"
        "a = Fenced([5], np.dtype(np.float32), around=0, at_end=True).array\n"
        "ctypes.c_float.from_address(a.ctypes.data + 16).value, print('inside', flush=True)\n"
        "ctypes.c_float.from_address(a.ctypes.data + 20).value\n"
        "print('outside')\n"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert done.stdout == "inside\n"
    assert done.returncode < 0
