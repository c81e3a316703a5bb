"""Creation, shapes, indexing, reductions, order and sets of the namespace against the reference implementation."""

import itertools
from typing import Any

import numpy as np
import pytest

pytest.importorskip("array_api_strict", reason="the reference implementation is not installed")

import hypothesis.extra.numpy as hnp
from hypothesis import assume, given
from hypothesis import strategies as st

import retrograde as rg

from . import comparison as c

ANY_SHAPE = c.SHAPES
SOME = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4)
arrays = c.arrays(c.ALL, ANY_SHAPE, moderate=True)


def axis_for(data: Any, x: np.ndarray, *, none: bool = True, several: bool = True) -> Any:
    choices = [st.integers(-x.ndim, x.ndim - 1)] if x.ndim else []
    if none:
        choices.append(st.none())
    if several and x.ndim:
        choices.append(hnp.valid_tuple_axes(x.ndim))
    assume(choices)
    return data.draw(st.one_of(*choices))


# ------------------------------------------------------------------------------------------ creation


@c.few
@given(shape=ANY_SHAPE, dtype=st.sampled_from([None, *c.ALL]))
def test_filled(shape: tuple[int, ...], dtype: str | None) -> None:
    d = None if dtype is None else np.dtype(dtype)
    for name in ("zeros", "ones"):
        c.compare(lambda xp, d, name=name: getattr(xp, name)(shape, dtype=d), d)
    for number in (True, 3, 2.5, 1j):
        c.compare(lambda xp, d, number=number: xp.full(shape, number, dtype=d), d)
    assert rg.empty(shape, dtype=d).shape == shape


@c.few
@given(x=arrays, dtype=st.sampled_from([None, *c.ALL]))
def test_alike(x: np.ndarray, dtype: str | None) -> None:
    d = None if dtype is None else np.dtype(dtype)
    for name in ("zeros_like", "ones_like"):
        c.compare(lambda xp, x, d, name=name: getattr(xp, name)(x, dtype=d), x, d)
    c.compare(lambda xp, x, d: xp.full_like(x, 1, dtype=d), x, d)
    assert rg.empty_like(rg.asarray(x)).dtype == x.dtype


@c.many
@given(
    start=st.integers(-20, 20), stop=st.one_of(st.none(), st.integers(-20, 20)),
    step=st.sampled_from([1, 2, -3, 0.5, -1.5]), dtype=st.sampled_from([None, "int32", "float32", "float64"]),
)  # fmt: skip
def test_arange(start: int, stop: int | None, step: float, dtype: str | None) -> None:
    d = None if dtype is None else np.dtype(dtype)
    c.compare(lambda xp, d: xp.arange(start, stop, step, dtype=d), d)


@c.many
@given(start=st.floats(-9, 9), stop=st.floats(-9, 9), num=st.integers(0, 9), endpoint=st.booleans(),
       dtype=st.sampled_from([None, "float32", "complex64"]))  # fmt: skip
def test_linspace(start: float, stop: float, num: int, endpoint: bool, dtype: str | None) -> None:
    d = None if dtype is None else np.dtype(dtype)
    c.compare(lambda xp, d: xp.linspace(start, stop, num, endpoint=endpoint, dtype=d), d)


@c.few
@given(n=st.integers(0, 5), m=st.one_of(st.none(), st.integers(0, 5)), k=st.integers(-7, 7),
       dtype=st.sampled_from([None, *c.ALL]))  # fmt: skip
def test_eye(n: int, m: int | None, k: int, dtype: str | None) -> None:
    c.compare(lambda xp, d: xp.eye(n, m, k=k, dtype=d), None if dtype is None else np.dtype(dtype))


@c.few
@given(x=arrays, dtype=st.sampled_from([None, *c.ALL]), copy=st.sampled_from([None, True]))
def test_asarray(x: np.ndarray, dtype: str | None, copy: bool | None) -> None:
    d = None if dtype is None else np.dtype(dtype)
    if d is None or np.can_cast(x.dtype, d):
        c.compare(lambda xp, x, d: xp.asarray(x, dtype=d, copy=copy), x, d)
        c.compare(lambda xp, d: xp.asarray(x.tolist(), dtype=d), d)


def test_asarray_copies_where_asked() -> None:
    a = np.zeros(3)
    assert rg.asarray(a)._a is a
    copied = rg.asarray(a, copy=True)
    a[0] = 1
    assert copied[0] == 0
    x = rg.asarray(a)
    assert rg.asarray(x) is x
    y = rg.asarray(x, copy=True)
    x[1] = 5
    assert y[1] == 0
    with pytest.raises(ValueError, match="copy"):
        rg.asarray([1.0], copy=False)
    with pytest.raises(ValueError, match="copy"):
        rg.asarray(x, dtype=rg.float32, copy=False)


