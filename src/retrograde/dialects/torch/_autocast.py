"""What an autocast region does: functions on its lists are called with their tensors in another dtype.

Nothing of it costs anything until the first region is entered: only then are the listed functions put behind a question
whether their caller is in a region (`install`). Which functions are on which list is PyTorch's behaviour: on the CPU
products and convolutions are computed in the lower precision, losses, linear algebra and spectra in float32; on CUDA
devices sums, powers, softmax and normalisation in float32 as well.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from ..._state import is_grad_enabled
from ...backend.devices import FOUND
from ...core.node import Accumulate
from ...core.value import dtype_of
from . import _dtype
from ._dtype import FROM_NUMPY, dtype
from ._promote import to_dtype
from ._tensor import Tensor


class _State(threading.local):
    """Where a thread stands."""

    enabled = False
    """Whether it is in a region for the CPU that is switched on."""
    dtype: _dtype.dtype = _dtype.bfloat16
    cuda = False
    """Whether it is in a region for CUDA devices that is switched on."""
    cuda_dtype: _dtype.dtype = _dtype.float16
    lowered: _dtype.dtype = _dtype.bfloat16
    """The lower precision of the function that is called now."""
    nesting = 0
    cache_enabled = True
    within = False
    """Whether a listed function is being computed, which calls others as they are."""

    def __init__(self) -> None:
        self.cast: dict[int, tuple[Any, Any]] = {}  # leaves in the lower precision, as long as a region lasts


state = _State()

INSIDE: list[int] = []
"""Non-empty while some thread is in a region that is switched on."""


def switch(enabled: bool, kind: str = "cpu") -> None:
    """Switch this thread's region for a kind of devices on or off."""
    name = "enabled" if kind == "cpu" else "cuda"
    before = getattr(state, name)
    if enabled and not before:
        INSIDE.append(1)
    setattr(state, name, enabled)
    if before and not enabled:
        INSIDE.pop()


LOWER = {
    "": "matmul mm bmm addmm addbmm baddbmm chain_matmul prelu conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
        "conv_transpose3d conv_tbc affine_grid_generator",
    "nn.functional": "linear affine_grid conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d prelu "
                     "scaled_dot_product_attention",
    "linalg": "multi_dot vecdot matmul matrix_power",
}  # fmt: skip
"""Computed in the region's dtype, by the module that offers them."""

FULL = {
    "": "prod quantile nanquantile trace view_as_complex polar cdist stft cholesky cholesky_inverse cholesky_solve inverse "
        "pinverse triangular_solve orgqr ormqr geqrf svd qr lu_solve",
    "nn.functional": "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits "
                     "cross_entropy nll_loss kl_div poisson_nll_loss cosine_embedding_loss hinge_embedding_loss "
                     "margin_ranking_loss soft_margin_loss triplet_margin_loss multi_margin_loss multilabel_margin_loss "
                     "ctc_loss avg_pool3d max_pool3d max_pool3d_with_indices adaptive_avg_pool3d adaptive_max_pool3d "
                     "adaptive_max_pool3d_with_indices fractional_max_pool2d fractional_max_pool2d_with_indices "
                     "fractional_max_pool3d fractional_max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d "
                     "grid_sample",
    "linalg": "cholesky cholesky_ex inv inv_ex solve solve_ex svd svdvals eigh eigvalsh eig eigvals qr lstsq matrix_rank cond "
              "householder_product tensorinv tensorsolve",
    "fft": "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft",
}  # fmt: skip
"""Computed in float32 where they are given a lower precision."""

LOWER_ON_CUDA = {
    "": "matmul mm mv bmm addmm addmv addr addbmm baddbmm chain_matmul prelu conv1d conv2d conv3d conv_transpose1d "
        "conv_transpose2d conv_transpose3d conv_tbc lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell",
    "nn.functional": "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d prelu "
                     "scaled_dot_product_attention",
    "linalg": "multi_dot vecdot matmul matrix_power",
}  # fmt: skip
"""The same on CUDA devices."""

FULL_ON_CUDA = {
    "": "acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow softmax log_softmax layer_norm "
        "group_norm norm cosine_similarity cdist cumprod cumsum dist pdist prod renorm sum logsumexp",
    "nn.functional": "softmax log_softmax softmin softplus layer_norm group_norm normalize cosine_similarity pdist mse_loss "
                     "l1_loss smooth_l1_loss huber_loss binary_cross_entropy_with_logits cross_entropy nll_loss kl_div "
                     "poisson_nll_loss cosine_embedding_loss hinge_embedding_loss margin_ranking_loss soft_margin_loss "
                     "triplet_margin_loss multi_margin_loss multilabel_margin_loss",
    "linalg": "vector_norm matrix_norm norm",
}  # fmt: skip
"""Computed in float32 there where they are given a lower precision."""

