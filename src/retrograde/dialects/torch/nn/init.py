"""`torch.nn.init`: initial values of parameters, drawn in PyTorch's order. Every function writes into its tensor."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.unwrap import concrete
from ....core.value import Value, dtype_of, shape_of
from ....learn import initialise as formulas
from ..._shared.registry import defined
from .._grad_modes import no_grad
from .._tensor import beside, from_array
from ..random import initialised_uniformly


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The recommended factor for the deviation of weights before a nonlinearity.

    Raises ValueError for a name that is not known, or a slope of leaky_relu that is no number.
    """
    if nonlinearity in formulas.GAINS:
        return formulas.GAINS[nonlinearity]
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, bool) or not isinstance(param, (int, float)):
            raise ValueError(f"calculate_gain: the slope of leaky_relu must be a number, got {param!r}")
        else:
            slope = param
        return formulas.leaky_relu_gain(slope)
    raise ValueError(
        f"calculate_gain: nonlinearity {nonlinearity!r} is not known; there are {', '.join(sorted(formulas.GAINS))}"
    )


def _overwritten(tensor: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    """The tensor, after one of its methods has written its memory unrecorded.

    The method is that of the same memory without history: a parameter lives on the tape outside of functional transforms,
    while no_grad() holds for the innermost; and entering it takes 2 µs.
    """
    if not isinstance(tensor, Value):
        raise AttributeError(f"torch.nn.init: wanted a tensor, got {type(tensor).__name__}")
    if type(tensor._a) is np.ndarray:
        getattr(tensor.detach(), method)(*args, **kwargs)
    else:
        with no_grad():
            getattr(tensor, method)(*args, **kwargs)
    return tensor


def _write(tensor: Any, array: np.ndarray) -> Any:
    """Put `array` into a tensor without recording it."""
    new = beside(np.ascontiguousarray(array.astype(dtype_of(tensor), copy=False)), tensor)
    return _overwritten(tensor, "copy_", new)


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Draw uniformly from [a, b)."""
    if initialised_uniformly(tensor, a, b, generator):
        return tensor
    return _overwritten(tensor, "uniform_", a, b, generator=generator)


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Draw from the normal distribution."""
    return _overwritten(tensor, "normal_", mean, std, generator=generator)


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Any:
    """Draw from the normal distribution cut to [a, b]."""
    if not all(map(math.isfinite, (mean, std, a, b))):
        raise ValueError(f"trunc_normal_: mean, std, a and b must be finite, got {mean}, {std}, {a} and {b}")
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "trunc_normal_: the mean is more than two deviations outside [a, b], so the values may be "
            "distributed wrongly",
            stacklevel=2,
        )

    shape, dtype = tuple(shape_of(tensor)), dtype_of(tensor)

    def normal(center: float, deviation: float) -> Any:
        return from_array(np.empty(shape, dtype)).normal_(center, deviation, generator=generator)._a

    def uniform(low: float, high: float) -> Any:
        return from_array(np.empty(shape, dtype)).uniform_(low, high, generator=generator)._a

    return _write(tensor, formulas.truncated_normal(normal, uniform, mean, std, a, b))


def constant_(tensor: Any, val: float) -> Any:
    """Fill with one number."""
    return _overwritten(tensor, "fill_", val)


