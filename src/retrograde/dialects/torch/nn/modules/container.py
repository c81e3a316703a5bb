"""Modules that hold modules or parameters: Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .....learn.containers import Listed, Named, pairs, position
from .....learn.modules import indented
from ..._tensor import Tensor
from ..parameter import Parameter
from .module import Module


class Sequential(Listed, Module):
    """Modules applied one after the other: given one by one, or as an OrderedDict with names."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        """What the last module makes of what the one before it makes... of the input."""
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def _slice(self, named: dict[str, Any]) -> Any:
        return type(self)(OrderedDict(named))

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"Sequential + wants another Sequential, got {type(other).__name__}")
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"Sequential += wants another Sequential, got {type(other).__name__}")
        return self.extend(other)

    def __mul__(self, times: int) -> Sequential:
        if not isinstance(times, int):
            raise TypeError(f"Sequential * wants an int, got {type(times).__name__}")
        if times <= 0:
            raise ValueError(f"Sequential * wants a positive number, got {times}")
        return Sequential(*(list(self) * times))

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Sequential:
        repeated = list(self * times)
        for module in repeated[len(self) :]:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        """Add a module before the one at `index`; raises IndexError out of range."""
        if not isinstance(module, Module):
            raise AssertionError(f"Sequential.insert: wanted a Module, got {type(module).__name__}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Sequential.insert: index {index} is out of range for {n} modules")
        return super().insert(index, module)


class ModuleList(Listed, Module):
    """A list of submodules."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Equal neighbours are printed once, with their range and number."""
        texts = [repr(module) for module in self]
        if not texts:
            return f"{self._get_name()}()"
        lines, start = [], 0
        for i in range(1, len(texts) + 1):
            if i < len(texts) and texts[i] == texts[start]:
                continue
            body = indented(texts[start])
            lines.append(f"({start}): {body}" if i == start + 1 else f"({start}-{i - 1}): {i - start} x {body}")
            start = i
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"

    def insert(self, index: int, module: Module) -> None:
        """Add a module before the one at `index`."""
        super().insert(index, module)

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add several modules at the end; raises TypeError for anything that is no iterable."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend: wanted an iterable, got {type(modules).__name__}")
        return super().extend(modules)


class ModuleDict(Named, Module):
    """Submodules by name, in the order in which they were added."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def update(self, modules: Any) -> None:
        """Add or replace modules from a mapping or an iterable of pairs; raises TypeError or ValueError for others."""
        for key, module in pairs("ModuleDict.update", modules):
            self[key] = module


def _described(x: Any, of: Any) -> str:
    """A line on an entry of a ParameterList or ParameterDict; `of` gives the kind of a tensor's elements."""
    if not isinstance(x, Tensor):
        return "Object of type: " + type(x).__name__
    kind = "Parameter" if isinstance(x, Parameter) else "Tensor"
    return f"{kind} containing: [{of(x)} of size {'x'.join(map(str, x.shape))}]"


class ParameterList(Module):
    """A list of parameters; tensors that are put in become Parameters, other objects stay what they are."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _key(self, index: Any) -> str:
        return str(position(type(self).__name__, index, self._size))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            out = type(self)()
            for i in range(*index.indices(self._size)):
                out.append(self[i])
            return out
        return getattr(self, self._key(index))

    def __setitem__(self, index: int, param: Any) -> None:
        if isinstance(param, Tensor) and not isinstance(param, Parameter):
            param = Parameter(param)
        setattr(self, self._key(index), param)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[i] for i in range(len(self)))

    def __iadd__(self, parameters: Iterable[Any]) -> ParameterList:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> ParameterList:
        """Add an entry at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add several entries at the end; raises TypeError for anything that is no iterable, or one tensor."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend: wanted an iterable, got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """A line per entry."""
        return "\n".join(f"  ({i}): {_described(x, lambda x: x.dtype)}" for i, x in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("a ParameterList cannot be called; call the module that holds it")


class ParameterDict(Module):
    """Parameters by name; tensors that are put in become Parameters, other objects stay what they are."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(f"ParameterDict: a name must be a string, got {type(key).__name__}")
        if f"{key}_" in self.__dict__ or (key not in self._keys and hasattr(Module, key)):
            raise KeyError(f"ParameterDict: the name {key!r} is an attribute of modules")
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._attribute(key))

    def __setitem__(self, key: str, value: Any) -> None:
        name = self._attribute(key)
        self._keys[key] = None
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, name, value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __or__(self, other: ParameterDict) -> ParameterDict:
        out = self.copy()
        out.update(other)
        return out

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        out = other.copy()
        out.update(self)
        return out

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def copy(self) -> ParameterDict:
        """A ParameterDict with the same entries."""
        return ParameterDict(OrderedDict((key, self[key]) for key in self._keys))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The entry of a name, which is `default` from now on if there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Take all entries out."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take an entry out and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take the last entry out and return name and entry."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The entry of a name, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401 - this is get

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A ParameterDict with `default` under each name."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and entries."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The entries."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add or replace entries from a mapping or an iterable of pairs; raises TypeError or ValueError for others."""
        found = pairs("ParameterDict.update", parameters)
        ordered = not isinstance(parameters, Mapping) or isinstance(parameters, OrderedDict)
        for key, value in found if ordered else sorted(found):
            self[key] = value

    def extra_repr(self) -> str:
        """A line per entry."""
        return "\n".join(f"  ({k}): {_described(x, lambda x: x.type())}" for k, x in self.items())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("a ParameterDict cannot be called; call the module that holds it")


__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]
