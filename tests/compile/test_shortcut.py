"""The shortcut to compiled code (compile/emit/shortcut.py) is taken only where the slower way would do the same."""

import gc
import sys
import threading

import numpy as np
import pytest

import retrograde as rg
import retrograde.dialects.torch as torch
from retrograde.compile import jit, pipeline
from retrograde.compile.emit import shortcut

pytestmark = pytest.mark.skipif(not shortcut.offered(), reason="Python's objects are not read here")

SCALE = 3.0


def array(*numbers, dtype=np.float32):
    return rg.asarray(np.array(numbers, dtype))


class Calls:
    """A compiled function, and how many of its calls the slower way was taken for."""

    def __init__(self, f, **options):
        self.f, self.slow = jit(f, **options), 0
        self._key, self.f._key = self.f._key, self._counted

    def _counted(self, *given):
        self.slow += 1
        return self._key(*given)

    def __call__(self, *args, **kwargs):
        before = self.slow
        found = self.f(*args, **kwargs)
        self.short = self.slow == before
        return found


def begun(f, *args):
    """The function, compiled, after the calls from which on it takes the shortcut for such arguments."""
    calls = Calls(f)
    for _ in range(3):
        calls(*args)
    assert calls.short
    return calls


def numbers(tree):
    if isinstance(tree, (tuple, list)):
        return type(tree)(map(numbers, tree))
    return tree._a.tolist() if isinstance(tree, rg.Tensor) else tree


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: x * y, lambda x, y: (x + y, x), lambda x, y: [x * 2, (y, [x - y]), ()], lambda x, y: (x * y, "sum", None, 2),
        lambda x, y: ((), []), lambda x, y: rg.sum(x) * y[1], lambda x, y: y,
        lambda x, y: rg.value_and_grad(lambda z, w: rg.sum(z * z * w), (0, 1))(x, y),
    ],
)  # fmt: skip
def test_results_and_their_containers_are_those_of_the_function(f):
    x, y = array(1, 2, 3), array(4, 5, 6)
    calls = begun(f, x, y)
    for given in ((x, y), (array(-1, 0, 2), array(0, 0, 7)), (y, x)):
        found, expected = calls(*given), f(*given)
        assert calls.short
        assert numbers(found) == numbers(expected)
        for a, b in zip(*(z if isinstance(z, tuple) else (z,) for z in (found, expected))):
            assert type(a) is type(b)
            if isinstance(a, rg.Tensor):
                assert (a is given[0], a is given[1]) == (b is given[0], b is given[1])
                assert a.dtype == b.dtype
                assert (a._node, a._level, a._grad, a._base) == (None, 0, None, None)
    found = calls(x, y)
    if isinstance(found, rg.Tensor) and found is not y:  # it is a tensor like any other
        found.name = "kept"
        assert found.name == "kept"
        assert gc.is_tracked(found)


def test_what_is_called_otherwise_goes_the_slower_way():
    x, y = array(1, 2, 3), array(4, 5, 6)
    calls = begun(lambda x, y: x * y + x, x, y)
    wide, ints, column = array(1, 2, 3, 4), rg.asarray(np.array([1, 2, 3])), rg.asarray(np.ones((3, 1), np.float32))
    for given in ((wide, wide * 1), (x, ints), (x, array(1, 2, 3, dtype=np.float64)), (column, y), (x, x), (x, 2.0), (x, y._a)):
        assert np.array_equal(calls(*given), given[0] * given[1] + given[0])
        assert not calls.short
    assert np.array_equal(calls(x, y=y), x * y + x)
    assert not calls.short
    with pytest.raises(TypeError):
        calls(x)
    every = rg.asarray(np.arange(6, dtype=np.float32)[::2])
    assert np.array_equal(calls(every, y), every * y + every)  # in another order in memory: the same code
    assert calls.short
    assert calls(x, y).tolist() == [5, 12, 21]
    assert calls.short


def test_gradients_and_transforms_around_go_the_slower_way():
    x, y = array(1, 2, 3), array(4, 5, 6)
    calls = begun(lambda x, y: x * y, x, y)
    assert rg.grad(lambda z: rg.sum(calls(z, y)))(x).tolist() == [4, 5, 6]
    ones = [rg.asarray(np.ones((2, 3), np.float32)) for _ in range(2)]
    assert rg.vmap(calls)(*ones).tolist() == [[1] * 3] * 2
    assert jit(lambda a, b: calls(a, b) + 1)(x, y).tolist() == [5, 11, 19]
    with rg.no_grad():
        assert calls(x, y).tolist() == [4, 10, 18]
        assert not calls.short
    calls(x, y)
    assert calls.short


