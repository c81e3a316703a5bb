"""`mindspore.nn.probability.bijector`: invertible maps with the logarithms of their derivatives."""

from __future__ import annotations

from typing import Any

from ...._api import FUNCTIONS as F
from ...._dtype import float32
from ...._promote import to_dtype
from ...cell import Cell
from ...layer.activation import LogSigmoid
from .._parameters import above, concrete, given, parameter

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


class PowerTransform(Bijector):
    """(1 + power x) to the power of 1 / power; for power 0 the exponential. Raises ValueError for a negative power."""

    def __init__(self, power: Any = 0.0, name: str = "PowerTransform") -> None:
        super().__init__(name=name, param={"power": power})
        self.power = parameter("PowerTransform", "power", power, float32)
        values = concrete(self.power)
        if values is not None and (values < 0).any():
            raise ValueError(f"PowerTransform: power must be 0 or more, got {self.power}")
        self._zero = values is not None and not values.any()

    def _forward(self, x: Any) -> Any:
        return F["exp"](x) if self._zero else F["exp"](F["log1p"](x * self.power) / self.power)

    def _inverse(self, y: Any) -> Any:
        return F["log"](y) if self._zero else F["expm1"](F["log"](y) * self.power) / self.power

    def _forward_log_jacobian(self, x: Any) -> Any:
        return x if self._zero else (1 / self.power - 1) * F["log1p"](x * self.power)

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return (self.power - 1) * F["log"](y)


class Exp(PowerTransform):
    """The exponential."""

    def __init__(self, name: str = "Exp") -> None:
        super().__init__(0.0, name)

    def extend_repr(self) -> str:
        return "exp"


class ScalarAffine(Bijector):
    """scale x + shift."""

    def __init__(self, scale: Any = 1.0, shift: Any = 0.0, name: str = "ScalarAffine") -> None:
        super().__init__(True, name=name, param={"scale": scale, "shift": shift})
        self.scale = parameter("ScalarAffine", "scale", scale, float32)
        self.shift = parameter("ScalarAffine", "shift", shift, float32)

    def _forward(self, x: Any) -> Any:
        return self.scale * x + self.shift

    def _inverse(self, y: Any) -> Any:
        return (y - self.shift) / self.scale

    def _forward_log_jacobian(self, x: Any) -> Any:
        return F["log"](F["abs"](self.scale))

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return -F["log"](F["abs"](self.scale))


class Softplus(Bijector):
    """log(1 + exp(sharpness x)) / sharpness."""

    def __init__(self, sharpness: Any = 1.0, name: str = "Softplus") -> None:
        super().__init__(name=name, param={"sharpness": sharpness})
        self.sharpness = parameter("Softplus", "sharpness", sharpness, float32)
        self.log_sigmoid = LogSigmoid()

    def _forward(self, x: Any) -> Any:
        return F["softplus"](x * self.sharpness) / self.sharpness

    def _inverse(self, y: Any) -> Any:
        scaled = y * self.sharpness
        return (scaled + F["log"](-F["expm1"](-scaled))) / self.sharpness

    def _forward_log_jacobian(self, x: Any) -> Any:
        return self.log_sigmoid(x * self.sharpness)

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return -F["log"](-F["expm1"](-self.sharpness * y))


class GumbelCDF(Bijector):
    """exp(-exp(-(x - loc) / scale)), which takes a Gumbel distribution to the uniform one on [0, 1].

    Raises ValueError for a scale that is not above 0.
    """

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, name: str = "GumbelCDF") -> None:
        super().__init__(name=name, param={"loc": loc, "scale": scale})
        self.loc = parameter("GumbelCDF", "loc", loc, float32)
        self.scale = parameter("GumbelCDF", "scale", scale, float32)
        above("GumbelCDF", "scale", self.scale, 0)

    def _forward(self, x: Any) -> Any:
        return F["exp"](-F["exp"]((self.loc - x) / self.scale))

    def _inverse(self, y: Any) -> Any:
        return self.loc - self.scale * F["log"](-F["log"](y))

    def _forward_log_jacobian(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return -z - F["exp"](-z) - F["log"](self.scale)

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return F["log"](self.scale / (-F["log"](y) * y))


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
