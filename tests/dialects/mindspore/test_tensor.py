"""`Tensor`, `Parameter`, dtypes and settings: construction, both print forms, operators; recorded from MindSpore 2.10."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Parameter, ParameterTuple, Tensor, nn, ops

# fmt: off
RECORDED: list[tuple[str, Any]] = [
    ('Tensor(3)', 'Tensor(shape=[], dtype=Int64, value= 3)'),
    ('Tensor(True)', 'Tensor(shape=[], dtype=Bool, value= True)'),
    ('Tensor(2.5)', 'Tensor(shape=[], dtype=Float32, value= 2.5)'),
    ('Tensor(1e-5)', 'Tensor(shape=[], dtype=Float32, value= 1e-05)'),
    ('Tensor(123456789.0)', 'Tensor(shape=[], dtype=Float32, value= 1.23457e+08)'),
    ("Tensor(float('nan'))", 'Tensor(shape=[], dtype=Float32, value= nan)'),
    ('Tensor(5,ms.uint8)', 'Tensor(shape=[], dtype=UInt8, value= 5)'),
    ('Tensor([])', 'Tensor(shape=[0], dtype=Float32, value= )'),
    ('Tensor(np.zeros((0,3),np.float32))', 'Tensor(shape=[0, 3], dtype=Float32, value=\n)'),
    ('Tensor(np.arange(2000))',
     'Tensor(shape=[2000], dtype=Int64, value= [   0,    1,    2 ... 1997, 1998, 1999])'),
    ('Tensor(np.arange(26))',
     ('Tensor(shape=[26], dtype=Int64, value= [ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13,'
      ' 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, \n'
      ' 24, 25])')),
    ('Tensor(np.arange(14).astype(np.float32))',
     ('Tensor(shape=[14], dtype=Float32, value= [ 0.00000000e+00,  1.00000000e+00,  2.00000000e+00,  3'
      '.00000000e+00,  4.00000000e+00,  5.00000000e+00,  6.00000000e+00,  7.00000000e+00,  8.00000000e'
      '+00,  9.00000000e+00,  1.00000000e+01,  1.10000000e+01, \n'
      '  1.20000000e+01,  1.30000000e+01])')),
    ('Tensor(np.arange(14).reshape(2,7))',
     ('Tensor(shape=[2, 7], dtype=Int64, value=\n'
      '[[ 0,  1,  2 ...  4,  5,  6],\n'
      ' [ 7,  8,  9 ... 11, 12, 13]])')),
    ('Tensor(np.arange(16).reshape(8,2))',
     ('Tensor(shape=[8, 2], dtype=Int64, value=\n'
      '[[ 0,  1],\n'
      ' [ 2,  3],\n'
      ' [ 4,  5],\n'
      ' ...\n'
      ' [10, 11],\n'
      ' [12, 13],\n'
      ' [14, 15]])')),
    ('Tensor(np.arange(32).reshape(8,2,2))',
     ('Tensor(shape=[8, 2, 2], dtype=Int64, value=\n'
      '[[[ 0,  1],\n'
      '  [ 2,  3]],\n'
      ' [[ 4,  5],\n'
      '  [ 6,  7]],\n'
      ' [[ 8,  9],\n'
      '  [10, 11]],\n'
      ' ...\n'
      ' [[20, 21],\n'
      '  [22, 23]],\n'
      ' [[24, 25],\n'
      '  [26, 27]],\n'
      ' [[28, 29],\n'
      '  [30, 31]]])')),
    ('Tensor(np.arange(13)%2>0)',
     ('Tensor(shape=[13], dtype=Bool, value= [False,  True, False,  True, False,  True, False,  True, '
      'False,  True, False,  True, \n'
      ' False])')),
    ('Tensor([1+2j,3.5-1j])', 'Tensor(shape=[2], dtype=Complex128, value= [1+2j, 3.5-1j])'),
    ('Tensor([1.5,2],ms.bfloat16)', 'Tensor(shape=[2], dtype=BFloat16, value= [1.5,   2])'),
    ('Tensor([1.0,2.5],ms.float16)', 'Tensor(shape=[2], dtype=Float16, value= [ 1.0000e+00,  2.5000e+00])'),
    ('Tensor([[True],[False]])', 'Tensor(shape=[2, 1], dtype=Bool, value=\n[[ True],\n [False]])'),
    ('Tensor(np.array([1e10,-1e-10]))',
     'Tensor(shape=[2], dtype=Float64, value= [ 1.00000000e+10, -1.00000000e-10])'),
    ("Tensor([float('nan'),float('inf'),-1.0])",
     'Tensor(shape=[3], dtype=Float32, value= [            nan,             inf, -1.00000000e+00])'),
    ('Tensor([1,2.5])', 'Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.50000000e+00])'),
    ('Tensor((1,2,3))', 'Tensor(shape=[3], dtype=Int64, value= [1, 2, 3])'),
    ('Tensor([Tensor(1.0),Tensor(2.0)])',
     'Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])'),
    ('Tensor([np.float32(1),2.0])', 'Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])'),
    ('Tensor(np.float64(1))', 'Tensor(shape=[], dtype=Float64, value= 1)'),
    ('Tensor([1,True])', 'Tensor(shape=[2], dtype=Int64, value= [1, 1])'),
    ('Tensor(Tensor([1.0]),ms.int32)', 'Tensor(shape=[1], dtype=Int32, value= [1])'),
    ('Tensor([1.5],ms.int32)', 'Tensor(shape=[1], dtype=Int32, value= [1])'),
    ("Tensor('a')", TypeError),
    ('Tensor(None)', TypeError),
    ('Tensor()', TypeError),
    ('Tensor([[1,2],[3]])', TypeError),
    ('Tensor(range(3))', TypeError),
    ('Tensor({1:2})', TypeError),
    ('Tensor([1,2],float)', TypeError),
    ('Tensor([1,2],"float32")', TypeError),
    ('Tensor(3, shape=(2,2))', ValueError),
    ('str(Tensor([True,False]))', "'[ True False]'"),
    ('str(Tensor(0.1))', "'0.1'"),
    ('str(Tensor(1e6))', "'1000000.0'"),
    ('str(Tensor(1e-4))', "'1e-04'"),
    ('str(Tensor(123456789.0))', "'123456790.0'"),
    ('str(Tensor(np.arange(2000.)))', "'[0.000e+00 1.000e+00 2.000e+00 ... 1.997e+03 1.998e+03 1.999e+03]'"),
    ('str(Tensor([1.5,2],ms.bfloat16))', "'[1.500000 2.000000]'"),
    ("str(Tensor([float('nan'),1e-10]))", "'[   nan 1.e-10]'"),
    ('Tensor([1.0]).tolist()', '[1.0]'),
    ('Tensor([2.5]).item()', '2.5'),
    ('Tensor([1.0,2.0]).item()', ValueError),
    ('Tensor([[1.,2.]]).strides', '(8, 4)'),
    ('Tensor([[1.,2.]]).nbytes', '8'),
    ('Tensor([1.,2.]).itemset(1, 5)',
     'Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  5.00000000e+00])'),
    ('Tensor([1.,2.]).itemset(5)', IndexError),
    ('len(Tensor(1.0))', TypeError),
    ('bool(Tensor([1.0,2.0]))', ValueError),
    ('int(Tensor(3.9))', '3'),
    ('float(Tensor([1.5]))', '1.5'),
    ('[1,2,3][Tensor(1)]', '2'),
    ('[1,2,3][Tensor(1.0)]', ValueError),
    ('list(Tensor(1.0))', TypeError),
    ('round(Tensor(1.6))', 'Tensor(shape=[], dtype=Float32, value= 2)'),
    ('~Tensor([1])', 'Tensor(shape=[1], dtype=Bool, value= [False])'),
    ('Tensor([1]) & Tensor([3])', 'Tensor(shape=[1], dtype=Int64, value= [1])'),
    ('Tensor([1]) << 1', TypeError),
    ('-Tensor([True])', TypeError),
    ('Tensor([1.]) == None', 'False'),
    ("Tensor([1.]) != 'a'", 'True'),
    ('Tensor([1.]) == [1.]', 'False'),
    ('Tensor([1.]) + [2.]', 'Tensor(shape=[1], dtype=Float32, value= [ 3.00000000e+00])'),
    ('[1.] + Tensor([1.])', 'Tensor(shape=[1], dtype=Float32, value= [ 2.00000000e+00])'),
    ('Tensor([1.]) + None', TypeError),
    ("Tensor([1.]) + 'a'", TypeError),
    ('Tensor([1.]) + np.array([1.])', TypeError),
    ('Tensor([1,2]) + 1j', TypeError),
    ('np.array([1.,2.]) * Tensor([1.,2.])', 'array([1., 4.])'),
    ('np.sin(Tensor([0.]))', 'array([0.], dtype=float32)'),
    ('Tensor([True]) - Tensor([True])', 'Tensor(shape=[1], dtype=Bool, value= [False])'),
    ('Tensor([True]) + Tensor([True])', 'Tensor(shape=[1], dtype=Bool, value= [ True])'),
    ('Tensor([-7]) % 4', 'Tensor(shape=[1], dtype=Int64, value= [1])'),
    ('Tensor([-7.5]) // 4', 'Tensor(shape=[1], dtype=Float32, value= [-2.00000000e+00])'),
    ('7 // Tensor([2.])', 'Tensor(shape=[1], dtype=Float32, value= [ 3.00000000e+00])'),
    ('-7 % Tensor([2])', 'Tensor(shape=[1], dtype=Int64, value= [1])'),
    ('2 ** Tensor([1,2])', 'Tensor(shape=[2], dtype=Int64, value= [2, 4])'),
    ('Tensor([2]) ** 0.5', 'Tensor(shape=[1], dtype=Float32, value= [ 1.41421354e+00])'),
    ('Tensor([2]) ** -1', 'Tensor(shape=[1], dtype=Int64, value= [0])'),
    ('Tensor([200],ms.uint8) + 100', 'Tensor(shape=[1], dtype=UInt8, value= [44])'),
    ('2.5 * Tensor([1.],ms.float16)', 'Tensor(shape=[1], dtype=Float16, value= [ 2.5000e+00])'),
    ('Tensor([7]) / 2', 'Tensor(shape=[1], dtype=Float32, value= [ 3.50000000e+00])'),
    ('t[2]', IndexError),
    ('t[None]', 'Tensor(shape=[1, 2], dtype=Float32, value=\n[[ 1.00000000e+00,  2.00000000e+00]])'),
    ('t[[0,1]]', 'Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])'),
    ('t[Tensor([True,False])]', 'Tensor(shape=[1], dtype=Float32, value= [ 1.00000000e+00])'),
    ('t[::-1]', 'Tensor(shape=[2], dtype=Float32, value= [ 2.00000000e+00,  1.00000000e+00])'),
    ('t[...]', 'Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])'),
    ('t[5:]', 'Tensor(shape=[0], dtype=Float32, value= )'),
    ('t["a"]', IndexError),
    ('t[1.0]', IndexError),
    ('Tensor([1.]).astype("int64")', 'Tensor(shape=[1], dtype=Int64, value= [1])'),
    ('Tensor([1.]).astype(float)', 'Tensor(shape=[1], dtype=Float64, value= [ 1.00000000e+00])'),
    ('Tensor([1.]).astype(np.int32)', 'Tensor(shape=[1], dtype=Int32, value= [1])'),
    ('p', 'Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)'),
    ('p.name', "'w'"),
    ('p * 2', 'Tensor(shape=[2], dtype=Float32, value= [ 2.00000000e+00,  4.00000000e+00])'),
    ('p.value()', 'Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])'),
    ('p[0]', 'Tensor(shape=[], dtype=Float32, value= 1)'),
    ('p.clone()', 'Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)'),
    ('p.set_data([1.])', TypeError),
    ('Parameter(True)', ValueError),
    ('Parameter((1,2))', TypeError),
    ('Parameter([1.], name=3)', ValueError),
    ('Parameter([1.], requires_grad=1)', TypeError),
    ("Parameter(1, name='a').dtype", 'mindspore.int32'),
    ("Parameter(np.array([1.0]), name='a')", 'Parameter (name=a, shape=(1,), dtype=Float64, requires_grad=True)'),
    ('ParameterTuple([p])', '(Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True),)'),
    ("ParameterTuple([p]).clone('pre')",
     '(Parameter (name=pre.w, shape=(2,), dtype=Float32, requires_grad=True),)'),
    ('ParameterTuple([Tensor([1.])])', TypeError),
    ('ops.assign(Parameter([1.,2.]),Tensor([3.,4.]))',
     'Tensor(shape=[2], dtype=Float32, value= [ 3.00000000e+00,  4.00000000e+00])'),
    ('ops.assign(Parameter([1.,2.]),Tensor([3.]))', ValueError),
    ('ops.assign(Parameter([1.]),Tensor([1.],ms.float64))', TypeError),
    ('ops.assign_add(Parameter([1.]),1.0)', 'Tensor(shape=[1], dtype=Float32, value= [ 2.00000000e+00])'),
    ('ms.float32, ms.bool_, str(ms.int64), ms.dtype.float32 is ms.float32',
     "(mindspore.float32, mindspore.bool, 'Int64', True)"),
    ('ms.float32 == "float32", ms.float32 == np.float32', '(False, False)'),
    ('ms.int, ms.float, ms.half, ms.long, ms.double, ms.int_, ms.float_',
     ('(mindspore.int32, mindspore.float32, mindspore.float16, mindspore.int64, mindspore.float64, min'
      'dspore.int, mindspore.float)')),
    ('ms.dtype.int_type', '(mindspore.int8, mindspore.int16, mindspore.int32, mindspore.int64)'),
    ('ms.dtype.complex_type', '(mindspore.complex64, mindspore.complex128)'),
    ('ms.pytype_to_dtype(float), ms.dtype_to_pytype(ms.float32)', "(mindspore.float64, <class 'float'>)"),
    ('isinstance(ms.float32, ms.dtype.Float), isinstance(ms.int32, ms.dtype.Int), isinstance(ms.bool_, ms.dtype.Float)',
     '(True, True, False)'),
    ('ops.ones((2,),ms.int32)', 'Tensor(shape=[2], dtype=Int32, value= [1, 1])'),
    ('ops.full((2,),3.5)', 'Tensor(shape=[2], dtype=Int64, value= [3, 3])'),
    ('ops.arange(1.0,2.0,0.25)',
     ('Tensor(shape=[4], dtype=Float32, value= [ 1.00000000e+00,  1.25000000e+00,  1.50000000e+00,  1.'
      '75000000e+00])')),
    ('ops.arange(5,1,-2)', 'Tensor(shape=[2], dtype=Int64, value= [5, 3])'),
    ('ops.arange(5,1)', ValueError),
    ('ops.linspace(0,1,5)',
     ('Tensor(shape=[5], dtype=Float32, value= [ 0.00000000e+00,  2.50000000e-01,  5.00000000e-01,  7.'
      '50000000e-01,  1.00000000e+00])')),
    ('ops.linspace(0,1,0)', ValueError),
    ('ops.eye(2,3)',
     ('Tensor(shape=[2, 3], dtype=Float32, value=\n'
      '[[ 1.00000000e+00,  0.00000000e+00,  0.00000000e+00],\n'
      ' [ 0.00000000e+00,  1.00000000e+00,  0.00000000e+00]])')),
    ('ops.tril_indices(3,3)',
     ('Tensor(shape=[2, 6], dtype=Int64, value=\n'
      '[[0, 1, 1, 2, 2, 2],\n'
      ' [0, 0, 1, 0, 1, 2]])')),
    ('ops.hann_window(4)',
     ('Tensor(shape=[4], dtype=Float64, value= [ 0.00000000e+00,  5.00000000e-01,  1.00000000e+00,  5.'
      '00000000e-01])')),
    ('ops.zeros_like(Tensor([1,2]))', 'Tensor(shape=[2], dtype=Int64, value= [0, 0])'),
    ('ms.set_context(mode=2)', ValueError),
    ("ms.set_context(mode='a')", TypeError),
    ('ms.set_context(nothing=1)', ValueError),
    ("ms.set_context(device_target='GPU')", RuntimeError),
    ("ms.set_context(device_target='TPU')", ValueError),
    ("ms.get_context('nothing')", ValueError),
    ("ms.get_context('mode')", '1'),
    ('ms.set_seed(-1)', ValueError),
    ('ms.set_seed(1.5)', TypeError),
    ('(ms.set_seed(3), ms.get_seed())', '(None, 3)'),
]

# What an operation on two tensors computes in: a row for the first one's dtype, columns in the same order; - is TypeError,
# b2 bfloat16.
PROMOTION = """
bool        ? i1 i2 i4 i8 u1 u2 u4 u8 f2 b2 f4 f8 c4 c8
int8       i1 i1 i2 i4 i8 i2  -  -  - f2 b2 f4 f8 c4 c8
int16      i2 i2 i2 i4 i8 i2  -  -  - f2 b2 f4 f8 c4 c8
int32      i4 i4 i4 i4 i8 i4  -  -  - f2 b2 f4 f8 c4 c8
int64      i8 i8 i8 i8 i8 i8  -  -  - f2 b2 f4 f8 c4 c8
uint8      u1 i2 i2 i4 i8 u1  -  -  - f2 b2 f4 f8 c4 c8
uint16     u2  -  -  -  -  - u2  -  -  -  -  -  -  -  -
uint32     u4  -  -  -  -  -  - u4  -  -  -  -  -  -  -
uint64     u8  -  -  -  -  -  -  - u8  -  -  -  -  -  -
float16    f2 f2 f2 f2 f2 f2  -  -  - f2 f4 f4 f8 c4 c8
bfloat16   b2 b2 b2 b2 b2 b2  -  -  - f4 b2 f4 f8 c4 c8
float32    f4 f4 f4 f4 f4 f4  -  -  - f4 f4 f4 f8 c4 c8
float64    f8 f8 f8 f8 f8 f8  -  -  - f8 f8 f8 f8 c8 c8
complex64  c4 c4 c4 c4 c4 c4  -  -  - c4 c4 c4 c8 c4 c8
complex128 c8 c8 c8 c8 c8 c8  -  -  - c8 c8 c8 c8 c8 c8
"""
# fmt: on


@pytest.fixture(autouse=True)
def settings() -> Any:
    """The global options as they were."""
    mode = ms.get_context("mode")
    yield
    ms.set_context(mode=mode)


@pytest.mark.parametrize(("expression", "expected"), RECORDED, ids=[row[0] for row in RECORDED])
def test_recorded(expression: str, expected: Any) -> None:
    scope = {
        "np": np, "ms": ms, "ops": ops, "nn": nn, "Tensor": Tensor, "Parameter": Parameter,
        "ParameterTuple": ParameterTuple, "t": Tensor([1.0, 2.0]), "p": Parameter(Tensor([1.0, 2.0]), name="w"),
    }  # fmt: skip
    if isinstance(expected, type):
        with pytest.raises(expected):
            eval(expression, scope)
    else:
        assert repr(eval(expression, scope)) == expected


def test_promotion() -> None:
    rows = [line.split() for line in PROMOTION.strip().splitlines()]
    names = [row[0] for row in rows]
    codes = dict(zip(("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "b2", "f4", "f8", "c4", "c8"), names))
    assert len(names) == len(codes) == 15
    tensors = {name: Tensor([1], getattr(ms, name)) for name in names}
    for row in rows:
        for other, expected in zip(names, row[1:]):
            if expected == "-":
                with pytest.raises(TypeError):
                    tensors[row[0]] - tensors[other]
            else:
                assert (tensors[row[0]] - tensors[other]).dtype is getattr(ms, codes[expected]), (row[0], other)


def test_promotion_with_numbers() -> None:
    i, f, b, h = Tensor([2]), Tensor([1.0]), Tensor([True]), Tensor([1.0], ms.float16)
    found = [str(x.dtype) for x in (f + 1, i + 1, i + 1.5, i / 2, i // 2, b + 1, b + 1.5, i**2, h * 2.5, i + True)]
    assert found == ["Float32", "Int64", "Float32", "Float32", "Int64", "Int64", "Float32", "Int64", "Float16", "Int64"]


def test_memory() -> None:
    a = np.array([1.0, 2.0], np.float32)
    copied, shared = Tensor(a), Tensor.from_numpy(a)
    a[0] = 100.0
    assert (copied.tolist(), shared.tolist()) == ([1.0, 2.0], [100.0, 2.0])
    t = Tensor([1.0, 2.0])
    t.asnumpy()[0] = 7.0
    t[0:1][0] = t[0] + 2
    assert t.tolist() == [9.0, 2.0]
    u = t
    u += 1
    assert (t.tolist(), u.tolist()) == ([9.0, 2.0], [10.0, 3.0])
    p = Parameter(t, name="p")
    before = p.asnumpy()
    p.set_data(Tensor([3, 4]))
    assert (before.tolist(), p.tolist(), p.dtype, t.tolist()) == ([9.0, 2.0], [3.0, 4.0], ms.float32, [9.0, 2.0])


def test_writing_elements() -> None:
    for key, new, expected in (
        (0, 5.0, [5.0, 2.0]), (0, Tensor([5]), [5.0, 2.0]), ([0, 1], Tensor([7.0, 8.0]), [7.0, 8.0]),
        (slice(None), [4, 5], [4.0, 5.0]), (..., 3, [3.0, 3.0]), (Tensor([False, True]), 0, [1.0, 0.0]),
    ):  # fmt: skip
        t = Tensor([1.0, 2.0])
        t[key] = new
        assert t.tolist() == expected
    whole = Tensor([1, 2])
    whole[0] = 2.7
    assert whole.tolist() == [2, 2]


def test_copies() -> None:
    t, p = Tensor([1.0, 2.0], ms.float64), Parameter(Tensor([1.0]), name="p", requires_grad=False)
    for back in (copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert (back.tolist(), back.dtype) == ([1.0, 2.0], ms.float64)
    for q in (copy.deepcopy(p), copy.copy(p), pickle.loads(pickle.dumps(p)), p.clone()):
        assert (type(q), q.name, q.requires_grad, q.tolist()) == (Parameter, "p", False, [1.0])
    assert pickle.loads(pickle.dumps(ms.float32)) is ms.float32


def test_the_class_says_whose_it_is() -> None:
    from retrograde.dialects import torch

    assert str(Tensor) == "<class 'mindspore.common.tensor.Tensor'>"
    with pytest.raises(AttributeError, match="retrograde's mindspore dialect has no mindspore.opps; near it are ops"):
        ms.opps  # noqa: B018 - the attribute is asked for
    with pytest.raises(TypeError):
        Tensor(torch.tensor([1.0]))
    with pytest.raises(TypeError):
        Tensor([1.0]) + torch.tensor([1.0])


def test_jit_and_modes() -> None:
    @ms.jit
    def f(x: Any) -> Any:
        return x * x

    @ms.jit(capture_mode="bytecode", jit_level="O1")
    def g(x: Any) -> Any:
        return f(x) + x

    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        assert ms.get_context("mode") == mode
        assert ms.grad(ms.jit(g))(Tensor([3.0])).tolist() == [7.0]
    with pytest.raises(ValueError, match="jit_level"):
        ms.jit(f, jit_level="O9")


def test_arrays_of_int64_print_their_dtype() -> None:
    x = Tensor([1, 2])
    assert repr(x.asnumpy()) == repr(np.asarray(x)) == "array([1, 2], dtype=int64)"
    x.asnumpy()[0] = 9
    assert x.tolist() == [9, 2]
    assert repr(Tensor(x.asnumpy()) + x) == "Tensor(shape=[2], dtype=Int64, value= [18,  4])"
    assert repr(Tensor([1], ms.int32).asnumpy()) == "array([1], dtype=int32)"


def test_sequences_of_arrays_have_the_dtypes_of_numbers() -> None:
    for data, want in (
        ([np.ones(2), np.ones(2)], ms.float32), ([np.float64(1.0)], ms.float32), ((np.ones(2),), ms.float32),
        ([np.int32(1)], ms.int64), ([np.ones(2, np.int32)], ms.int64), ([np.uint8(3)], ms.uint8),
        ([np.ones(2, np.float16)], ms.float16), (np.ones(2), ms.float64), (np.float64(1.0), ms.float64),
    ):  # fmt: skip
        assert Tensor(data).dtype is want


def test_what_shares_memory() -> None:
    p, q = Parameter(Tensor([1.0, 2.0]), name="p"), Parameter(Tensor([0.0, 0.0]), name="q")
    q.set_data(p)
    nn.SGD([p], 0.5)((Tensor([1.0, 1.0]),))
    assert q.asnumpy().tolist() == [0.5, 1.5]
    before = p.value()
    ops.assign(p, Tensor([5.0, 5.0]))
    assert (q.asnumpy().tolist(), before.asnumpy().tolist()) == ([5.0, 5.0], [0.5, 1.5])
    x = Tensor([1.0, 2.0])
    y = Tensor(x)
    x[0] = 9.0
    assert y.asnumpy().tolist() == [9.0, 2.0]
    kept = Parameter(x, name="kept")
    x[1] = 7.0
    assert kept.asnumpy().tolist() == [9.0, 2.0]


def test_a_tensor_of_a_tensor_keeps_its_history() -> None:
    assert ms.grad(lambda x: Tensor(x) * x)(Tensor([1.0, 2.0])).asnumpy().tolist() == [2.0, 4.0]


@pytest.mark.parametrize("options, kind", [
    ({"device_id": -1}, ValueError), ({"max_call_depth": 0}, ValueError), ({"device_id": "a"}, TypeError),
    ({"enable_graph_kernel": 1}, TypeError), ({"max_device_memory": 3}, TypeError), ({"save_graphs_path": 1}, TypeError),
])  # fmt: skip
def test_options_are_of_their_type(options: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind, match="set_context"):
        ms.set_context(**options)


def test_copies_inside_a_gradient():
    x = Tensor([1.0, 2.0])
    assert ms.grad(lambda x: copy.deepcopy(x * 2).sum())(x).asnumpy().tolist() == [2.0, 2.0]
    assert ms.grad(lambda x: pickle.loads(pickle.dumps(x * 2)).sum())(x).asnumpy().tolist() == [0.0, 0.0]


def test_what_is_assigned_into_picked_elements_goes_back() -> None:
    a = Tensor([[1.0, 2.0], [3.0, 4.0]])
    a[[0, 1]][0] = Tensor([9.0, 9.0])
    c = a[Tensor([1, 0])]
    c[0] = Tensor([8.0, 8.0])
    assert a.tolist() == [[9.0, 9.0], [8.0, 8.0]]
    b = Tensor([1.0, 2.0, 3.0])
    b[b > 1][Tensor([0])] = Tensor([7.0])
    b[Tensor([0, 2])][0] = 5.0
    assert b.tolist() == [5.0, 7.0, 3.0]


def test_numpy_arrays_compute_with_tensors_element_by_element() -> None:
    a, t = np.ones(2, np.float32), Tensor([1.0, 0.0])
    assert type(a == t) is np.ndarray
    assert (a == t).tolist() == [True, False]
    assert (a != t).tolist() == [False, True]
    assert type(a + t) is np.ndarray
    assert (a + t).tolist() == [2.0, 1.0]
    assert (a - t).tolist() == [0.0, 1.0]


def test_filled_tensors_take_their_dtype_by_place() -> None:
    assert Tensor([1.0]).new_ones((2,), ms.int32).dtype is ms.int32
    assert Tensor([1.0]).new_zeros(2, ms.int8).dtype is ms.int8


def test_methods_take_axes_by_place_and_under_both_names() -> None:
    x = Tensor(np.zeros((2, 3, 4), np.float32))
    assert [x.flatten(*given).shape for given in [(), ("F",), (1,), (1, 2), (0, 1)]] == [(24,), (24,), (2, 12), (2, 12), (6, 4)]
    assert [t.shape for t in x.split(split_size=3, dim=2)] == [(2, 3, 3), (2, 3, 1)]
    with pytest.raises(TypeError, match="3 axes"):
        x.flatten(0, 1, 2)
    with pytest.raises(ValueError, match="bool"):
        ops.clamp(x, True, None)