def test_tensors_that_want_gradients_or_have_some_go_the_slower_way():
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    calls = begun(lambda x, y: x * y, x, y)
    y.requires_grad_()
    found = calls(x, y)
    assert not calls.short
    found.sum().backward()
    assert y.grad.tolist() == [1, 2]
    y.requires_grad_(False)
    assert calls(x, y).tolist() == [3, 8]
    assert not calls.short  # it has a gradient
    y.grad = None
    calls(x, y)
    assert calls.short


def test_leaves_give_results_with_a_history():
    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0])
    calls = begun(lambda x, y: (x * y, [y + x]), x, y)
    for z in (x, torch.tensor([5.0, 6.0], requires_grad=True)):
        first, (second,) = calls(z, y)
        assert calls.short
        assert first.requires_grad
        assert not first.is_leaf
        assert [g.tolist() for g in torch.autograd.grad((first.sum(), second.sum()), z)] == [[4, 5]]
    assert calls(y, x)[0].tolist() == [3, 8]
    assert not calls.short  # the other one wants a gradient
    with torch.no_grad():
        assert not calls(x, y)[0].requires_grad
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    calls(x, y)[0].sum().backward()
    assert not calls.short
    assert seen == [[3, 4]]
    made = torch.tensor([1.0, 2.0], requires_grad=True) * 2
    found = calls(made, y)[0]
    assert not calls.short
    assert not found.is_leaf


class Holder:
    """What a function may read."""

    def __init__(self):
        self.factor, self.list, self.entries, self.tensor = 2.0, [1.0, 2.0], {"a": 1.0}, array(1, 1, 1)


def changes():
    def cell(h, cells):
        cells[0].cell_contents = 7.0

    def in_slot(h, cells):
        h.factor = 7.0

    def item(h, cells):
        h.list[1] = 7.0

    def longer(h, cells):
        h.list.append(7.0)

    def entry(h, cells):
        h.entries["a"] = 7.0

    def more(h, cells):
        h.entries["b"] = 7.0

    def less(h, cells):
        h.list.pop()

    def attribute(h, cells):
        h.other = 7.0

    def a_global(h, cells):
        globals()["SCALE"] = 7.0

    def tensors_dtype(h, cells):
        h.tensor._a = h.tensor._a.astype(np.float64)

    def tensors_shape(h, cells):
        h.tensor._a = h.tensor._a[:1]

    def another_tensor(h, cells):
        h.tensor = array(2, 2, 2)

    return [f for f in locals().values() if callable(f)]


@pytest.mark.parametrize("change", changes(), ids=lambda f: f.__name__)
def test_what_the_function_reads_is_looked_at(change):
    h, number = Holder(), 1.0

    def f(x):
        total = sum(h.list) + sum(h.entries.values()) + SCALE + number + getattr(h, "other", 0.0)
        return (x * h.factor + total) * h.tensor

    before, x = SCALE, array(1, 2, 3)
    calls = begun(f, x)
    try:
        change(h, f.__closure__[f.__code__.co_freevars.index("number") :])
        assert np.array_equal(calls(x), f(x))
        assert not calls.short
    finally:
        globals()["SCALE"] = before


def test_an_equal_number_that_is_another_object_is_looked_at_in_python():
    h = Holder()
    calls = begun(lambda x: x * h.factor, array(1, 2))
    h.factor = float("2.0")
    assert calls(array(1, 2)).tolist() == [2, 4]
    assert len(calls.f._versions) == 1
    h.factor = -2.0
    assert calls(array(1, 2)).tolist() == [-2, -4]


def test_tensors_from_outside_are_read_at_each_call():
    w = array(1, 2, 3)
    calls = begun(lambda x: x * w, array(1, 1, 1))
    w._a = np.array([7, 8, 9], np.float32)
    assert calls(array(1, 1, 2)).tolist() == [7, 8, 18]
    assert calls.short


def test_what_a_call_takes_is_given_back():
    x, y = array(1, 2, 3), array(4, 5, 6)
    calls = begun(lambda x, y: (x * y, [x], x + y), x, y)

    def counted():
        gc.collect()  # what earlier tests have left
        return [sys.getrefcount(z) for z in (x, y, x._a, y._a, x._a.dtype, rg.Tensor, shortcut.MISSED, tuple, np.ndarray)]

    before = counted()
    for _ in range(500):
        calls(x, y)
        calls.f._shortcuts[0][0](x, 2)
    assert all(abs(a - b) < 50 for a, b in zip(before, counted()))
    gc.collect()
    blocks = sys.getallocatedblocks()
    for _ in range(500):
        calls(x, y)
    gc.collect()
    assert abs(sys.getallocatedblocks() - blocks) < 200