@c.few
@given(data=st.data())
def test_meshgrid(data: Any) -> None:
    dtype = data.draw(st.sampled_from(c.NUMERIC))
    given_ = data.draw(st.lists(c.arrays([dtype], hnp.array_shapes(min_dims=1, max_dims=1, max_side=3), moderate=True),
                                min_size=1, max_size=3))  # fmt: skip
    for indexing in ("xy", "ij"):
        c.compare(lambda xp, *xs, i=indexing: tuple(xp.meshgrid(*xs, indexing=i)), *given_)


@c.few
@given(
    x=c.arrays(c.ALL, hnp.array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=3), moderate=True),
    k=st.integers(-4, 4),
)
def test_triangles(x: np.ndarray, k: int) -> None:
    c.compare(lambda xp, x: (xp.tril(x, k=k), xp.triu(x, k=k)), x)


def test_dlpack() -> None:
    x = rg.asarray([1.0, 2.0])
    shared = np.from_dlpack(x)
    shared_back = rg.from_dlpack(x)
    x[0] = 7.0
    assert shared[0] == 7.0
    assert shared_back[0] == 7.0
    assert x.__dlpack_device__() == np.zeros(1).__dlpack_device__()
    with pytest.raises(BufferError):
        np.from_dlpack(rg.asarray([1.0], requires_grad=True))


# ------------------------------------------------------------------------------------------ shapes


@c.many
@given(data=st.data())
def test_reshape(data: Any) -> None:
    x = data.draw(arrays)
    fitting = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=12).filter(
        lambda s: np.prod(s, dtype=int) == x.size
    )
    shape = data.draw(fitting | st.just((x.size,)) | st.just((-1,) if x.size else (0,)))
    for copy in (None, True):
        c.compare(lambda xp, x, copy=copy: xp.reshape(x, shape, copy=copy), x)


@c.few
@given(data=st.data())
def test_axes(data: Any) -> None:
    x = data.draw(arrays)
    order = data.draw(st.permutations(range(x.ndim)))
    c.compare(lambda xp, x: xp.permute_dims(x, tuple(order)), x)
    axis = data.draw(st.integers(-x.ndim - 1, x.ndim))
    c.compare(lambda xp, x: xp.expand_dims(x, axis=axis), x)
    c.compare(lambda xp, x: xp.flip(x), x)
    if x.ndim:
        axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
        other = data.draw(st.integers(-x.ndim, x.ndim - 1))
        c.compare(lambda xp, x: xp.moveaxis(x, axis, other), x)
        c.compare(lambda xp, x: xp.flip(x, axis=axis), x)
        c.compare(lambda xp, x: xp.unstack(x, axis=axis), x)
        shift = data.draw(st.integers(-5, 5))
        c.compare(
            lambda xp, x: (xp.roll(x, shift), xp.roll(x, shift, axis=axis), xp.roll(x, (1, shift), axis=(axis, other))),
            x,
        )
        c.compare(lambda xp, x: xp.squeeze(x, axis=axis), x)
        c.compare(lambda xp, x: tuple(r for r in x), x)
    if x.ndim >= 2:
        c.compare(lambda xp, x: (x.mT, xp.matrix_transpose(x)), x)
    if x.ndim == 2:
        c.compare(lambda xp, x: x.T, x)


@c.few
@given(shapes=hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3), data=st.data())
def test_broadcast(shapes: Any, data: Any) -> None:
    xs = [data.draw(c.arrays(c.ALL, s, moderate=True)) for s in shapes.input_shapes]
    c.compare(lambda xp, *xs: tuple(xp.broadcast_arrays(*xs)), *xs)
    c.compare(lambda xp, x: xp.broadcast_to(x, shapes.result_shape), xs[0])


@c.few
@given(data=st.data())
def test_joining(data: Any) -> None:
    x = data.draw(c.arrays(c.ALL, SOME, moderate=True))
    near = [d for d in c.ALL if np.dtype(d).kind == x.dtype.kind]
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    shape = list(x.shape)
    shape[axis] = data.draw(st.integers(0, 3))
    y = data.draw(c.arrays(near, tuple(shape), moderate=True))
    c.compare(lambda xp, x, y: (xp.concat([x, y, x], axis=axis), xp.concat((x, y), axis=None)), x, y)
    z = data.draw(c.arrays(near, x.shape, moderate=True))
    c.compare(lambda xp, x, z: xp.stack([x, z], axis=axis), x, z)


