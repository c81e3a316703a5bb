"""`torch.ao.quantization`: names that packages import; nothing is quantised here."""

from __future__ import annotations

from typing import Any

from .._api import attributes
from ..nn.modules.module import Module


class QuantStub(Module):
    """The place where a quantised model would quantise its input; here the input goes on as it is."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()

    def forward(self, x: Any) -> Any:
        """The input."""
        return x


class DeQuantStub(QuantStub):
    """The place where a quantised model would give numbers back; here they go on as they are."""


class ObserverBase(Module):
    """A module that would watch values for their range: no module is one, and none can be made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refusing(type(self).__name__)()


class FakeQuantizeBase(ObserverBase):
    """A module that would round values as quantising does: no module is one, and none can be made."""


def _refusing(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"torch.ao.quantization.{name}: retrograde's torch dialect quantises nothing; use the model in floating point"
        )

    return refuse


for _name in (
    "QConfig", "convert", "fuse_modules", "fuse_modules_qat", "get_default_qat_qconfig", "get_default_qconfig", "prepare",
    "prepare_qat", "quantize_dynamic",
):  # fmt: skip
    globals()[_name] = _refusing(_name)

__getattr__ = attributes(globals())
