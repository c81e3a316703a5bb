"""MindSpore's import paths, and what programs import by them that `mindspore` itself does not offer."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Tensor, nn, ops
from retrograde.dialects.mindspore._paths import _PATHS
from retrograde.dialects.mindspore.common.api import _pynative_executor

ROOT = ms.__name__


@pytest.mark.parametrize("package", sorted(_PATHS))
def test_every_path_leads_to_what_its_package_offers(package: str) -> None:
    whole = importlib.import_module(f"{ROOT}.{package}")
    for path in _PATHS[package].split():
        module = importlib.import_module(f"{ROOT}.{package}.{path}")
        assert module.__name__ == f"{ROOT}.{package}.{path}"
        with pytest.raises(AttributeError, match="no_such_name"):
            module.no_such_name  # noqa: B018
    assert whole is sys.modules[f"{ROOT}.{package}"]


def test_programs_import_by_these_paths() -> None:
    program = """
import retrograde
retrograde.activate("mindspore")
from mindspore.common.api import _pynative_executor
from mindspore.common.mutable import mutable
from mindspore.common import mutable as again
from mindspore.nn.layer.rnn_cells import LSTMCell
from mindspore.nn.optim.momentum import Momentum
from mindspore.nn.grad.cell_grad import Jvp
from mindspore.ops.auto_generate.gen_ops_def import add
from mindspore.ops.composite.base import GradOperation
from mindspore.ops.composite.multitype_ops.zeros_like_impl import zeros_like
from mindspore.ops.function.array_func import max_ext, new_ones
from mindspore.ops.function.grad.grad_func import custom_vjp
from mindspore.ops.operations import _grad_ops as G, nn_ops
from mindspore.ops.operations.math_ops import MatMul
from mindspore.ops._primitive_cache import _get_cache_prim
import mindspore
assert mutable is again and callable(mutable) and mindspore.ops.operations.nn_ops is nn_ops
assert GradOperation is mindspore.ops.GradOperation and MatMul is mindspore.ops.MatMul
x = mindspore.Tensor([1.0, 3.0])
print(_get_cache_prim(MatMul)().name, new_ones(x, (1,)), max_ext(x), G.ReluGrad()(x, x - 2), GradOperation)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "MatMul [1.] 3.0 [0. 3.] <class 'mindspore.ops.composite.base.GradOperation'>\n", done.stderr


def test_the_executor_answers_for_what_has_run() -> None:
    _pynative_executor.sync()
    _pynative_executor.clear_res()
    assert _pynative_executor.enable_grad()
    assert not _pynative_executor.requires_grad()
    assert ms.grad(lambda x: x * float(_pynative_executor.grad_flag()))(Tensor([2.0])).tolist() == [1.0]
    with ms._no_grad():
        assert not _pynative_executor.enable_grad()


def test_names_with_ext_are_those_of_mint() -> None:
    assert ops.sum_ext is ms.mint.sum
    assert ops.softmax_ext(Tensor([0.0, 0.0]), 0).tolist() == [0.5, 0.5]


def test_what_cannot_be_says_so_when_it_is_called() -> None:
    exchange = ops.NeighborExchange([1], [1], [[1]], [[1]], ms.float32)
    with pytest.raises(NotImplementedError, match="between processes"):
        exchange(Tensor([1.0]))
    with pytest.raises(NotImplementedError, match="compiled graphs"):
        ops.GeSwitch()(Tensor([1.0]))


def test_functions_that_are_calls_of_classes() -> None:
    found = ops.sparse_segment_mean(Tensor([[1.0], [3.0]]), Tensor([0, 1], ms.int32), Tensor([0, 0], ms.int32))
    assert found.tolist() == [[2.0]]
    drawn, true, sampled = ops.uniform_candidate_sampler(Tensor([[1], [3]]), 1, 3, True, 4, remove_accidental_hits=False)
    assert len(set(drawn.tolist())) == 3
    assert true.tolist() == [[0.75], [0.75]]
    assert sampled.tolist() == [0.75] * 3
    with pytest.raises(TypeError, match="inplace_index_add"):
        ops.inplace_index_add(Tensor([1.0]))


def test_a_tensor_of_an_unknown_rank_describes_others() -> None:
    assert Tensor(shape=None, dtype=ms.int64).shape == (-2,)
    with pytest.raises(TypeError, match="shape="):
        Tensor(dtype=ms.int64, init="zeros")


def test_a_cell_does_not_take_the_place_of_a_parameter() -> None:
    cell = nn.Cell()
    cell.w = ms.Parameter(Tensor([1.0]))
    with pytest.raises(KeyError, match="is a parameter"):
        cell.w = nn.ReLU()


def test_the_context_is_an_object_too() -> None:
    from retrograde.dialects.mindspore import context

    assert context.K_CONTEXT.mode == ms.get_context("mode")
    assert context.get_jit_config() == {}
    with pytest.raises(ValueError, match="no option"):
        context.K_CONTEXT.no_such_option  # noqa: B018


def test_small_functions_of_sequences() -> None:
    assert ops.tail((1, 2, 3)) == (2, 3)
    assert ops.switch_layer(Tensor(1), (nn.ReLU(), abs)) is abs
    x, whole = ops.mixed_precision_cast(ms.float16, (Tensor([1.5]), Tensor([1])))
    assert (x.dtype, whole.dtype) == (ms.float16, ms.int64)
    assert ms.common._no_grad is ms._no_grad
    assert ms.common._Function is ms._Function