def test_several_kinds_of_calls_have_a_shortcut_each():
    calls = Calls(lambda x: x + 1, dynamic=False)
    for _ in range(3):
        for n in range(1, 12):
            calls(array(*range(n)))
    short = []
    for n in range(1, 12):
        assert calls(array(*range(n))).tolist() == [k + 1 for k in range(n)]
        short.append(calls.short)
    assert sum(short) == 8


def test_a_size_that_comes_often_has_a_shortcut_from_then_on():
    calls = Calls(lambda x: x + 1)
    for n in (2, 3):
        for _ in range(pipeline.OFTEN + 2):
            assert calls(array(*range(n))).tolist() == [k + 1 for k in range(n)]
        assert calls.short


def test_threads_call_it_while_another_one_traces():
    x = array(1, 2, 3)
    calls = begun(lambda x: x * 2, x)
    wrong, done = [], threading.Event()

    def caller():
        while not done.is_set():
            if calls.f(x).tolist() != [2, 4, 6]:
                wrong.append(1)

    threads = [threading.Thread(target=caller) for _ in range(2)]
    for t in threads:
        t.start()
    for k in range(10):
        jit(lambda z, k=k: calls.f(z) + x * k)(x)
    done.set()
    for t in threads:
        t.join()
    assert not wrong


def test_threads_that_call_at_once_have_buffers_of_their_own():
    draw = np.random.default_rng(0).normal
    x, w = (rg.asarray(draw(size=shape).astype(np.float32)) for shape in ((1024, 64), (64, 64)))
    f = jit(lambda x, w: rg.sum(rg.tanh(rg.matmul(rg.tanh(rg.matmul(x, w)), w)), axis=1))
    expected, wrong = f(x, w)._a.tobytes(), []

    def caller():
        wrong.extend(1 for _ in range(30) if f(x, w)._a.tobytes() != expected)

    threads = [threading.Thread(target=caller) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_an_exception_in_compiled_code_is_the_functions_own():
    def f(x):
        return rg.cholesky(x) if hasattr(rg, "cholesky") else rg.linalg.cholesky(x)

    good, bad = rg.asarray(np.eye(2)), rg.asarray(-np.eye(2))
    calls = begun(f, good)
    with pytest.raises(Exception) as wanted:
        f(bad)
    with pytest.raises(type(wanted.value)):
        calls(bad)
    assert np.array_equal(calls(good), np.eye(2))


def test_a_dialects_call_looks_at_what_is_switched_on_around_it():
    x, w = torch.ones(2, 3), torch.ones(3, 2)
    f = torch.compile(lambda x, w: (torch.matmul(x, w), torch.ones(1)))
    row = f.row.counts

    def compiled():
        before = row["compiled_calls"]
        found = f(x, w)
        return [y.dtype for y in found], row["compiled_calls"] > before

    for _ in range(4):
        expected = compiled()
    assert expected == ([torch.float32] * 2, True)
    (short, _), = f._shortcuts
    assert short(x, w) is not shortcut.MISSED
    with torch.autocast("cpu"):
        assert short(x, w) is shortcut.MISSED
        assert compiled()[0][0] == torch.bfloat16
        with torch.autocast("cpu", enabled=False):
            assert short(x, w) is not shortcut.MISSED
            assert compiled() == expected
        assert compiled()[0][0] == torch.bfloat16
    assert compiled() == expected
    torch.set_default_dtype(torch.float64)
    try:
        assert short(x, w) is shortcut.MISSED
        assert compiled()[0][1] == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    with torch.inference_mode():
        assert short(x, w) is shortcut.MISSED
    seen = []
    hook = torch.nn.modules.module.register_module_forward_hook(lambda *given: seen.append(1))
    assert short(x, w) is shortcut.MISSED
    hook.remove()
    assert short(x, w) is not shortcut.MISSED
    assert compiled() == expected


def test_a_region_of_another_thread_is_its_own():
    x, w = torch.ones(2, 3), torch.ones(3, 2)
    f = torch.compile(torch.matmul)
    for _ in range(4):
        f(x, w)
    inside, done = threading.Event(), threading.Event()

    def other():
        with torch.autocast("cpu"):
            inside.set()
            done.wait()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    assert f(x, w).dtype == torch.float32
    done.set()
    thread.join()
    assert f(x, w).dtype == torch.float32
    assert f._shortcuts[0][0](x, w) is not shortcut.MISSED
