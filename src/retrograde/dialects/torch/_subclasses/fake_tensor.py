"""`torch._subclasses.fake_tensor`: tensors that have a shape and no data. Here every tensor has data."""

from __future__ import annotations

from typing import Any, NoReturn

from .._api import attributes
from .._tensor import Tensor


class FakeTensor(Tensor, result=Tensor):
    """A tensor without data; no tensor is one, so `isinstance(x, FakeTensor)` is False."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:  # type: ignore[misc]
        raise NotImplementedError("FakeTensor: retrograde's torch dialect has no tensors without data; make a tensor")


def is_fake(x: Any) -> bool:
    """Whether a tensor has no data: False."""
    return False


class FakeTensorMode:
    """A context in which operations compute shapes only; raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "FakeTensorMode: retrograde's torch dialect has no tensors without data; run the program on small tensors, whose "
            "shapes torch.fx.passes.shape_prop.ShapeProp notes"
        )


__getattr__ = attributes(globals())