WIDEST_ON_CUDA = {
    "": "addcdiv addcmul atan2 cross dot vdot index_put scatter_add",
    "nn.functional": "bilinear grid_sample",
    "linalg": "cross",
}
"""Computed there in the widest of their operands' precisions."""

_HALVES = (_dtype.float16, _dtype.bfloat16)


def _cast_to(x: Any, d: dtype, take: tuple[dtype, ...]) -> Any:
    """Arguments with the tensors of the given dtypes in the dtype `d`, also those in lists and tuples."""
    if isinstance(x, Tensor):
        return _cached(x, d) if FROM_NUMPY[dtype_of(x)] in take else x
    if type(x) in (list, tuple):
        return type(x)(_cast_to(part, d, take) for part in x)
    return x


def _cached(x: Tensor, d: dtype) -> Tensor:
    """A tensor in another dtype; a leaf that wants a gradient is cast once in a region, so that it has one cast."""
    if not (
        state.cache_enabled and d is state.lowered and x.dtype is _dtype.float32 and type(x._node) is Accumulate
        and is_grad_enabled()
    ):  # fmt: skip
        return to_dtype(x, d)
    known = state.cast.get(id(x))
    if known is None or known[0]() is not x:
        known = state.cast[id(x)] = (weakref.ref(x), to_dtype(x, d))
    return known[1]


def lower(x: Any) -> Any:
    """Arguments as the products of a region take them: in its dtype. float64 stays."""
    return _cast_to(x, state.lowered, tuple(d for d in (_dtype.float32, *_HALVES) if d is not state.lowered))


def full(x: Any) -> Any:
    """Arguments as the losses of a region take them: in float32 where their precision is lower."""
    return _cast_to(x, _dtype.float32, _HALVES)


def widest(x: Any) -> Any:
    """Arguments in float32 where one of them is."""
    tensors = [part for part in x if isinstance(part, Tensor)]
    return full(x) if any(part.dtype is _dtype.float32 for part in tensors) else x


def _widest_within(x: Any) -> Any:
    """`widest` of the tensors in the first argument, a list or tuple."""
    first = [part for part in x if type(part) in (list, tuple)]
    return full(x) if any(isinstance(t, Tensor) and t.dtype is _dtype.float32 for part in first for t in part) else x


def _same(x: Any) -> Any:
    return x


def _einsum(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Any], Any]:
    """In the lower precision if several operands are contracted; sums and products of elements stay as they are."""
    equation = args[0] if args else ""
    if not isinstance(equation, str):
        return lower
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    labels = inputs.replace(",", "").replace(".", "")
    kept = output if arrow else [k for k in labels if labels.count(k) == 1]
    return lower if "," in inputs and any(k not in kept for k in labels) else _same


def _pad(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Any], Any]:
    pad, mode = (args[1] if len(args) > 1 else kwargs.get("pad")), (args[2] if len(args) > 2 else kwargs.get("mode"))
    spatial = len(pad) // 2 if isinstance(pad, (list, tuple)) else 0
    return full if mode == "replicate" or (mode == "reflect" and spatial < 3) else _same


def _tensordot(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Any], Any]:
    dims = args[2] if len(args) > 2 else kwargs.get("dims", 2)
    count = dims if isinstance(dims, int) else len(dims[0]) if isinstance(dims, (list, tuple)) and dims and isinstance(
        dims[0], (list, tuple)) else 0  # fmt: skip
    return _same if count and all(isinstance(x, Tensor) and x.ndim == count for x in args[:2]) else lower


def _inner(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Any], Any]:
    return lower if all(isinstance(x, Tensor) and x.ndim > 1 for x in args[:2]) else _same


_Choice = Callable[[tuple[Any, ...], dict[str, Any]], Callable[[Any], Any]]


def _always(policy: Callable[[Any], Any]) -> _Choice:
    return lambda args, kwargs: policy


_CHOSEN: dict[str, dict[str, _Choice]] = {
    "": {"einsum": _einsum, "tensordot": _tensordot, "inner": _inner, "index_copy": _always(widest)},
    "nn.functional": {"pad": _pad},
}
"""What depends on the arguments."""


def _on_cuda(args: Iterable[Any]) -> bool:
    """Whether the first tensor among arguments, or in a list or tuple among them, is on a CUDA device."""
    for x in args:
        if isinstance(x, Tensor):
            return x.is_cuda
        if type(x) in (list, tuple) and any(isinstance(part, Tensor) for part in x):
            return _on_cuda(x)
    return False


