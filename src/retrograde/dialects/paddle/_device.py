"""Places and devices: there is the CPU, and questions about others are answered with no."""

from __future__ import annotations

from typing import Any, NoReturn


class Place:
    """Where the elements of a tensor are."""

    def is_cpu_place(self) -> bool:
        """Whether this is the CPU."""
        return True

    def is_gpu_place(self) -> bool:
        """Whether this is a GPU."""
        return False

    is_cuda_pinned_place = is_xpu_place = is_ipu_place = is_custom_place = is_gpu_place

    def __repr__(self) -> str:
        return "Place(cpu)"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Place)

    def __hash__(self) -> int:
        return hash("Place(cpu)")


class CPUPlace(Place):
    """The CPU."""


CPU = CPUPlace()


def _no_place(name: str) -> Any:
    class NoPlace(Place):
        def __init__(self, *args: Any) -> None:
            raise ValueError(f"{name}: there is no such device here; tensors are on paddle.CPUPlace()")

    NoPlace.__name__ = NoPlace.__qualname__ = name
    NoPlace.__doc__ = "A device that is not there: making one raises ValueError."
    return NoPlace


CUDAPlace, CUDAPinnedPlace, XPUPlace = _no_place("CUDAPlace"), _no_place("CUDAPinnedPlace"), _no_place("XPUPlace")
CustomPlace, IPUPlace = _no_place("CustomPlace"), _no_place("IPUPlace")


def _no_device(op: str, device: Any) -> NoReturn:
    raise ValueError(f"{op}: retrograde's paddle dialect computes on the CPU and has no device {device!r}; use 'cpu'")


def check_device(op: str, device: Any) -> None:
    """Raise ValueError for a device that is not the CPU; TypeError for what is no device."""
    if device is None or isinstance(device, Place):
        return
    if not isinstance(device, str):
        raise ValueError(f"{op}: a device is a name such as 'cpu' or a place, not {type(device).__name__}")
    if device.lower() != "cpu" and device.lower() != "cpu:0":
        _no_device(op, device)


def set_device(device: Any) -> Place:
    """Say where tensors are made from now on: 'cpu'. Raises ValueError for any other device."""
    if device is None:
        _no_device("set_device", device)
    check_device("set_device", device)
    return CPU


def get_device(input: Any = None) -> Any:
    """The name of the device that tensors are made on; of a tensor, -1 for the CPU."""
    return "cpu" if input is None else -1


def _never(*args: Any, **options: Any) -> bool:
    """False: there is no such device."""
    return False


is_compiled_with_cuda = is_compiled_with_xpu = is_compiled_with_rocm = is_compiled_with_ipu = _never
is_compiled_with_cinn = is_compiled_with_custom_device = is_compiled_with_mkldnn = _never


def is_compiled_with_distribute() -> bool:
    """True, as PaddlePaddle's own build for the CPU says."""
    return True


def get_cudnn_version() -> None:
    """None: there is no cuDNN."""