@c.few
@given(data=st.data())
def test_repetition(data: Any) -> None:
    x = data.draw(arrays)
    reps = tuple(data.draw(st.lists(st.integers(0, 3), max_size=4)))
    c.compare(lambda xp, x: xp.tile(x, reps), x)
    count = data.draw(st.integers(0, 3))
    c.compare(lambda xp, x: xp.repeat(x, count), x)
    if x.ndim:
        axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
        counts = np.asarray(
            data.draw(st.lists(st.integers(0, 3), min_size=x.shape[axis], max_size=x.shape[axis])), np.int64
        )
        c.compare(lambda xp, x, n: (xp.repeat(x, count, axis=axis), xp.repeat(x, n, axis=axis)), x, counts)


@c.few
@given(data=st.data())
def test_diff(data: Any) -> None:
    x = data.draw(c.arrays(c.NUMERIC, SOME, moderate=True))
    axis, n = data.draw(st.integers(-x.ndim, x.ndim - 1)), data.draw(st.integers(0, 2))
    c.compare(lambda xp, x: (xp.diff(x, axis=axis, n=n), xp.diff(x, axis=axis, n=n, prepend=x, append=x)), x)


# ------------------------------------------------------------------------------------------ indexing


@c.many
@given(data=st.data())
def test_getitem(data: Any) -> None:
    x = data.draw(c.arrays(c.ALL, hnp.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=4), moderate=True))
    key = data.draw(hnp.basic_indices(x.shape, allow_newaxis=True))
    expected = x[key]
    found = rg.asarray(x)[key]
    np.testing.assert_array_equal(found.numpy(), expected)
    if isinstance(expected, np.ndarray):
        assert np.shares_memory(found.numpy(), x) == np.shares_memory(expected, x) or not expected.size


@c.many
@given(data=st.data())
def test_setitem(data: Any) -> None:
    x = data.draw(c.arrays(c.ALL, hnp.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=4), moderate=True))
    key = data.draw(hnp.basic_indices(x.shape, allow_newaxis=True))
    shape = np.shape(x[key])
    ones = data.draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    shape = tuple(1 if one else n for one, n in zip(ones, shape))[data.draw(st.integers(0, len(shape))):]
    new = data.draw(c.arrays([x.dtype.name], shape, moderate=True))
    assume(np.broadcast_shapes(new.shape, np.shape(x[key])) == np.shape(x[key]))
    number = data.draw(c.elements(x.dtype.name, moderate=True))
    for value in (new, number):
        expected = x.copy()
        expected[key] = value
        found = rg.asarray(x, copy=True)
        found[key] = rg.asarray(value) if isinstance(value, np.ndarray) else value
        np.testing.assert_array_equal(found.numpy(), expected)
        # The recorded way writes the same.
        if x.dtype.kind == "f":
            leaf = rg.asarray(x, requires_grad=True)
            recorded = leaf * 1
            recorded[key] = rg.asarray(value, dtype=x.dtype)
            np.testing.assert_array_equal(recorded.detach().numpy(), expected)
            kept = np.ones(x.shape)
            kept[key] = 0
            recorded.sum().backward()
            np.testing.assert_array_equal(leaf.grad.numpy(), kept)


@c.many
@given(data=st.data())
def test_index_arrays(data: Any) -> None:
    """Beyond the standard: NumPy's meaning of arrays, masks, integers and slices together."""
    x = data.draw(
        c.arrays(["float64"], hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=3), moderate=True)
    )
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    key: list[Any] = []
    axis, seen_mask = 0, False
    while axis < x.ndim:
        n = x.shape[axis]
        kind = data.draw(st.sampled_from(["array", "int", "slice", "none", "mask", "list", "stop"]))
        if kind == "stop":
            break
        if kind == "none":
            key.append(None)
            if len(key) > 6:
                break
            continue
        if kind == "mask":
            if seen_mask or shape not in ((), (1,)):
                continue
            seen_mask = True
            mask = np.zeros(n, bool)
            mask[data.draw(st.integers(0, n - 1))] = True
            key.append(mask)
        elif kind == "array":
            key.append(data.draw(hnp.arrays(np.int64, shape, elements=st.integers(-n, n - 1))))
        elif kind == "list":
            key.append(data.draw(hnp.arrays(np.int64, shape, elements=st.integers(-n, n - 1))).tolist())
        elif kind == "int":
            key.append(data.draw(st.integers(-n, n - 1)))
        else:
            key.append(data.draw(st.slices(n)))
        axis += 1
    if data.draw(st.booleans()):
        key.append(...)
    index = tuple(key)
    try:
        expected = x[index]
    except IndexError:
        assume(False)
    found = rg.asarray(x)[index]
    assert found.shape == expected.shape, index
    np.testing.assert_array_equal(found.numpy(), expected)
    tensors = tuple(rg.asarray(k) if isinstance(k, np.ndarray) else k for k in index)
    np.testing.assert_array_equal(rg.asarray(x)[tensors].numpy(), expected)
    leaf = rg.asarray(x, requires_grad=True)
    leaf[index].sum().backward()
    counts = np.zeros(x.shape)
    np.add.at(counts, index, 1.0)
    np.testing.assert_array_equal(leaf.grad.numpy(), counts)
    written = x.copy()
    written[index] = 5.0
    for target in (rg.asarray(x, copy=True), rg.asarray(x, requires_grad=True) * 1):
        target[index] = 5.0
        np.testing.assert_array_equal(target.detach().numpy(), written)


