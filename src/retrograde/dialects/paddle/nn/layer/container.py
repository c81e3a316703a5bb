"""Containers: layers and parameters in order or by name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from .....learn.containers import Listed, Named, pairs
from ..._parameter import EagerParamBase
from .layers import Layer


class Sequential(Listed, Layer):
    """Layers called one after the other: given one by one, as (name, layer) pairs, or in an ordered dict."""

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], (OrderedDict, dict)):
            layers = tuple(layers[0].items())
        if layers and isinstance(layers[0], (list, tuple)):
            for pair in layers:
                if not isinstance(pair, (list, tuple)) or len(pair) != 2 or isinstance(pair[0], Layer):
                    raise TypeError("Sequential: wanted layers one by one, or (name, layer) pairs; unpack lists with *")
                self.add_sublayer(str(pair[0]), pair[1])
        else:
            for i, layer in enumerate(layers):
                self.add_sublayer(str(i), layer)

    def forward(self, input: Any) -> Any:
        """The result of the last layer."""
        for layer in self._listed.values():
            input = layer(input)
        return input

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return self._listed[index]
        return super().__getitem__(index)

    def _slice(self, named: dict[str, Any]) -> Any:
        return type(self)(*named.values())

    def append(self, module: Any) -> Any:
        """Add a layer at the end; returns this container."""
        self.add_sublayer(str(len(self)), module)
        return self

    def insert(self, index: int, child: Any) -> Any:
        """Add a layer before the one at `index`; returns this container."""
        if not isinstance(child, Layer):
            raise AssertionError(f"Sequential: wanted a Layer, got {type(child).__name__}")
        return super().insert(index, child)


class LayerList(Listed, Layer):
    """Layers in a list; it computes nothing itself."""

    def __init__(self, sublayers: Iterable[Any] | None = None) -> None:
        super().__init__()
        for layer in sublayers or ():
            self.append(layer)

    def append(self, sublayer: Any) -> Any:
        """Add a layer at the end; returns the list."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def insert(self, index: int, sublayer: Any) -> None:  # type: ignore[override]
        """Add a layer before the one at `index`; AssertionError outside the list."""
        if not isinstance(index, int) or not -len(self) - 1 < index <= len(self):
            raise AssertionError(
                f"LayerList.insert: index must be an int in [{-len(self)}, {len(self)}], got {index!r}"
            )
        if not isinstance(sublayer, Layer):
            raise AssertionError(f"LayerList: wanted a Layer, got {type(sublayer).__name__}")
        super().insert(index, sublayer)

    def __iadd__(self, sublayers: Iterable[Any]) -> Any:
        return self.extend(sublayers)

    def __add__(self, other: Iterable[Any]) -> Any:
        return type(self)([*self, *other])

    def forward(self, *inputs: Any) -> Any:
        """Raises NotImplementedError: a list of layers computes nothing."""
        raise NotImplementedError("LayerList: a list of layers computes nothing; call its layers")


class LayerDict(Named, Layer):
    """Layers by name; it computes nothing itself."""

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        if sublayers is not None:
            self.update(sublayers)

    def __setitem__(self, key: str, sublayer: Any) -> None:
        self.add_sublayer(key, sublayer)

    def update(self, sublayers: Any) -> None:
        """Add layers from a mapping or from (name, layer) pairs."""
        for key, layer in pairs("LayerDict", sublayers, AssertionError):
            self.add_sublayer(key, layer)


def _parameter(owner: str, p: Any) -> Any:
    if not isinstance(p, EagerParamBase):
        raise AssertionError(f"{owner}: wanted a parameter, got {type(p).__name__}")
    return p


class ParameterList(Layer):
    """Parameters in a list."""

    def __init__(self, parameters: Iterable[Any] | None = None) -> None:
        super().__init__()
        for p in parameters or ():
            self.append(p)

    def append(self, parameter: Any) -> Any:
        """Add a parameter at the end; returns the list."""
        self.add_parameter(str(len(self)), _parameter("ParameterList", parameter))
        return self

    def __getitem__(self, index: int) -> Any:
        if not -len(self) <= index < len(self):
            raise KeyError(f"ParameterList: no parameter {index} among {len(self)}")
        return list(self._parameters.values())[index]

    def __setitem__(self, index: int, parameter: Any) -> None:
        self._parameters[str(range(len(self))[index])] = _parameter("ParameterList", parameter)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())


class ParameterDict(Layer):
    """Parameters by name."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return self._parameters[key]

    def __setitem__(self, key: str, parameter: Any) -> None:
        self.add_parameter(key, _parameter("ParameterDict", parameter))

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def keys(self) -> Any:
        """The names."""
        return self._parameters.keys()

    def items(self) -> Any:
        """The names with the parameters."""
        return self._parameters.items()

    def values(self) -> Any:
        """The parameters."""
        return self._parameters.values()

    def update(self, parameters: Any) -> None:
        """Add parameters from a mapping or from (name, parameter) pairs."""
        for key, p in pairs("ParameterDict", parameters, AssertionError):
            self[key] = p
