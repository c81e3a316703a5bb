"""Matrix products by generated code: against sums in double precision, for every layout, edge and unusual number."""

import itertools
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from retrograde.backend.jit import llvm, products, threads
from retrograde.backend.jit.processor import AVX2, AVX512

from .same_bits import same_bits

pytestmark = pytest.mark.skipif(
    not llvm.available(), reason="needs llvmlite: elsewhere products go to BLAS"
)


@pytest.fixture
def generated(monkeypatch):
    """`product` with the generated functions for everything that they can compute, however small, and how often."""
    calls = []
    for char in "fd":
        function = products.translated(char)
        monkeypatch.setitem(
            products._generated, char, lambda *args, function=function: (calls.append(args), function(*args))[1]
        )
    monkeypatch.setattr(products, "LEAST", 0)
    monkeypatch.setattr(products, "_plans", {})
    return calls


def matrix(shape, dtype, layout, seed):
    x = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    if layout == "columns":
        return np.asfortranarray(x)
    if layout == "part":
        whole = np.zeros((shape[0] + 3, shape[1] + 5), dtype)
        whole[2:-1, 4:-1] = x
        return whole[2:-1, 4:-1]
    return x


LAYOUTS = list(itertools.product(("rows", "columns", "part"), repeat=2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layouts", LAYOUTS, ids="-".join)
def test_every_layout_and_edge(generated, dtype, layouts):
    sizes = [(8, 1, 16), (9, 17, 47), (16, 16, 48), (13, 255, 64), (8, 256, 65), (23, 257, 80), (31, 600, 33), (64, 40, 112)]
    for m, k, n in sizes:
        x, y = matrix((m, k), dtype, layouts[0], 1), matrix((k, n), dtype, layouts[1], 2)
        got = products.product(x, y)
        wide = x.astype(np.float64) @ y.astype(np.float64)
        assert got.dtype == dtype
        assert got.flags.c_contiguous
        assert got.flags.owndata
        np.testing.assert_allclose(got, wide, rtol=0, atol=np.finfo(dtype).eps * k * 8)
    assert len(generated) == len(sizes)


def test_the_layout_changes_no_bit(generated):
    for dtype, (m, k, n) in itertools.product((np.float32, np.float64), [(64, 784, 256), (40, 300, 70)]):
        results = [
            products.product(matrix((m, k), dtype, a, 3), matrix((k, n), dtype, b, 4)) for a, b in LAYOUTS
        ]  # fmt: skip
        for other in results[1:]:
            np.testing.assert_array_equal(results[0], other)
        # nor does what stands beside it
        part = products.product(matrix((m, k), dtype, "rows", 3)[8:30], matrix((k, n), dtype, "rows", 4)[:, 5:41])
        np.testing.assert_array_equal(part, results[0][8:30, 5:41])


@pytest.mark.skipif(llvm.processor() is not AVX512, reason="elsewhere the other tests have these registers, or there are none")
def test_the_code_for_short_registers(monkeypatch):
    """Several panels of the second operand are copied together there: for blocks of 64 columns, and what is left of them."""
    monkeypatch.setattr(llvm, "processor", lambda: AVX2)
    function = products.translated("f")
    sizes = [(64, 784, 256), (13, 255, 64), (8, 256, 65), (23, 257, 127), (400, 40, 200), (97, 600, 32)]
    for (m, k, n), layouts in itertools.product(sizes, LAYOUTS):
        x, y = matrix((m, k), np.float32, layouts[0], 1), matrix((k, n), np.float32, layouts[1], 2)
        got = products.computed(function, x, y, None, products.panel_rows(k))
        wide = x.astype(np.float64) @ y.astype(np.float64)
        np.testing.assert_allclose(got, wide, rtol=0, atol=np.finfo(np.float32).eps * k * 8)


def test_infinite_and_missing_numbers_stay_where_they_belong(generated):
    x, y = matrix((9, 20), np.float32, "rows", 5), matrix((20, 35), np.float32, "columns", 6)
    x[8, 3], x[2, 19], y[7, 34], y[0, 0] = np.inf, np.nan, -np.inf, np.nan
    got = products.product(x, y)
    with np.errstate(invalid="ignore"):
        want = x.astype(np.float64) @ y.astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    assert generated


def test_what_the_functions_cannot_do_goes_to_blas(generated):
    x, y = matrix((16, 32), np.float32, "rows", 7), matrix((32, 64), np.float32, "rows", 8)
    cases = [
        (x[:4], y), (x, y[:, :7]), (x[0], y), (x, y[:, 0]),  # too little
        (x.astype(np.float64), y), (x.astype(">f4"), y.astype(">f4")),  # other dtypes
        (x[:, ::2], y[::2, ::2]), (x.astype(np.complex64), y.astype(np.complex64)),
        (np.zeros((16, 0), np.float32), np.zeros((0, 64), np.float32)),
    ]  # fmt: skip
    for a, b in cases:
        np.testing.assert_allclose(products.product(a, b), np.asarray(a) @ np.asarray(b), rtol=1e-5, atol=1e-5)
    assert not generated
    with pytest.raises(ValueError, match="not aligned"):
        products.product(x, y[:31])


def test_rows_apart_and_backwards(generated):
    x, y = matrix((40, 32), np.float64, "rows", 9), matrix((32, 64), np.float64, "rows", 10)
    np.testing.assert_allclose(products.product(x[::-2, ::-1], y[::-1]), x[::-2, ::-1] @ y[::-1], rtol=1e-12, atol=1e-12)
    assert generated


def test_several_threads_at_once(generated):
    x, y = matrix((64, 300), np.float32, "rows", 11), matrix((300, 200), np.float32, "columns", 12)
    want, wrong = products.product(x, y), []

    def work():
        wrong.extend(1 for _ in range(50) if not np.array_equal(products.product(x, y), want))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


PROGRAM = """
import numpy as np
from retrograde.backend.jit import llvm, products, threads
from retrograde.backend.jit.processor import AVX2, AVX512
x = np.random.default_rng(0).standard_normal((64, 784)).astype(np.float32)
assert np.allclose(products.product(x, x.T), np.dot(x, x.T), atol=1e-3)
found, faster = [c for c, f in products._generated.items() if f], llvm.available() and llvm.processor() in (AVX512, AVX2)
assert found == ["f"] * faster, found
print(len(found))
"""


def functions_in_a_process(**environment):
    """How many functions another process has: as many as its processor gains by, which under emulation is not this one."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, env={**os.environ, **environment}, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    return int(done.stdout)


@pytest.mark.parametrize("jit", ["1", "0"])
def test_a_fresh_process_and_the_switch(tmp_path, jit):
    for _ in range(2):  # translated, then read from the disk
        count = functions_in_a_process(RETROGRADE_JIT=jit, XDG_CACHE_HOME=str(tmp_path))
    assert len(list(tmp_path.glob("**/product*-*.code"))) == count <= int(jit)


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path):
    (tmp_path / "file").write_text("no folder")
    count = functions_in_a_process(RETROGRADE_JIT="1", XDG_CACHE_HOME=str(tmp_path / "file" / "below"))
    assert count == functions_in_a_process(RETROGRADE_JIT="1", XDG_CACHE_HOME=str(tmp_path))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_bias_is_added_as_it_would_be_afterwards(generated, dtype):
    for m, k, n in [(8, 20, 16), (30, 700, 100)]:
        x, y, bias = matrix((m, k), dtype, "rows", 13), matrix((k, n), dtype, "columns", 14), matrix((1, n), dtype, "rows", 15)[0]
        plain = products.product(x, y)
        np.testing.assert_array_equal(products.product(x, y, bias), plain + bias)
        np.testing.assert_array_equal(products.product(x, y, np.repeat(bias, 2)[::2]), plain + bias)  # not contiguous
        np.testing.assert_array_equal(products.product(x[:2], y, bias), products.product(x[:2], y) + bias)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_and_infinities_beside_a_single_zero_are_not_lost(dtype):
    zero, unusual = np.zeros((1, 1), dtype), np.array([[np.nan, np.inf, 1]], dtype)
    with np.errstate(invalid="ignore"):
        for found in (products.product(zero, unusual), products.product(unusual.T, zero), products.product(zero[0], unusual)):
            np.testing.assert_array_equal(found.ravel(), [np.nan, np.nan, 0])
        biased = products.product(zero, unusual, np.ones(3, dtype))
    np.testing.assert_array_equal(biased, [[np.nan, np.nan, 1]])


def test_large_products_in_blocks(generated):
    """More rows than are kept in a cache, or laid out on the stack, at a time; the last block and tile are not whole."""
    for dtype, (m, k, n) in itertools.product((np.float32, np.float64), [(421, 229, 50), (203, 517, 97)]):
        y = matrix((k, n), dtype, "columns", 17)
        x = matrix((m, k), dtype, "rows", 16)
        got = products.product(x, y)
        np.testing.assert_allclose(got, x.astype(np.float64) @ y, rtol=0, atol=np.finfo(dtype).eps * k * 8)
        np.testing.assert_array_equal(products.product(np.asfortranarray(x), y), got)
        np.testing.assert_array_equal(products.product(np.repeat(x, 2, 1)[:, ::2], y), got)
    assert len(generated) == 12


def test_the_bits_do_not_depend_on_the_number_of_threads(generated):
    x, y = matrix((400, 270), np.float32, "rows", 18), matrix((270, 130), np.float32, "rows", 19)
    wide, deep = x.reshape(8, 50, 270), np.repeat(y[None], 8, 0)
    same_bits(lambda: (products.product(x, y), products.product(np.asfortranarray(x), y), products.batched(wide, deep)))


@pytest.fixture
def batches(monkeypatch):
    """`batched` with the generated functions wherever they can compute; the shapes of their results."""
    calls = []

    def of(char):
        function = products.batched_of(char)
        return lambda *args: (calls.append(args[3].shape), function(*args))[1]

    monkeypatch.setattr(products, "_batched", of)
    monkeypatch.setattr(products, "LEAST", 0)
    return calls


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layouts", LAYOUTS, ids="-".join)
def test_batches_of_every_layout(batches, dtype, layouts):
    for count, (m, k, n) in itertools.product((1, 3), [(8, 8, 16), (9, 17, 47), (31, 300, 33), (64, 40, 112)]):
        x = np.stack([matrix((m, k), dtype, "rows", s) for s in range(count)])
        y = np.stack([matrix((k, n), dtype, "rows", 9 + s) for s in range(count)])
        given = []
        for a, layout in zip((x, y), layouts):
            whole = np.full((a.shape[0], a.shape[1] + 3, a.shape[2] + 5), np.nan, dtype)
            whole[:, 2:-1, 4:-1] = a
            columns = np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2)
            given.append({"rows": a, "columns": columns, "part": whole[:, 2:-1, 4:-1]}[layout])
        got = products.batched(*given)
        np.testing.assert_allclose(got, x.astype(np.float64) @ y, rtol=0, atol=np.finfo(dtype).eps * k * 8)
        assert got.dtype == dtype
    assert len(batches) == 8


def test_batches_that_broadcast(batches):
    rng = np.random.default_rng(20)
    x, y = rng.standard_normal((3, 1, 10, 12)), rng.standard_normal((4, 12, 20))
    heads = rng.standard_normal((2, 30, 4, 24)).swapaxes(1, 2)  # (batch, heads, length, width), as attention has them
    for a, b in ((x, y), (y.swapaxes(1, 2), x[0].swapaxes(1, 2).repeat(2, -1)), (heads, heads.swapaxes(2, 3)), (x[::-1], y[::2])):
        found = products.batched(a, b)
        np.testing.assert_allclose(found, np.matmul(a, b), rtol=1e-12, atol=1e-12)
    assert batches == [(3, 4, 10, 20), (4, 20, 20), (2, 4, 30, 30), (3, 2, 10, 20)]


def test_batches_that_go_to_blas(batches):
    x, y = np.ones((2, 9, 12), np.float32), np.ones((2, 12, 20), np.float32)
    cases = [
        (x[:, :4], y), (x, y[..., :10]), (x[..., :0], y[:, :0]), (x, y[:, :, ::2]), (x.astype(np.float64), y), (x[:0], y[:0]),
        (x.astype(">f4"), y.astype(">f4")), (x.astype(np.complex64), y.astype(np.complex64)),
    ]  # fmt: skip
    for a, b in cases:
        np.testing.assert_array_equal(products.batched(a, b), np.matmul(a, b))
    assert not batches
    with pytest.raises(ValueError, match="mismatch"):
        products.batched(x, y[:, :5])
    with pytest.raises(ValueError, match="remapped"):
        products.batched(x, np.ones((3, 12, 20), np.float32))


@pytest.mark.parametrize("theirs", [AVX512, AVX2], ids=lambda kind: f"BLAS for {kind.name}")
@pytest.mark.parametrize("kind", [AVX512, AVX2], ids=lambda kind: kind.name)
def test_where_there_is_a_pool_blas_shares_no_small_products_out(monkeypatch, kind, theirs):
    calls = []
    function = products.translated("f")
    monkeypatch.setattr(llvm, "processor", lambda: kind)
    monkeypatch.setattr(products.blas, "adds_as_avx2", lambda: theirs is AVX2)  # in another order
    monkeypatch.setitem(products._generated, "f", lambda *args: (calls.append(args[3].shape), function(*args))[1])
    shapes = [(64, 64, 64), (80, 80, 80), (128, 128, 128)]  # at most 2^18 multiplications, fewer and more than 2^20
    before = threads.count()
    try:
        alone = [(128, 128)] if kind is theirs is AVX512 else [(80, 80), (128, 128)]
        for count, generated in ((1, alone), (2, [(80, 80), (128, 128)])):
            threads.set_count(count)
            for m, k, n in shapes:
                x, y = matrix((m, k), np.float32, "rows", 21), matrix((k, n), np.float32, "rows", 22)
                np.testing.assert_allclose(products.product(x, y), x @ y, rtol=1e-4, atol=1e-4)
            assert calls == generated
            calls.clear()
    finally:
        threads.set_count(before)
