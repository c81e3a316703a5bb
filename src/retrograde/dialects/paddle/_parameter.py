"""`EagerParamBase`, the tensor that a layer trains, how one is made from a `ParamAttr`, and the names that are counted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...core.value import make
from ...tape import autograd as tape
from . import _repr
from ._api import api
from ._data import sizes
from ._dtype import as_dtype
from ._tensor import Tensor


class EagerParamBase(Tensor, result=Tensor):
    """A parameter: a leaf that wants a gradient unless it is not `trainable`, with what optimisers ask of it."""

    persistable = True
    regularizer: Any = None
    do_model_average: bool | None = True
    need_clip = True
    is_distributed = False

    def __new__(cls, shape: Any = (), dtype: Any = "float32", **options: Any) -> Any:
        trainable = options.pop("trainable", True)
        x = make(cls, np.zeros(sizes(cls.__name__, shape, AssertionError), as_dtype(cls.__name__, dtype).np))
        x._name = options.pop("name", None)
        x.optimize_attr = options.pop("optimize_attr", {"learning_rate": 1.0})
        for name, value in options.items():
            setattr(x, name, value)
        if trainable:
            tape.leaf(x)
        return x

    @property
    def trainable(self) -> bool:
        """Whether the parameter wants a gradient: the opposite of `stop_gradient`."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, wanted: bool) -> None:
        if not isinstance(wanted, bool):
            raise ValueError(f"trainable: wanted True or False, got {wanted!r}")
        self.stop_gradient = not wanted

    def __repr__(self) -> str:
        return f"Parameter containing:\n{_repr.tensor_repr(self)}"

    __str__ = __repr__


Parameter = EagerParamBase


class ParamAttr:
    """How a parameter is made: its name, initialiser, share of the learning rate, regulariser, whether it is trained."""

    def __init__(
        self, name: str | None = None, initializer: Any = None, learning_rate: float = 1.0, regularizer: Any = None,
        trainable: bool = True, do_model_average: bool = True, need_clip: bool = True,
    ) -> None:  # fmt: skip
        if name is not None and not name:
            raise ValueError("ParamAttr: the name must not be empty")
        self.name, self.initializer, self.learning_rate = name, initializer, learning_rate
        self.regularizer, self.trainable = regularizer, trainable
        self.do_model_average, self.need_clip = do_model_average, need_clip

    @staticmethod
    def of(attr: Any) -> ParamAttr:
        """What stands for a ParamAttr (None, True, a name, an initialiser, a regulariser) as one; raises TypeError."""
        if attr is None or attr is True:
            return ParamAttr()
        if isinstance(attr, ParamAttr):
            return attr
        if isinstance(attr, str):
            return ParamAttr(name=attr)
        if callable(attr):
            return ParamAttr(initializer=attr)
        raise TypeError(f"a parameter's attr is a ParamAttr, a name, an initialiser or False, not {type(attr).__name__}")


class WeightNormParamAttr(ParamAttr):
    """A ParamAttr that asks for weight normalisation along an axis."""

    def __init__(self, dim: int | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.dim = dim


class _UniqueNames:
    """Names that are counted: `generate("linear")` gives linear_0, linear_1, ..."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def generate(self, key: str) -> str:
        """The next name for a key."""
        n = self._counts.get(key, 0)
        self._counts[key] = n + 1
        return f"{key}_{n}"

    def switch(self, new_generator: Any = None) -> dict[str, int]:
        """Start counting anew (or from what an earlier call returned); returns the counts so far."""
        before, self._counts = self._counts, {} if new_generator is None else new_generator
        return before

    @contextlib.contextmanager
    def guard(self, new_generator: Any = None) -> Iterator[None]:
        """Count anew inside a `with` block."""
        before = self.switch({} if not isinstance(new_generator, dict) else new_generator)
        try:
            yield
        finally:
            self._counts = before


unique_name = _UniqueNames()
"""`paddle.utils.unique_name`."""

def parameter_of(
    shape: Any, attr: Any, dtype: Any, is_bias: bool, default_initializer: Any, name: Callable[[], str]
) -> EagerParamBase:
    """A new parameter as `attr` says: its initialiser, else the global one, `default_initializer`, else zeros for a bias
    and Xavier's uniform numbers for weights. `name()` gives its name where `attr` has none."""
    attr = ParamAttr.of(attr)
    parameter = EagerParamBase(
        shape, dtype, name=attr.name if attr.name is not None else name(), trainable=attr.trainable,
        optimize_attr={"learning_rate": attr.learning_rate}, regularizer=attr.regularizer,
        do_model_average=attr.do_model_average, need_clip=attr.need_clip,
    )  # fmt: skip
    from .nn import initializer as rules  # the layers' package is imported when a program first needs it

    initializer = attr.initializer or rules.of_all[is_bias] or default_initializer
    if initializer is None and not is_bias:
        initializer = rules.XavierUniform()
    if initializer is not None:
        initializer(parameter)
    return parameter


@api(method=False)
def create_parameter(
    shape: Any, dtype: Any, name: str | None = None, attr: Any = None, is_bias: bool = False,
    default_initializer: Any = None,
) -> EagerParamBase:  # fmt: skip
    """A new parameter; without an initialiser weights are Xavier-uniform, biases zero."""
    if attr is None and name is not None:
        attr = ParamAttr(name=name)
    prefix = unique_name.generate("create_parameter") if name is None else name  # counted also where attr has a name
    return parameter_of(
        shape, attr, dtype, is_bias, default_initializer, lambda: f"{prefix}.{'b' if is_bias else 'w'}_0"
    )