def _unsafe(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Any], Any]:
    if any(isinstance(x, Tensor) and x.dtype in _HALVES for x in (*args, *kwargs.values())):
        raise RuntimeError(
            "binary_cross_entropy: in an autocast region on a CUDA device probabilities in a lower precision are too coarse "
            "for it; use binary_cross_entropy_with_logits"
        )
    return _same


def _asking(f: Callable[..., Any], choices: dict[str, _Choice]) -> Callable[..., Any]:
    on_cpu, on_cuda = choices.get("cpu"), choices.get("cuda")

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> Any:
        here = state
        if not (here.enabled or here.cuda) or here.within or kwargs.get("out") is not None:
            return f(*args, **kwargs)
        if FOUND and _on_cuda((*args, *kwargs.values())):
            choose, here.lowered = (on_cuda if here.cuda else None), here.cuda_dtype
        else:
            choose, here.lowered = (on_cpu if here.enabled else None), here.dtype
        if choose is None:
            return f(*args, **kwargs)
        policy = choose(args, kwargs)
        args, kwargs = policy(args), {name: policy((x,))[0] for name, x in kwargs.items()} if kwargs else kwargs
        here.within = policy is not _same
        try:
            return f(*args, **kwargs)
        finally:
            here.within = False

    return function


_lock = threading.Lock()
_installed = False


_ON_CUDA: dict[str, dict[str, _Choice]] = {
    "": {"einsum": _einsum, "tensordot": _always(widest), "inner": _inner, "stack": _always(_widest_within),
         "cat": _always(_widest_within)},
    "nn.functional": {"binary_cross_entropy": _unsafe},
}  # fmt: skip
"""What depends on the arguments there."""

_Table = dict[int, tuple[Any, dict[str, _Choice]]]


def _listed(torch: Any) -> _Table:
    """The functions on the lists, with what is asked about their arguments on each kind of devices, by identity."""
    table: _Table = {}
    named: list[tuple[str, str, str, _Choice]] = []
    for kind, names, policy in (
        ("cpu", LOWER, lower), ("cpu", FULL, full), ("cuda", LOWER_ON_CUDA, lower), ("cuda", FULL_ON_CUDA, full),
        ("cuda", WIDEST_ON_CUDA, widest),
    ):  # fmt: skip
        named += [(kind, path, name, _always(policy)) for path, text in names.items() for name in text.split()]
    for kind, chosen in (("cpu", _CHOSEN), ("cuda", _ON_CUDA)):
        named += [(kind, path, name, choice) for path, choices in chosen.items() for name, choice in choices.items()]
    for kind, path, name, choice in named:
        module = functools.reduce(getattr, path.split("."), torch) if path else torch
        f = inspect.unwrap(getattr(module, name))
        table.setdefault(id(f), (f, {}))[1][kind] = choice
    for name in ("__matmul__", "__rmatmul__"):
        f = inspect.unwrap(getattr(Tensor, name))
        table[id(f)] = (f, {"cpu": _always(lower), "cuda": _always(lower)})
    for name in ("__pow__", "__rpow__", "sum", "softmax", "log_softmax", "exp", "log", "norm", "prod", "cumsum"):
        f = inspect.unwrap(getattr(Tensor, name))
        table.setdefault(id(f), (f, {}))[1].setdefault("cuda", _always(full))
    return table


def install(frame: Any) -> None:
    """Put the question in front of the listed functions, once, wherever a module has them under a name.

    frame: that of the caller; programs that no module stands for are found through it and those above it.
    """
    global _installed
    with _lock:
        if _installed:
            return
        _installed = True
        table = _listed(sys.modules[__package__])
        spaces = [vars(module) for module in list(sys.modules.values()) if isinstance(module, type(sys))]
        while frame is not None:
            spaces.append(frame.f_globals)
            frame = frame.f_back
        made: dict[int, Any] = {}
        for space in spaces:
            for name, f in _replaced(list(space.items()), table, made):
                space[name] = f
        for name, f in _replaced(list(vars(Tensor).items()), table, made):
            setattr(Tensor, name, f)


def _replaced(items: Iterable[tuple[str, Any]], table: _Table, made: dict[int, Any]) -> Iterable[tuple[str, Any]]:
    for name, f in items:
        if type(f) is FunctionType:
            found = table.get(id(inspect.unwrap(f)))
            if found is not None:
                if id(f) not in made:
                    made[id(f)] = _asking(f, found[1])
                yield name, made[id(f)]
