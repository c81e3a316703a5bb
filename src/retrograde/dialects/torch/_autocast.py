"""What an autocast region does: functions on its lists are called with their tensors in another dtype.

Nothing of it costs anything until the first region is entered: only then are the listed functions put behind a question
whether their caller is in a region (`install`). Which functions are on which list is PyTorch's behaviour on the CPU,
where products and convolutions are computed in the lower precision, losses, linear algebra and spectra in float32.
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
from ...core.node import Accumulate
from ...core.value import dtype_of
from . import _dtype
from ._dtype import FROM_NUMPY, dtype
from ._promote import to_dtype
from ._tensor import Tensor


class _State(threading.local):
    """Where a thread stands."""

    enabled = False
    """Whether it is in a region that is switched on."""
    dtype: dtype = _dtype.bfloat16
    nesting = 0
    cache_enabled = True
    within = False
    """Whether a listed function is being computed, which calls others as they are."""

    def __init__(self) -> None:
        self.cast: dict[int, tuple[Any, Any]] = {}  # leaves in the lower precision, as long as a region lasts


state = _State()

INSIDE: list[int] = []
"""Non-empty while some thread is in a region that is switched on."""


def switch(enabled: bool) -> None:
    """Switch this thread's region on or off."""
    if enabled and not state.enabled:
        INSIDE.append(1)
    before, state.enabled = state.enabled, enabled
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
        state.cache_enabled and d is state.dtype and x.dtype is _dtype.float32 and type(x._node) is Accumulate
        and is_grad_enabled()
    ):  # fmt: skip
        return to_dtype(x, d)
    known = state.cast.get(id(x))
    if known is None or known[0]() is not x:
        known = state.cast[id(x)] = (weakref.ref(x), to_dtype(x, d))
    return known[1]


def lower(x: Any) -> Any:
    """Arguments as the products of a region take them: in its dtype. float64 stays."""
    return _cast_to(x, state.dtype, tuple(d for d in (_dtype.float32, *_HALVES) if d is not state.dtype))


def full(x: Any) -> Any:
    """Arguments as the losses of a region take them: in float32 where their precision is lower."""
    return _cast_to(x, _dtype.float32, _HALVES)


def widest(x: Any) -> Any:
    """Arguments in float32 where one of them is."""
    tensors = [part for part in x if isinstance(part, Tensor)]
    return full(x) if any(part.dtype is _dtype.float32 for part in tensors) else x


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


def _asking(f: Callable[..., Any], choose: _Choice) -> Callable[..., Any]:
    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> Any:
        here = state
        if not here.enabled or here.within or kwargs.get("out") is not None:
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


def _listed(torch: Any) -> dict[int, tuple[Any, _Choice]]:
    """The functions on the lists, with what is asked about their arguments, by identity."""
    table: dict[int, tuple[Any, _Choice]] = {}
    named: list[tuple[str, str, _Choice]] = []
    for names, policy in ((LOWER, lower), (FULL, full)):
        named += [(path, name, _always(policy)) for path, text in names.items() for name in text.split()]
    named += [(path, name, choice) for path, choices in _CHOSEN.items() for name, choice in choices.items()]
    for path, name, choice in named:
        module = functools.reduce(getattr, path.split("."), torch) if path else torch
        f = inspect.unwrap(getattr(module, name))
        table[id(f)] = (f, choice)
    for name in ("__matmul__", "__rmatmul__"):
        f = inspect.unwrap(getattr(Tensor, name))
        table[id(f)] = (f, _always(lower))
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


def _replaced(
    items: Iterable[tuple[str, Any]], table: dict[int, tuple[Any, _Choice]], made: dict[int, Any]
) -> Iterable[tuple[str, Any]]:
    for name, f in items:
        if type(f) is FunctionType:
            found = table.get(id(inspect.unwrap(f)))
            if found is not None:
                if id(f) not in made:
                    made[id(f)] = _asking(f, found[1])
                yield name, made[id(f)]
