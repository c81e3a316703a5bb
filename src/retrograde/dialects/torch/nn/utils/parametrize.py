"""Parametrizations: a parameter or buffer of a module computed from others each time it is read."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

from ..._grad_modes import no_grad
from ..._tensor import Tensor
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

_depth = 0
_cache: dict[tuple[int, str], Tensor] = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Inside, a parametrized tensor is computed once and kept until the outermost `cached()` ends."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _cache.clear()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _has_inverse(module: Module) -> bool:
    return hasattr(module, "right_inverse")


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied one after the other, and the tensors they start from.

    These are called `original`, or `original0`, `original1`... when the first one's `right_inverse` gives several.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList: at least one parametrization is needed")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        start: Any = original
        with no_grad():
            for module in reversed(list(self)):
                if _has_inverse(module):
                    with contextlib.suppress(NotImplementedError):
                        start = module.right_inverse(start)
        if not isinstance(start, (Tensor, Sequence)):
            raise ValueError(
                f"right_inverse must return a tensor or a sequence of tensors, got {type(start).__name__}"
            )
        self.is_tensor = isinstance(start, Tensor)
        self.ntensors = 1 if self.is_tensor else len(start)
        if self.is_tensor:
            if start.dtype is not dtype and not unsafe:
                raise ValueError(f"right_inverse returned {start.dtype} for an original of {dtype}")
            with no_grad():
                original.data = start
            _register(self, "original", original)
        else:
            for i, part in enumerate(start):
                if not isinstance(part, Tensor):
                    raise ValueError(f"right_inverse must return tensors, entry {i} is {type(part).__name__}")
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                part.requires_grad_(original.requires_grad)
                _register(self, f"original{i}", part)
        if not unsafe:
            result = self()
            if not isinstance(result, Tensor):
                raise ValueError(f"a parametrization must return a tensor, got {type(result).__name__}")
            if result.dtype is not dtype:
                raise ValueError(
                    f"a parametrization may not change the dtype (unsafe=False): {dtype} to {result.dtype}"
                )
            if result.shape != shape:
                raise ValueError(
                    f"a parametrization may not change the shape (unsafe=False): {tuple(shape)} to "
                    f"{tuple(result.shape)}"
                )

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the parametrized tensor becomes `value`.

        Raises RuntimeError where a parametrization has no `right_inverse`.
        """
        with no_grad():
            start: Any = value
            for module in reversed(list(self)):
                if not _has_inverse(module):
                    raise RuntimeError(
                        f"{type(module).__name__} defines no right_inverse, so the parametrized tensor cannot be set"
                    )
                start = module.right_inverse(start)
            if self.is_tensor:
                if not isinstance(start, Tensor):
                    raise ValueError(f"right_inverse must return a tensor, got {type(start).__name__}")
                if start.dtype is not self.original.dtype:
                    raise ValueError(f"a tensor of {self.original.dtype} cannot be set to one of {start.dtype}")
                self.original.data = start
                return
            if not isinstance(start, Sequence) or len(start) != self.ntensors:
                raise ValueError(f"right_inverse must return {self.ntensors} tensors")
            for i, part in enumerate(start):
                target = getattr(self, f"original{i}")
                if part.dtype is not target.dtype:
                    raise ValueError(f"original{i} of {target.dtype} cannot be set to a tensor of {part.dtype}")
                target.data = part

    def forward(self) -> Tensor:
        """The parametrized tensor."""
        modules = list(self)
        if self.is_tensor:
            x = modules[0](self.original)
        else:
            x = modules[0](*(getattr(self, f"original{i}") for i in range(self.ntensors)))
        for module in modules[1:]:
            x = module(x)
        return x


def _inject_class(module: Module) -> None:
    """Give a module a class of its own, to which properties can be added."""
    cls = type(module)

    def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        replica = self.__new__(type(self))
        memo[id(self)] = replica
        replica.__dict__ = copy.deepcopy(self.__dict__, memo)
        return replica

    def getstate(self: Any) -> Any:
        raise RuntimeError(
            "a parametrized module cannot be pickled; save its state_dict(), or remove_parametrizations() first"
        )

    body: dict[str, Any] = {"__getstate__": getstate}
    if not hasattr(cls, "__deepcopy__"):
        body["__deepcopy__"] = deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), body)


def _inject_property(module: Module, name: str) -> None:
    def get(self: Any) -> Tensor:
        if _depth:
            key = (id(self), name)
            found = _cache.get(key)
            if found is None:
                found = _cache[key] = self.parametrizations[name]()
            return found
        return self.parametrizations[name]()

    def put(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute a parameter or buffer of a module by `parametrization` from now on; returns the module.

    The tensor itself moves to `module.parametrizations[tensor_name].original`, through the parametrization's
    `right_inverse` if it has one. Raises ValueError for a name that is neither, or a parametrization that changes
    dtype or shape (unless `unsafe`).
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        chain = module.parametrizations[tensor_name]
        if not unsafe:
            value = getattr(module, tensor_name)
            result = parametrization(value)
            if not isinstance(result, Tensor):
                raise ValueError(f"a parametrization must return a tensor, got {type(result).__name__}")
            if result.dtype is not value.dtype or result.shape != value.shape:
                raise ValueError(
                    "a parametrization may not change dtype or shape (unsafe=False): "
                    f"{value.dtype} {tuple(value.shape)} to {result.dtype} {tuple(result.shape)}"
                )
            if _has_inverse(parametrization):
                back = parametrization.right_inverse(result)
                if not isinstance(back, Tensor) or back.dtype is not value.dtype or back.shape != value.shape:
                    raise ValueError("a right_inverse must return a tensor of the same dtype and shape (unsafe=False)")
        chain.append(parametrization)
        chain.unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(
            f"register_parametrization: {type(module).__name__} has no parameter, buffer or parametrized tensor "
            f"{tensor_name!r}"
        )
    original = getattr(module, tensor_name)
    chain = ParametrizationList([parametrization], original, unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _inject_class(module)
        module.parametrizations = ModuleDict()
    _inject_property(module, tensor_name)
    module.parametrizations[tensor_name] = chain
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has a parametrization, of that tensor if one is named."""
    chains = module._modules.get("parametrizations")
    if not isinstance(chains, ModuleDict):
        return False
    return len(chains) > 0 if tensor_name is None else tensor_name in chains


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a parametrized tensor a plain one again, with its present value or (`leave_parametrized=False`) its
    original.

    Raises ValueError where it is not parametrized, or the original cannot be left since there are several.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"remove_parametrizations: {tensor_name!r} of {type(module).__name__} is not parametrized")
    chain = module.parametrizations[tensor_name]
    if chain.is_tensor:
        original = chain.original
        if leave_parametrized:
            with no_grad():
                value = getattr(module, tensor_name)
            original.data = value
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError("remove_parametrizations: with several originals only leave_parametrized=True is possible")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of a module before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give a module the parametrizations (and originals) of another; returns the module."""
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not is_parametrized(from_module, name):
            continue
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for parametrization in from_module.parametrizations[name]:
            register_parametrization(to_module, name, parametrization)
        source, target = from_module.parametrizations[name], to_module.parametrizations[name]
        for key in ["original"] if source.is_tensor else [f"original{i}" for i in range(source.ntensors)]:
            setattr(target, key, getattr(source, key))
    return to_module
