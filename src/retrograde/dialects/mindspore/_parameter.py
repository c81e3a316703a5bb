"""`Parameter`, a tensor that a Cell owns and gradients are taken of, and `ParameterTuple`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.value import Value, make
from ...ops.structural import copy
from .._shared.guard import kind_of
from . import _data
from ._recording import LIVE
from ._tensor import Tensor

_numbers = itertools.count(2).__next__  # MindSpore keeps the first for itself
_LONGEST_NAME = 1024


def _unnamed() -> str:
    return f"Parameter#{_numbers()}"


def _flag(name: str, wanted: Any) -> bool:
    if not isinstance(wanted, bool):
        raise TypeError(f"Parameter.{name}: wanted a bool, got {type(wanted).__name__}")
    return wanted


class ParamInfo:
    """What is known of a parameter beside its values."""

    __slots__ = ("name", "requires_grad", "was_trained", "parameter_shape", "layerwise_parallel", "parallel_optimizer")

    def __init__(self, name: str, requires_grad: bool) -> None:
        self.name, self.requires_grad, self.was_trained = name, requires_grad, requires_grad
        self.parameter_shape: tuple[int, ...] = ()
        self.layerwise_parallel, self.parallel_optimizer = False, True


class Parameter(Tensor, result=Tensor):
    """A tensor with a name that a Cell registers when it is set as an attribute; `requires_grad` says if it is trained.

    default_input: a Tensor (whose values are copied), a NumPy array, a list or a number.

    Raises:
        TypeError: other content; a name or flag of another type.
        ValueError: a bool as content.
    """

    param_info: ParamInfo

    def __new__(cls, default_input: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(default_input, (bool, np.bool_)):
            raise ValueError("Parameter: a bool is no content of a parameter; use a Tensor, a number or a list")
        if isinstance(default_input, Tensor):
            if default_input.init is not None:
                default_input.init_data()
            array: Any = default_input._a
            return make(cls, np.copy(array, order="C") if type(array) is np.ndarray else np.array(default_input._concrete("Parameter")))
        if isinstance(default_input, (int, float, list, np.ndarray)) and not isinstance(default_input, np.generic):
            array = _data.data_array(default_input, None, "Parameter")
            if isinstance(default_input, int):
                array = array.astype(np.int32)
            return make(cls, array)
        raise TypeError(
            f"Parameter: the content must be a Tensor, a NumPy array, a list, an int or a float, "
            f"got {kind_of(default_input)}"
        )

    def __init__(
        self, default_input: Any, name: str | None = None, requires_grad: bool = True, layerwise_parallel: bool = False,
        parallel_optimizer: bool = True, storage_format: str = "", device: Any = None,
    ) -> None:  # fmt: skip
        self.param_info = ParamInfo("", False)
        self.name = name
        self.requires_grad = requires_grad
        LIVE[id(self)] = self
        self.layerwise_parallel, self.parallel_optimizer = layerwise_parallel, parallel_optimizer

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(result=Tensor, **kwargs)

    @property
    def name(self) -> str:
        """The name, under which checkpoints and optimisers know the parameter."""
        return self.param_info.name

    @name.setter
    def name(self, name: str | None) -> None:
        if name is not None and not isinstance(name, str):
            raise ValueError(f"Parameter: a name is a string, got {type(name).__name__}")
        if name is not None and len(name) > _LONGEST_NAME:
            raise ValueError(f"Parameter: a name has at most {_LONGEST_NAME} characters, got {len(name)}")
        self.param_info.name = (name or "").strip() or _unnamed()

    @property
    def requires_grad(self) -> bool:
        """Whether the parameter is among those that are trained."""
        return self.param_info.requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self.param_info.requires_grad = _flag("requires_grad", wanted)
        self.param_info.was_trained |= wanted

    def register_hook(self, hook_fn: Any) -> Any:
        """As a tensor's; raises RuntimeError for a parameter that never was to be trained, since it gets no gradient."""
        if not self.param_info.was_trained:
            raise RuntimeError(f"register_hook: the parameter {self.name!r} has requires_grad=False and gets no gradient")
        return super().register_hook(hook_fn)

    @property
    def layerwise_parallel(self) -> bool:
        """An option of distributed training, which is kept."""
        return self.param_info.layerwise_parallel

    @layerwise_parallel.setter
    def layerwise_parallel(self, wanted: bool) -> None:
        self.param_info.layerwise_parallel = _flag("layerwise_parallel", wanted)

    @property
    def parallel_optimizer(self) -> bool:
        """An option of distributed training, which is kept."""
        return self.param_info.parallel_optimizer

    @parallel_optimizer.setter
    def parallel_optimizer(self, wanted: bool) -> None:
        self.param_info.parallel_optimizer = _flag("parallel_optimizer", wanted)

    @property
    def data(self) -> Tensor:
        """The values as a tensor of the same memory; set to a tensor, what `set_data` takes."""
        return make(Tensor, self._a, self._node, self._level)

    @data.setter
    def data(self, values: Any) -> None:
        self.set_data(values)

    def value(self) -> Tensor:
        """The values of now as a tensor."""
        found: Tensor = copy(self)
        return found

    inited_param = init_mode = None
    sliced = cache_enable = is_in_parallel = parallel_optimizer_comm_recompute = False
    requires_aggr = True
    key = -1
    comm_fusion = 1
    is_init = unique = virtual_flag = False
    init_finished = True

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Take new values, in this parameter's dtype; returns the parameter. Raises TypeError for what is no Tensor.

        Values of this dtype are not copied: as in MindSpore, the parameter then lives in the memory of `data`.
        """
        if isinstance(data, (int, float)):
            data = Tensor(data)
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter.set_data: wanted a Tensor or a number, got {kind_of(data)}")
        if data.init is not None:
            data.init_data()
        np_dtype = self._a.dtype
        array = data._concrete("Parameter.set_data")
        shared = data._node is None and array.dtype == np_dtype and _data.is_own(array)
        self._a = array if shared else array.astype(np_dtype)  # what asnumpy() gave out before keeps its values
        return self

    def clone(self, init: Any = "same") -> Parameter:
        """A copy with the same name and flags; `init` other than "same" says what fills it."""
        if init == "same":
            source: Any = make(Tensor, self._a)
        else:
            from .common.initializer import initializer

            source = initializer(init, self.shape, self.dtype).init_data()
        out = type(self)(source, self.name, self.requires_grad)
        out.layerwise_parallel = self.layerwise_parallel
        return out

    def copy(self) -> Parameter:
        """A copy with the same name and flags."""
        return self.clone()

    def init_data(self, layout: Any = None, set_sliced: bool = False) -> Parameter:  # type: ignore[override]
        """Fill with what an initialiser that was given instead of values makes; returns the parameter."""
        super().init_data()
        return self

    def __str__(self) -> str:
        return (
            f"Parameter (name={self.name}, shape={self.shape}, dtype={self.dtype}, requires_grad={self.requires_grad})"
        )

    __repr__ = __str__

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        out = self.clone()
        memo[id(self)] = out
        return out

    def __copy__(self) -> Parameter:
        return self.clone()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuild, (make(Tensor, self._a), self.name, self.requires_grad)

Parameter.__module__ = "mindspore.common.parameter"  # what programs print


def _rebuild(data: Tensor, name: str, requires_grad: bool) -> Parameter:
    return Parameter(data, name, requires_grad)


class ParameterTuple(tuple[Parameter, ...]):
    """A tuple of parameters, as optimisers and gradient functions take them.

    Raises TypeError for other content, ValueError for two parameters of one name.
    """

    def __new__(cls, iterable: Iterable[Parameter]) -> ParameterTuple:
        if isinstance(iterable, Value):
            raise TypeError("ParameterTuple: wanted a list or tuple of Parameters, got one tensor")
        parameters = tuple(iterable)
        named: dict[str, Parameter] = {}
        for i, p in enumerate(parameters):
            if not isinstance(p, Parameter):
                raise TypeError(f"ParameterTuple: element {i} must be a Parameter, got {type(p).__name__}")
            if named.setdefault(p.name, p) is not p:
                raise ValueError(f"ParameterTuple: two parameters are called {p.name!r}; give them names of their own")
        return super().__new__(cls, parameters)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """Copies of all parameters with names that begin with `prefix.`; raises TypeError for a prefix that is no string."""
        if not isinstance(prefix, str):
            raise TypeError(f"ParameterTuple.clone: the prefix must be a string, got {type(prefix).__name__}")
        copies = []
        for p in self:
            copy = p.clone(init)
            copy.name = f"{prefix}.{p.name}"
            copies.append(copy)
        return ParameterTuple(copies)
