"""The random stream draws what PyTorch drew: figures recorded by record_streams.py, no PyTorch needed."""

import base64
import copy
import hashlib
import importlib
import json
import math
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

Stream = importlib.import_module("retrograde.dialects.torch._stream").Stream
generated = importlib.import_module("retrograde.dialects.torch._stream_code")
llvm = importlib.import_module("retrograde.backend.jit.llvm")
HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "data" / "streams.json").read_text())
Draw = Callable[[Any, int, np.dtype[Any]], np.ndarray[Any, Any]]


@pytest.fixture(autouse=True, params=["numpy", "generated"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test runs on NumPy's functions and on generated code."""
    if request.param == "generated":
        monkeypatch.setattr(generated, "_available", None)
        if not generated.ready(nanoseconds=llvm.LOADING):
            pytest.skip("needs llvmlite and a processor with AVX2 and FMA")
    else:
        monkeypatch.setattr(generated, "_available", False)
    return request.param


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def weights(size: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    return ((np.arange(size) * 7 + 3) % 11 / 11).astype(dtype)


def rrelu(s: Any, n: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    x = weights(n, dtype) - dtype.type(0.5)
    return x * s.rrelu_slopes(x <= 0, 0.1, 0.3, dtype)


DRAWS: dict[str, Draw] = {
    "uniform": lambda s, n, d: s.uniform(n, dtype=d),
    "uniform range": lambda s, n, d: s.uniform(n, -0.3, 2.7, d),
    "normal": lambda s, n, d: s.normal(n, dtype=d),
    "normal scaled": lambda s, n, d: s.normal(n, 0.1, 0.3, d),
    "normal strided": lambda s, n, d: s.normal(n, 0.1, 0.3, d, contiguous=n < 2),
    "normal each": lambda s, n, d: s.normal_each(weights(n, d), weights(n, d) + d.type(0.5)),
    "randint": lambda s, n, d: s.randint(n, 3, 100, d),
    "randint wide": lambda s, n, d: s.randint(n, -(2**40), 2**50, d),
    "random": lambda s, n, d: s.random(n, d),
    "permutation": lambda s, n, d: s.permutation(n, d),
    "bernoulli": lambda s, n, d: s.bernoulli(n, 0.3, d),
    "bernoulli each": lambda s, n, d: s.bernoulli_each(weights(n, d)),
    "dropout": lambda s, n, d: s.dropout_keep(n, 0.3),
    "dropout features": lambda s, n, d: s.dropout_keep((2, n, 1, 1), 0.3, features=True),
    "exponential": lambda s, n, d: s.exponential(n, 2.5, d),
    "geometric": lambda s, n, d: s.geometric(n, 0.01, d),
    "cauchy": lambda s, n, d: s.cauchy(n, 0.3, 1.7, d),
    "log_normal": lambda s, n, d: s.log_normal(n, 0.2, 0.3, d),
    "rrelu": rrelu,
    "multinomial": lambda s, n, d: s.multinomial(weights(2 * n, d).reshape(2, -1), 9),
    "multinomial one": lambda s, n, d: s.multinomial(weights(n, d), 1),
    "multinomial replaced": lambda s, n, d: s.multinomial(weights(2 * n, d).reshape(2, -1), 500, True),
    "poisson": lambda s, n, d: s.poisson(weights(n, d) * d.type(40)),
    "binomial": lambda s, n, d: s.binomial(weights(n, d) * d.type(110), weights(n, d)),
    "gamma": lambda s, n, d: s.standard_gamma(weights(n, d) * d.type(3)),
    "dirichlet": lambda s, n, d: s.dirichlet(weights(6 * n, d).reshape(-1, 6) * d.type(3)),
}
# Draws that call the platform's log, sin, tan or pow may differ elsewhere in the last bits; all others may not.
THROUGH_LIBM = {"exponential", "cauchy", "log_normal", "gamma", "dirichlet", "normal strided", "normal each"}


def through_libm(case: dict[str, Any]) -> bool:
    reals = case["size"] * (2 if case["dtype"].startswith("complex") else 1)
    double = case["dtype"] in ("float64", "complex128")
    return case["draw"] in THROUGH_LIBM or (case["draw"].startswith("normal") and (double or reals < 16))


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda c: f"{c['draw']}-{c['dtype']}-{c['size']}")
def test_draws_what_pytorch_drew(case: dict[str, Any]) -> None:
    s = Stream(case["seed"])
    values = DRAWS[case["draw"]](s, case["size"], dtype_of(case["dtype"]))
    assert list(values.shape) == case["shape"]
    flat = values.ravel()
    expected = np.frombuffer(base64.b64decode(case["ends"]), values.dtype)
    ends = np.concatenate((flat[:4], flat[-4:]))
    if through_libm(case):
        wide = np.complex128 if values.dtype.kind == "c" else np.float64
        eps = float(ml_dtypes.finfo(values.dtype).eps)
        np.testing.assert_allclose(ends.astype(wide), expected.astype(wide), rtol=8 * eps, atol=8 * eps)
    else:
        np.testing.assert_array_equal(ends, expected)
        assert hashlib.sha256(flat.tobytes()).hexdigest()[:16] == case["digest"]
    assert bool(s.get_state()[5040]) == case["spare"], "the spare normal"
    assert s.uniform(1)[0] == np.float32(case["next"]), "the words consumed"


def test_reads_and_writes_pytorchs_state() -> None:
    raw = np.frombuffer(base64.b64decode(RECORDED["state"]), np.uint8)
    s = Stream(7)
    s.normal(3)
    state = s.get_state()
    spare = slice(5024, 5032)
    np.testing.assert_array_equal(np.delete(state, spare), np.delete(raw, spare))
    np.testing.assert_allclose(state[spare].view(np.float64), raw[spare].view(np.float64), rtol=1e-15)

    expected = np.frombuffer(base64.b64decode(RECORDED["after state"]), np.float32)
    restored = Stream(1).set_state(raw)
    np.testing.assert_array_equal(restored.get_state(), raw)
    assert restored.initial_seed() == 7
    drawn = np.concatenate((restored.normal(2), restored.uniform(700), restored.normal(17)))
    np.testing.assert_array_equal(drawn, expected)


@pytest.mark.parametrize("words", [0, 1, 623, 624, 625, 2000])
def test_state_restores_at_any_word(words: int) -> None:
    s = Stream(2**64 - 1)
    s.uniform(words)
    state = s.get_state()
    expected = s.uniform(700)
    np.testing.assert_array_equal(Stream(0).set_state(state).uniform(700), expected)
    np.testing.assert_array_equal(Stream(0).set_state(state).get_state(), state)


@pytest.mark.parametrize("again", [lambda s: s.clone(), copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_copy_continues_on_its_own(again: Callable[[Any], Any]) -> None:
    s = Stream(3)
    s.normal(5)
    other = again(s)
    expected = s.normal(5)
    s.uniform(10)
    np.testing.assert_array_equal(other.normal(5), expected)


def test_generated_code_takes_over_in_the_middle(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def draws(s: Any) -> Any:
        yield s.uniform(100)
        yield s.normal(1003)
        if way == "generated":
            monkeypatch.setattr(generated, "_available", True)
        yield s.bernoulli(3001, 0.3)
        yield s.permutation(5001)
        yield s.get_state()
        yield s.normal(777, 1.5, 0.3)
        yield s.uniform(999, dtype=np.float64)
        yield s.clone().uniform(7)

    monkeypatch.setattr(generated, "_available", False)
    found = list(draws(Stream(4)))
    monkeypatch.setattr(generated, "_available", False)
    way = "numpy"
    for x, y in zip(found, draws(Stream(4)), strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("read", [False, True])
def test_generated_code_comes_when_it_pays(monkeypatch: pytest.MonkeyPatch, read: bool) -> None:
    """Sooner where it may lie on the disk."""
    monkeypatch.setattr(generated, "_available", None)
    monkeypatch.setattr(llvm, "_spent", 0)
    monkeypatch.setattr(llvm, "_read", lambda: read)
    monkeypatch.delitem(sys.modules, "llvmlite.binding", raising=False)
    assert not generated.ready(nanoseconds=(llvm.READING if read else llvm.LOADING) - 1)
    assert generated._available is None
    generated.ready(1)
    assert generated._available is not None


def test_seeds() -> None:
    assert Stream().initial_seed() == 67280421310721
    assert Stream(-1).initial_seed() == 2**64 - 1
    s = Stream(5)
    assert s.manual_seed(2**63) is s
    assert s.initial_seed() == 2**63
    chosen = s.seed()
    assert s.initial_seed() == chosen
    np.testing.assert_array_equal(s.uniform(3), Stream(chosen).uniform(3))
    np.testing.assert_array_equal(Stream(2**32 + 5).uniform(3), Stream(5).uniform(3))  # 32 bits seed the twister


def test_spare_normal_crosses_dtypes_and_is_dropped_by_seeding() -> None:
    pair = Stream(9).normal(2, dtype=np.float64)
    s = Stream(9)
    assert s.normal((), dtype=np.float32) == np.float32(pair[0])
    s.normal(100)  # the block path leaves the spare alone
    assert s.normal((), dtype=np.float64) == pair[1]
    s.normal(1)
    s.manual_seed(9)
    assert s.normal(1, dtype=np.float64)[0] == pair[0]


def test_long_permutations_match_the_swapping_loop() -> None:
    for n in (3000, 5001):
        s, t = Stream(n), Stream(n)
        order = list(range(n))
        for i, word in enumerate(t._take(n - 1).tolist()):
            j = i + word % (n - i)
            order[i], order[j] = order[j], order[i]
        assert s.permutation(n).tolist() == order


def test_excluded_end_is_never_drawn() -> None:
    drawn = Stream(0).uniform(100_000, 0.0, 1.0, ml_dtypes.bfloat16)
    assert drawn.max() < 1
    assert (drawn == 0).sum() > 100  # what rounds to 1 becomes 0, as in PyTorch


def test_shapes_and_empty_draws() -> None:
    s = Stream(0)
    assert s.normal(()).shape == ()
    assert s.randint((2, 0, 3), 0, 5).shape == (2, 0, 3)
    assert s.multinomial(np.ones((0, 4)), 3, True).shape == (0, 3)
    assert s.normal((0, 4)).shape == (0, 4)
    assert s.poisson(np.ones((0, 2), np.float32)).shape == (0, 2)


def test_dropout_draws_nothing_at_the_extremes() -> None:
    s = Stream(0)
    assert s.dropout_keep(4, 0.0).all()
    assert not s.dropout_keep(4, 1.0).any()
    assert s.dropout_keep((4, 6, 5, 5), 0.5, features=True).shape == (4, 6, 1, 1)
    np.testing.assert_array_equal(s.clone().uniform(1), s.uniform(1))


def test_gumbel_is_minus_log_of_exponentials() -> None:
    e = Stream(4).exponential(50)
    np.testing.assert_array_equal(Stream(4).gumbel(50), -np.log(e))


def test_strided_targets_fill_in_storage_order() -> None:
    axes = importlib.import_module("retrograde.dialects.torch._stream").storage_axes
    assert axes((1, 20)) == (1, 0)
    assert axes((60, 1, 15)) == (0, 2, 1)
    assert axes(()) == ()


def test_threads_share_a_stream_without_repeats() -> None:
    s = Stream(11)
    drawn: list[np.ndarray[Any, Any]] = []

    def work() -> None:
        for _ in range(50):
            drawn.append(s.uniform(337, dtype=np.float64))  # noqa: PERF401 - one draw and one append at a time

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = Stream(11).uniform(4 * 50 * 337, dtype=np.float64)
    np.testing.assert_array_equal(np.sort(np.concatenate(drawn)), np.sort(expected))


NAN, INF = math.nan, math.inf
ONE = np.ones(1, np.float32)
REFUSED: list[tuple[str, Callable[[Any], Any], type[Exception]]] = [
    ("seed", lambda s: s.manual_seed(2**64), ValueError),
    ("seed", lambda s: s.manual_seed(-(2**63) - 1), ValueError),
    ("state", lambda s: s.set_state(np.zeros(5056, np.uint8)), RuntimeError),
    ("state", lambda s: s.set_state(np.zeros(10, np.uint8)), RuntimeError),
    ("state", lambda s: s.set_state(np.zeros(5056)), TypeError),
    ("shape", lambda s: s.uniform((2, -1)), RuntimeError),
    ("low", lambda s: s.uniform(3, 1, 0), RuntimeError),
    ("low", lambda s: s.uniform(3, NAN, 1), RuntimeError),
    ("high", lambda s: s.uniform(3, 0, INF), RuntimeError),
    ("high", lambda s: s.uniform(3, 0, 70000, np.float16), RuntimeError),
    ("interval", lambda s: s.uniform(3, -40000, 40000, np.float16), RuntimeError),
    ("dtype", lambda s: s.uniform(3, dtype=np.int64), NotImplementedError),
    ("std", lambda s: s.normal(3, 0, -1), RuntimeError),
    ("std", lambda s: s.normal(3, 0, NAN), RuntimeError),
    ("std", lambda s: s.normal_each(ONE, -ONE), RuntimeError),
    ("broadcast", lambda s: s.normal_each(np.ones(2), np.ones(3)), RuntimeError),
    ("dtype", lambda s: s.normal(3, dtype=np.int64), NotImplementedError),
    ("std", lambda s: s.log_normal(3, 0, 0), RuntimeError),
    ("rate", lambda s: s.exponential(3, 0), RuntimeError),
    ("dtype", lambda s: s.exponential(3, dtype=np.int64), RuntimeError),
    ("sigma", lambda s: s.cauchy(3, 0, 0), RuntimeError),
    ("lower", lambda s: s.rrelu_slopes(ONE < 0, 0.5, 0.1), RuntimeError),
    ("low", lambda s: s.randint(3, 5, 5), RuntimeError),
    ("high", lambda s: s.randint(3, 0, 2**63), ValueError),
    ("high - 1", lambda s: s.randint(3, 0, 129, np.int8), RuntimeError),
    ("dtype", lambda s: s.randint(3, 0, 9, np.complex64), RuntimeError),
    ("low", lambda s: s.random(3, np.uint8, -3), RuntimeError),
    ("dtype", lambda s: s.random(3, np.uint16), NotImplementedError),
    ("n is -1", lambda s: s.permutation(-1), RuntimeError),
    ("n is 257", lambda s: s.permutation(257, np.uint8), RuntimeError),
    ("n is 2050", lambda s: s.permutation(2050, np.float16), RuntimeError),
    ("dtype", lambda s: s.permutation(3, np.bool_), NotImplementedError),
    ("p is", lambda s: s.bernoulli(3, 1.1), RuntimeError),
    ("p is", lambda s: s.bernoulli(3, NAN), RuntimeError),
    ("p has", lambda s: s.bernoulli_each(2 * ONE), RuntimeError),
    ("dtype", lambda s: s.bernoulli_each(np.ones(2, np.int64)), NotImplementedError),
    ("p is", lambda s: s.dropout_keep(3, 1.5), ValueError),
    ("channel", lambda s: s.dropout_keep(3, 0.5, features=True), RuntimeError),
    ("p is", lambda s: s.geometric(3, 1.0), RuntimeError),
    ("dimensions", lambda s: s.multinomial(np.float32(1), 1), RuntimeError),
    ("dtype", lambda s: s.multinomial(np.ones(2, np.int64), 1), RuntimeError),
    ("count", lambda s: s.multinomial(ONE, 0), RuntimeError),
    ("replacement", lambda s: s.multinomial(ONE, 2), RuntimeError),
    ("probs", lambda s: s.multinomial(-ONE, 1), RuntimeError),
    ("probs", lambda s: s.multinomial(ONE * INF, 1, True), RuntimeError),
    ("sums to 0", lambda s: s.multinomial(0 * ONE, 1), RuntimeError),
    ("rates", lambda s: s.poisson(-ONE), RuntimeError),
    ("dtype", lambda s: s.poisson(np.ones(1, np.int64)), NotImplementedError),
    ("dtype", lambda s: s.binomial(np.ones(1, np.int64), ONE), ValueError),
    ("broadcast", lambda s: s.binomial(np.ones(2), np.ones(3)), RuntimeError),
    ("one dtype", lambda s: s.binomial(np.ones(1), ONE), RuntimeError),
    ("alpha", lambda s: s.standard_gamma(np.ones(1, np.int64)), NotImplementedError),
    ("alpha", lambda s: s.dirichlet(np.ones(1, np.int64)), NotImplementedError),
]


@pytest.mark.parametrize(("message", "call", "error"), REFUSED)
def test_refuses_before_drawing(message: str, call: Callable[[Any], Any], error: type[Exception]) -> None:
    s = Stream(0)
    with pytest.raises(error, match=message):
        call(s)
    np.testing.assert_array_equal(s.get_state(), Stream(0).get_state())


def test_warns_where_a_float_skips_integers() -> None:
    with pytest.warns(UserWarning, match="high - 1 is 2049"):
        assert Stream(0).randint(50, 0, 2050, np.float16).max() <= 2048


def test_recorded_figures_hold_for_the_installed_pytorch() -> None:
    python = os.environ.get("RETROGRADE_TORCH_PYTHON")
    if python is None:
        python = sys.executable  # asked itself: in this process another test may have activated the dialect
        if subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode:
            pytest.skip("PyTorch is not installed; RETROGRADE_TORCH_PYTHON may name an interpreter that has it")
    run = subprocess.run(
        [python, str(HERE / "record_streams.py")], capture_output=True, text=True, timeout=120, check=True
    )
    assert json.loads(run.stdout)["cases"] == RECORDED["cases"]


def test_a_mark_is_gone_back_to_any_number_of_times(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    s = Stream(3)
    s.normal(5)
    before, mark = s.get_state(), s.mark()
    for count in (0, 7, 2000):  # nothing drawn, some of the block, several blocks
        first = s.uniform(count)
        s.back_to(mark)
        np.testing.assert_array_equal(s.get_state(), before)
        np.testing.assert_array_equal(s.uniform(count), first)
        s.back_to(mark)
    monkeypatch.setattr(generated, "_available", False)  # a mark of one way holds for the other
    wanted = s.normal(3000)
    other = Stream(9)
    other.back_to(mark)
    np.testing.assert_array_equal(other.normal(3000), wanted)
    s.manual_seed(4)
    s.mark()
    s.manual_seed(5)
    np.testing.assert_array_equal(s.mark() and s.uniform(9), Stream(5).uniform(9))


@pytest.mark.parametrize("span", [1, 2, 3, 7, 1000, 65537, (1 << 28) - 1])
def test_remainders_are_those_of_whole_numbers(span: int) -> None:
    words = np.concatenate([np.arange(20), 2**32 - 1 - np.arange(20), Stream(1)._take(500), np.arange(9) * span])
    words = words.astype(np.uint32)
    for n in (0, 1, 7, 8, 9, len(words)):
        found = generated.remainders(words[:n], -5, span)
        assert found.tolist() == [int(w) % span - 5 for w in words[:n]]


def test_where_a_stream_is_is_asked_of_its_engine_once_and_set_when_it_draws():
    """To ask takes 70 us and to set 90, which a compiled step that draws a few numbers had three times."""

    class Counting:
        def __init__(self, engine):
            self.engine, self.calls = engine, []

        def __getattr__(self, name):
            def call(*args, **kwargs):
                self.calls.append(name)
                return getattr(self.engine, name)(*args, **kwargs)

            return call

    stream = Stream(5)
    stream.uniform(3)
    stream._engine = counting = Counting(stream._engine)
    state, mark = stream.get_state(), stream.mark()
    assert counting.calls == (["get_state"] if stream._words is None else [])  # else generated code holds it
    stream.uniform(1000)  # past the block
    ahead, later = stream.get_state(), stream.mark()
    counting.calls.clear()
    for _ in range(3):
        stream.back_to(mark)
        assert (stream.get_state() == state).all()
        stream.back_to(later)
    assert counting.calls == []
    for at, wanted in ((mark, state), (later, ahead), (mark, state)):
        stream.back_to(at)
        other = Stream().set_state(wanted)
        for count in (2, 700, 1, 1300):
            assert (stream.uniform(count) == other.uniform(count)).all()
        assert (stream.get_state() == other.get_state()).all()
        assert (Stream.at(at).uniform(900) == Stream().set_state(wanted).uniform(900)).all()