@pytest.mark.parametrize(
    "key", [(0, 0, 0), 5, (slice(None), -4), "a", 1.0, ([0, 7],), (..., ...), np.zeros((2, 2), bool), np.array([0.5])],
    ids=repr,
)  # fmt: skip
def test_index_errors(key: Any) -> None:
    x = rg.zeros((2, 3))
    with pytest.raises(IndexError):
        x[key]
    with pytest.raises(IndexError):
        x[key] = 1.0


def test_setitem_errors_leave_things_alone() -> None:
    x = rg.zeros(3, dtype=rg.int64)
    with pytest.raises(TypeError, match="int64"):
        x[0] = 1.5
    with pytest.raises(TypeError):
        x[0] = rg.asarray(1.5)
    with pytest.raises(ValueError):
        x[:2] = rg.asarray([1, 2, 3])
    assert not x.any()
    leaf = rg.asarray([1.0, 2.0], requires_grad=True)
    with pytest.raises(rg.GradError, match="leaf"):
        leaf[0] = 3.0
    with rg.no_grad():
        leaf[0] = 3.0
    assert leaf[0] == 3.0


@c.few
@given(data=st.data())
def test_take(data: Any) -> None:
    x = data.draw(c.arrays(c.ALL, SOME, moderate=True))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    n = x.shape[axis]
    indices = data.draw(hnp.arrays(np.int64, st.integers(0, 4), elements=st.integers(0, n - 1)))
    c.compare(lambda xp, x, i: xp.take(x, i, axis=axis), x, indices)
    shape = list(x.shape)
    shape[axis] = data.draw(st.integers(0, 4))
    along = data.draw(hnp.arrays(np.int64, tuple(shape), elements=st.integers(-n, n - 1)))
    c.compare(lambda xp, x, i: xp.take_along_axis(x, i, axis=axis), x, along)


# ------------------------------------------------------------------------------------------ reductions


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "max", "min", "all", "any", "count_nonzero"])
@c.few
@given(data=st.data())
def test_reduction(name: str, data: Any) -> None:
    x = data.draw(arrays)
    axis, keepdims = axis_for(data, x), data.draw(st.booleans())
    extra: dict[str, Any] = {}
    if name in ("var", "std"):
        extra["correction"] = data.draw(st.sampled_from([0.0, 0, 0.5]))
        assume(x.size)
    if name == "prod" and x.dtype.kind in "fc":
        x = np.clip(x.real, -2, 2).astype(x.dtype)
    c.compare(lambda xp, x: getattr(xp, name)(x, axis=axis, keepdims=keepdims, **extra), x)
    if name in ("sum", "prod"):
        dtype = data.draw(st.sampled_from(c.NUMERIC))
        if np.can_cast(x.dtype, dtype):
            c.compare(lambda xp, x, d: getattr(xp, name)(x, axis=axis, dtype=d), x, np.dtype(dtype))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@c.few
@given(data=st.data())
def test_scan(name: str, data: Any) -> None:
    x = data.draw(c.arrays(c.NUMERIC, SOME, moderate=True))
    if x.dtype.kind in "fc":
        x = np.clip(x.real, -2, 2).astype(x.dtype)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    initial = data.draw(st.booleans())
    c.compare(lambda xp, x: getattr(xp, name)(x, axis=axis, include_initial=initial), x)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@c.few
