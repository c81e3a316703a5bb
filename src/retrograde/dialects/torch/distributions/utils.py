"""Helpers of the distributions: broadcast parameters, probabilities and logits, lazy attributes, packed triangles."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from ....learn.distributions import EULER
from ... import torch

euler_constant = EULER

Number = (int, float, bool)


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Tensors and numbers as tensors of one shape; numbers take the dtype of the first tensor (else the default one).

    Raises ValueError for anything else.
    """
    if not all(isinstance(v, (torch.Tensor, *Number)) for v in values):
        wrong = next(v for v in values if not isinstance(v, (torch.Tensor, *Number)))
        raise ValueError(f"a distribution's parameters must be numbers or tensors, got {type(wrong).__name__}")
    first = next((v for v in values if isinstance(v, torch.Tensor)), None)
    options = {"dtype": torch.get_default_dtype()} if first is None else alike(first)
    return tuple(torch.broadcast_tensors(*(v if isinstance(v, torch.Tensor) else torch.tensor(v, **options) for v in values)))


def alike(x: Any) -> dict[str, Any]:
    """The dtype and the device of a tensor, as factories take them."""
    return {"dtype": x.dtype, "device": x.device}


def standard_normal(shape: Any, dtype: Any, device: Any = None) -> Any:
    """Standard normal numbers."""
    return torch.normal(0.0, 1.0, shape, dtype=dtype, device=device)


_standard_normal = standard_normal


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Probabilities from log odds (binary) or from unnormalised log probabilities along the last dimension."""
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, dim=-1)


def clamp_probs(probs: Any) -> Any:
    """Probabilities kept off 0 and 1 by the dtype's epsilon."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Log odds (binary) or log probabilities."""
    kept = clamp_probs(probs)
    return torch.log(kept) - torch.log1p(-kept) if is_binary else torch.log(kept)


def one_of(name: str, **given: Any) -> str:
    """The name of the only parameter given; raises ValueError where none or several are."""
    there = [key for key, value in given.items() if value is not None]
    if len(there) != 1:
        raise ValueError(f"{name}: give exactly one of {', '.join(given)}; got {', '.join(there) or 'none'}")
    return there[0]


def sum_rightmost(value: Any, dims: int) -> Any:
    """The sum over the last `dims` dimensions."""
    if dims == 0:
        return value
    required = value.dim() - dims
    return value.reshape(value.shape[:required] + (-1,)).sum(-1)


_sum_rightmost = sum_rightmost


class lazy_property:
    """An attribute that is computed when it is first asked for, and kept."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return _LazyPropertyAndProperty(self.wrapped)
        if torch.is_grad_enabled():
            value = self.wrapped(instance)
        else:
            with torch.enable_grad():
                value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _LazyPropertyAndProperty(lazy_property, property):
    """What the class itself shows for a lazy attribute: a property for introspection."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """The elements of square matrices on and below a diagonal, row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"tril_matrix_to_vec: diag must lie in [{-n}, {n - 1}], got {diag}")
    rows = torch.arange(n, device=mat.device)
    mask = rows < rows.view(-1, 1) + (diag + 1)
    return mat[..., mask]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Square matrices from their elements on and below a diagonal, row by row."""
    count = vec.shape[-1]
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if not round(n) - n <= torch.finfo(vec.dtype).eps:
        raise ValueError(f"vec_to_tril_matrix: {count} elements fill no triangle below diagonal {diag}")
    n = round(n)
    rows = torch.arange(n, device=vec.device)
    mask = rows < rows.view(-1, 1) + (diag + 1)
    mat = torch.zeros(vec.shape[:-1] + torch.Size((n, n)), **alike(vec))
    mat[..., mask] = vec
    return mat
