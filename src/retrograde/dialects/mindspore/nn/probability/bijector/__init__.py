"""`mindspore.nn.probability.bijector`: invertible maps with the logarithms of their derivatives."""

from __future__ import annotations

from typing import Any

from ......learn.distributions import transforms as maps
from ....._shared.rows import constructor, named
from ...._dtype import float32
from ...._promote import to_dtype
from ...cell import Cell
from ...layer.activation import LogSigmoid
from .._parameters import above, concrete, given, parameter
from .._vocabulary import F

__all__ = ["Bijector", "Exp", "GumbelCDF", "Invert", "PowerTransform", "ScalarAffine", "Softplus"]


class Bijector(Cell):
    """Base of invertible maps; a subclass defines `_forward`, `_inverse`, `_forward_log_jacobian` and
    `_inverse_log_jacobian`."""

    def __init__(
        self, is_constant_jacobian: bool = False, is_injective: bool = True, name: str | None = None, dtype: Any = None,
        param: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._name, self._dtype, self._given = name or type(self).__name__, dtype, param or {}
        self._constant, self._injective = is_constant_jacobian, is_injective

    @property
    def name(self) -> str:
        """What the map is called."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of the parameters, if one was given."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """What the map was made with."""
        return {**self._given, "name": self._name, "param_dict": dict(self._given)}

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the derivative is the same everywhere."""
        return self._constant

    @property
    def is_injective(self) -> bool:
        """Whether no two places are taken to the same one."""
        return self._injective

    def _run(self, name: str, value: Any, args: tuple[Any, ...]) -> Any:
        method = getattr(self, "_" + name, None)
        if method is None:
            raise NotImplementedError(f"{self._name}: {name} is not defined")
        value = given(self._name, "value", value, None)
        return method(value if value.dtype.category == 2 else to_dtype(value, float32), *args)

    def forward(self, value: Any, *args: Any) -> Any:
        """The map at a tensor."""
        return self._run("forward", value, args)

    def inverse(self, value: Any, *args: Any) -> Any:
        """Where the map takes this value."""
        return self._run("inverse", value, args)

    def forward_log_jacobian(self, value: Any, *args: Any) -> Any:
        """The logarithm of the size of the derivative of the map."""
        return self._run("forward_log_jacobian", value, args)

    def inverse_log_jacobian(self, value: Any, *args: Any) -> Any:
        """The logarithm of the size of the derivative of the inverse map."""
        return self._run("inverse_log_jacobian", value, args)

    def construct(self, name: str, value: Any, *args: Any) -> Any:
        """The method of that name."""
        return self._run(name, value, args)

    def extend_repr(self) -> str:
        return ", ".join(f"{k} = {getattr(self, k)}" for k in self._given)


def _row(
    name: str, doc: str, parameters: str, forward: Any, inverse: Any, log_slope: Any, inverse_log_slope: Any,
    then: Any = None, constant: bool = False, **members: Any,
) -> Any:  # fmt: skip
    """The class of a row: its name, what it is, the constructor's parameters, and its four functions."""
    names = [p.partition("=")[0] for p in parameters.split(", ")]

    def made(self: Any, *given: Any) -> None:
        super(cls, self).__init__(constant, name=given[-1], param=dict(zip(names, given)))
        for key, value in zip(names, given):
            setattr(self, key, parameter(name, key, value, float32))
        if then is not None:
            then(self)

    own = {
        "__doc__": doc, "__module__": __name__, "_forward": forward, "_inverse": inverse, "_forward_log_jacobian": log_slope,
        "_inverse_log_jacobian": inverse_log_slope, **members,
        "__init__": constructor(name, f"{parameters}, name={name!r}", made),
    }  # fmt: skip
    cls = type(name, (Bijector,), named(name, own, Bijector))
    return cls


def _is_zero(self: Any) -> None:
    values = concrete(self.power)
    if values is not None and (values < 0).any():
        raise ValueError(f"PowerTransform: power must be 0 or more, got {self.power}")
    self._zero = values is not None and not values.any()


PowerTransform = _row(
    "PowerTransform", "(1 + power x) to the power of 1 / power; for power 0 the exponential. Raises ValueError for a negative "
    "power.", "power=0.0",
    lambda self, x: F.exp(x) if self._zero else F.exp(F.log1p(x * self.power) / self.power),
    lambda self, y: F.log(y) if self._zero else F.expm1(F.log(y) * self.power) / self.power,
    lambda self, x: x if self._zero else (1 / self.power - 1) * F.log1p(x * self.power),
    lambda self, y: (self.power - 1) * F.log(y), _is_zero,
)  # fmt: skip


class Exp(PowerTransform):  # type: ignore[misc,valid-type]
    """The exponential."""

    def __init__(self, name: str = "Exp") -> None:
        super().__init__(0.0, name)

    def extend_repr(self) -> str:
        return "exp"


ScalarAffine = _row(
    "ScalarAffine", "scale x + shift.", "scale=1.0, shift=0.0",
    lambda self, x: maps.Affine.forward(F, x, self.shift, self.scale),
    lambda self, y: maps.Affine.inverse(F, y, self.shift, self.scale),
    lambda self, x: maps.Affine.log_slope(F, x, None, self.shift, self.scale),
    lambda self, y: -maps.Affine.log_slope(F, None, y, self.shift, self.scale), constant=True,
)  # fmt: skip
Softplus = _row(
    "Softplus", "log(1 + exp(sharpness x)) / sharpness.", "sharpness=1.0",
    lambda self, x: maps.Softplus.forward(F, x * self.sharpness) / self.sharpness,
    lambda self, y: maps.Softplus.inverse(F, y * self.sharpness) / self.sharpness,
    lambda self, x: F.log_sigmoid(x * self.sharpness), lambda self, y: -F.log(-F.expm1(-self.sharpness * y)),
    lambda self: setattr(self, "log_sigmoid", LogSigmoid()),
)  # fmt: skip


def _gumbel_log_slope(self: Any, x: Any) -> Any:
    z = (x - self.loc) / self.scale
    return -z - F.exp(-z) - F.log(self.scale)


GumbelCDF = _row(
    "GumbelCDF", "exp(-exp(-(x - loc) / scale)), which takes a Gumbel distribution to the uniform one on [0, 1]. Raises "
    "ValueError for a scale that is not above 0.", "loc=0.0, scale=1.0",
    lambda self, x: F.exp(-F.exp((self.loc - x) / self.scale)), lambda self, y: self.loc - self.scale * F.log(-F.log(y)),
    _gumbel_log_slope, lambda self, y: F.log(self.scale / (-F.log(y) * y)),
    lambda self: above("GumbelCDF", "scale", self.scale, 0),
)  # fmt: skip


class Invert(Bijector):
    """The inverse of another map. Raises TypeError for what is no Bijector."""

    def __init__(self, bijector: Bijector, name: str = "") -> None:
        if not isinstance(bijector, Bijector):
            raise TypeError(f"Invert: bijector must be a Bijector, got {type(bijector).__name__}")
        super().__init__(bijector.is_constant_jacobian, bijector.is_injective, name or "Invert" + bijector.name)
        self._bijector = bijector

    @property
    def bijector(self) -> Bijector:
        """The map that this one inverts."""
        return self._bijector

    def _forward(self, x: Any) -> Any:
        return self._bijector.inverse(x)

    def _inverse(self, y: Any) -> Any:
        return self._bijector.forward(y)

    def _forward_log_jacobian(self, x: Any) -> Any:
        return self._bijector.inverse_log_jacobian(x)

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return self._bijector.forward_log_jacobian(y)