@given(data=st.data())
def test_position(name: str, data: Any) -> None:
    x = data.draw(c.arrays(c.INTEGERS + c.REALS, SOME, moderate=True))
    axis, keepdims = axis_for(data, x, several=False), data.draw(st.booleans())
    c.compare(lambda xp, x: getattr(xp, name)(x, axis=axis, keepdims=keepdims), x)


# ------------------------------------------------------------------------------------------ order, positions, sets


@c.few
@given(data=st.data())
def test_sort(data: Any) -> None:
    x = data.draw(c.arrays(c.INTEGERS + c.REALS, SOME, moderate=True))
    axis, descending = data.draw(st.integers(-x.ndim, x.ndim - 1)), data.draw(st.booleans())
    c.compare(
        lambda xp, x: (xp.sort(x, axis=axis, descending=descending), xp.argsort(x, axis=axis, descending=descending)), x
    )


@c.few
@given(data=st.data())
def test_searchsorted(data: Any) -> None:
    x = np.sort(data.draw(c.arrays(c.INTEGERS + c.REALS, st.integers(1, 6), moderate=True)))
    v = data.draw(c.arrays([x.dtype.name], ANY_SHAPE, moderate=True))
    order = np.asarray(data.draw(st.permutations(range(len(x)))))
    shuffled = np.empty_like(x)
    shuffled[order] = x
    for side in ("left", "right"):
        c.compare(lambda xp, x, v, side=side: xp.searchsorted(x, v, side=side), x, v)
        c.compare(lambda xp, x, v, s, side=side: xp.searchsorted(x, v, side=side, sorter=s), shuffled, v, order)


@c.few
@given(x=c.arrays(c.ALL, SOME, moderate=True))
def test_positions(x: np.ndarray) -> None:
    c.compare(lambda xp, x: xp.nonzero(x), x)


@c.few
@given(x=c.arrays(c.ALL, ANY_SHAPE, moderate=True))
def test_sets(x: np.ndarray) -> None:
    c.compare(lambda xp, x: (xp.unique_all(x), xp.unique_counts(x), xp.unique_inverse(x), xp.unique_values(x)), x)


def test_every_nan_is_distinct() -> None:
    found = rg.unique_all(rg.asarray([np.nan, 1.0, np.nan]))
    assert found.values.shape == (3,)
    assert found.counts.tolist() == [1, 1, 1]


# ------------------------------------------------------------------------------------------ dtypes


@c.few
@given(x=arrays, dtype=st.sampled_from(c.ALL), copy=st.booleans())
def test_astype(x: np.ndarray, dtype: str, copy: bool) -> None:
    c.compare(lambda xp, x, d: xp.astype(x, d, copy=copy), x, np.dtype(dtype))


@pytest.mark.parametrize(("x", "y"), list(itertools.product(c.ALL, c.ALL)))
def test_promotion(x: str, y: str) -> None:
    from .comparison import strict

    try:
        expected = strict.result_type(getattr(strict, x), getattr(strict, y))
    except TypeError:
        expected = None
    if expected is not None:
        assert rg.result_type(getattr(rg, x), getattr(rg, y)) == np.dtype(str(expected).rpartition(".")[2])
        assert (rg.zeros(2, dtype=getattr(rg, x)) == rg.zeros(2, dtype=getattr(rg, y))).all()
    assert rg.can_cast(getattr(rg, x), getattr(rg, y)) == np.can_cast(x, y)


@pytest.mark.parametrize("name", c.ALL)
def test_dtype_info(name: str) -> None:
    from .comparison import strict

    ours, theirs = getattr(rg, name), getattr(strict, name)
    for kind in (
        "bool",
        "signed integer",
        "unsigned integer",
        "integral",
        "real floating",
        "complex floating",
        "numeric",
    ):
        assert rg.isdtype(ours, kind) == strict.isdtype(theirs, kind)
    assert rg.isdtype(ours, (rg.bool, ours))
    if name in c.FLOATS:
        found, expected = rg.finfo(ours), strict.finfo(theirs)
        for field in ("bits", "eps", "max", "min", "smallest_normal"):
            assert getattr(found, field) == getattr(expected, field)
            assert type(getattr(found, field)) in (int, float)
    if name in c.INTEGERS:
        assert rg.iinfo(ours).max == strict.iinfo(theirs).max


def test_bfloat16() -> None:
    x = rg.asarray([1.0, 2.0], dtype=rg.bfloat16)
    assert rg.isdtype(x.dtype, "real floating")
    assert (x * 2.5).dtype == rg.bfloat16
    assert rg.result_type(x, 1.5) == rg.bfloat16
    assert rg.finfo(rg.bfloat16).bits == 16