def ones_(tensor: Any) -> Any:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Any) -> Any:
    """Make a matrix the identity; raises ValueError unless it has two axes."""
    shape = shape_of(tensor)
    if len(shape) != 2:
        raise ValueError(f"eye_: wanted a matrix, got {len(shape)} axes")
    return _write(tensor, np.eye(*shape))


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """Make convolution weights pass as many channels as possible on unchanged (per group).

    Raises ValueError unless there are 3 to 5 axes and `groups` divides the first.
    """
    shape = tuple(shape_of(tensor))
    if len(shape) not in (3, 4, 5):
        raise ValueError(f"dirac_: wanted weights with 3, 4 or 5 axes, got {len(shape)}")
    if shape[0] % groups:
        raise ValueError(f"dirac_: {shape[0]} output channels cannot be divided into {groups} groups")
    return _write(tensor, formulas.dirac(shape, groups))


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    shape = tuple(shape_of(tensor))
    if len(shape) < 2:
        raise ValueError(f"fan in and fan out need a tensor with 2 axes or more, got {len(shape)}")
    return formulas.fans(shape)


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode {mode!r} is not known; it is 'fan_in' or 'fan_out'")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Draw uniformly with the deviation gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010)."""
    bound = formulas.uniform_bound(formulas.glorot_std(*_calculate_fan_in_and_fan_out(tensor), gain))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Draw normally with the deviation gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010)."""
    return normal_(tensor, 0.0, formulas.glorot_std(*_calculate_fan_in_and_fan_out(tensor), gain), generator)


def _warn_empty(tensor: Any) -> bool:
    if 0 in shape_of(tensor):
        warnings.warn("a tensor without elements has nothing to initialise", stacklevel=3)
        return True
    return False


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Draw uniformly with the deviation gain / sqrt(fan) (He et al., 2015); `a` is the slope of leaky_relu."""
    if _warn_empty(tensor):
        return tensor
    std = formulas.scaling_std(_calculate_correct_fan(tensor, mode), calculate_gain(nonlinearity, a))
    bound = formulas.uniform_bound(std)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Draw normally with the deviation gain / sqrt(fan) (He et al., 2015); `a` is the slope of leaky_relu."""
    if _warn_empty(tensor):
        return tensor
    std = formulas.scaling_std(_calculate_correct_fan(tensor, mode), calculate_gain(nonlinearity, a))
    return normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """Make the rows (or the columns, if there are fewer) of the flattened tensor orthonormal times `gain`.

    Raises ValueError for fewer than two axes.
    """
    shape = tuple(shape_of(tensor))
    if len(shape) < 2:
        raise ValueError(f"orthogonal_: wanted 2 axes or more, got {len(shape)}")
    if 0 in shape:
        return tensor
    rows, columns = shape[0], math.prod(shape[1:])
    dtype = dtype_of(tensor)
    drawn = from_array(np.empty((rows, columns), dtype)).normal_(0, 1, generator=generator)._a
    return _write(tensor, formulas.orthogonal(np.asarray(drawn), float(gain)).reshape(shape))


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Draw a matrix normally and set the share `sparsity` of every column to zero (Martens, 2010).

    Raises ValueError unless the tensor has two axes.
    """
    shape = tuple(shape_of(tensor))
    if len(shape) != 2:
        raise ValueError(f"sparse_: wanted a matrix, got {len(shape)} axes")
    from ..random import randperm

    rows, columns = shape
    zeroed = math.ceil(sparsity * rows)
    normal_(tensor, 0.0, std, generator)
    array = np.array(concrete("sparse_", tensor))
    for column in range(columns):
        array[randperm(rows, device="cpu")._a[:zeroed], column] = 0
    return _write(tensor, array)


def _old(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    def deprecated(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"nn.init.{name} is now nn.init.{name}_", FutureWarning, stacklevel=2)
        return f(*args, **kwargs)

    return defined(name, deprecated, f"The old name of `{name}_`.")


# What packages that carry initialisers of their own import.
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_

uniform = _old("uniform", uniform_)
normal = _old("normal", normal_)
constant = _old("constant", constant_)
eye = _old("eye", eye_)
dirac = _old("dirac", dirac_)
xavier_uniform = _old("xavier_uniform", xavier_uniform_)
xavier_normal = _old("xavier_normal", xavier_normal_)
kaiming_uniform = _old("kaiming_uniform", kaiming_uniform_)
kaiming_normal = _old("kaiming_normal", kaiming_normal_)
orthogonal = _old("orthogonal", orthogonal_)
sparse = _old("sparse", sparse_)

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_",
    "orthogonal_", "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip
