"""`torch.Size` and `torch.device`, the two plain value types of the dialect, and the device that tensors are made on."""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from ...backend.devices import accelerator


def _size_of(place: int, x: Any) -> int:
    """An int, or what counts as one: a bool, NumPy's ints, a tensor of one; raises TypeError for anything else."""
    if not isinstance(x, (str, bytes, float)) and hasattr(x, "__index__"):
        try:
            return operator.index(x)
        except (TypeError, ValueError) as error:
            raise TypeError(f"Size: element {place} is {x!r}, which is no int") from error
    raise TypeError(f"Size: element {place} must be an int, got {type(x).__name__}")


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of ints with `numel()`."""

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        """The sizes, which are ints; raises TypeError for anything else."""
        made = tuple.__new__(cls, sizes)
        for n in made:
            if type(n) is not int:
                return tuple.__new__(cls, [_size_of(i, x) for i, x in enumerate(made)])
        return made

    def numel(self) -> int:
        """The product of the sizes."""
        n = 1
        for size in self:
            n *= size
        return n

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index: Any) -> Any:
        result = tuple.__getitem__(self, index)
        return Size(result) if isinstance(index, slice) else result

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))

    def __mul__(self, times: Any) -> Size:
        return Size(tuple.__mul__(self, times))

    def __reduce__(self) -> Any:
        return Size, (tuple(self),)


Size.__module__ = "torch"


_REFUSED: dict[str, type[Exception]] = {
    **dict.fromkeys(("cuda", "xpu", "mtia"), AssertionError),
    **dict.fromkeys(("hpu", "privateuseone"), ModuleNotFoundError),
    **dict.fromkeys(
        ("mps", "meta", "ipu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan"),
        NotImplementedError,
    ),
}  # fmt: skip
"""The kinds of devices that PyTorch has a name for beside the CPU, and what its build for the CPU raises where tensors are to be
there: for some of the last ones a RuntimeError, which a NotImplementedError is."""


class device:
    """Where a tensor lives: the CPU, or a device that an array library serves (backend/devices.py)."""

    __slots__ = ("type", "index")

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        elif isinstance(type, int) and not isinstance(type, bool) and index is None:
            if accelerator("cuda") is None:
                raise RuntimeError(f"device: {type} is the number of an accelerator, and there is none; use 'cpu'")
            type, index = "cuda", type
        if not isinstance(type, str):
            raise TypeError(f"device: wanted a string such as 'cpu', got {type!r}")
        kind, colon, number = type.partition(":")
        if (kind != "cpu" and kind not in _REFUSED) or (colon and not number.isdigit()):
            raise RuntimeError(f"device: {type!r} is no device; the torch dialect of retrograde computes on 'cpu' and 'cuda'")
        self.type, self.index = kind, int(number) if colon else index

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (f", index={self.index})" if self.index is not None else ")")

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __enter__(self) -> device:
        # New tensors are made there. "meta", where PyTorch makes them without data, keeps the data, as Module.to does:
        # what is made as a template, to be filled, serves as one either way.
        if self.type != "meta":
            check_device("device", self)
        _default.before = (*_default.before, _default.where)
        set_default(CPU if self.type == "meta" else self)
        return self

    def __exit__(self, *exception: object) -> None:
        *_default.before, _default.where = _default.before

    def __reduce__(self) -> Any:
        return device, ((self.type,) if self.index is None else (self.type, self.index))


device.__module__ = "torch"

CPU = device("cpu")


class _Default(threading.local):
    where: device = CPU
    before: Sequence[device] = ()
    """What it was outside of the `with` statements that this thread is in, outermost first."""


_default = _Default()

CHOSEN: list[int] = []
"""Non-empty from when some thread has chosen where tensors are made for which no device is named: what factories ask before
they ask their thread."""


def set_default(where: device) -> None:
    """Let tensors for which no device is named be made on one, in this thread."""
    if where.type != "cpu" and not CHOSEN:
        CHOSEN.append(1)
    _default.where = where


def default_device() -> device:
    """Where this thread makes tensors for which no device is named."""
    return _default.where


def place_named(where: Any) -> tuple[str, int]:
    """The kind and the number of a device that `check_device` has let pass, of the default one for None."""
    if where is None:
        where = _default.where
    found = where if type(where) is device else device(where)
    if found.type == "cpu":
        return "cpu", 0
    index = found.index
    return found.type, accelerator(found.type).current() if index is None else index  # type: ignore[union-attr]


def only_on_cpu(op: str, where: Any) -> None:
    """`check_device` for what is on the CPU alone: raises NotImplementedError for a device that is there."""
    check_device(op, where)
    kind, index = place_named(where)
    if kind != "cpu":
        raise NotImplementedError(
            f"{op}: sparse, nested and masked tensors are on the CPU only here, not on {kind}:{index}; make them of tensors "
            "on the CPU, or compute with dense ones"
        )


def check_device(op: str, where: Any, error: type[Exception] | None = None) -> None:
    """Accept None, the CPU and devices that are there; raise what PyTorch's build for the CPU raises for another device, or
    `error`, with the remedy, and RuntimeError for a number that no device has."""
    if where is None or where is CPU:
        return
    if isinstance(where, int):
        where = device(f"cuda:{where}")
    found = device(where)
    kind = found.type
    if kind == "cpu":
        return
    served = accelerator(kind)
    if served is None:
        raise (error or _REFUSED[kind])(
            f"{op}: device {str(where)!r} was asked for, but " + (
                "CuPy finds no GPU here (pip install 'retrograde[cuda]' on a machine that has one), so retrograde's torch "
                "dialect computes on the CPU; use device='cpu' (torch.cuda.is_available() is False)"
                if kind == "cuda"
                else "retrograde's torch dialect computes on the CPU and on CUDA devices; use device='cpu'"
            )
        )  # fmt: skip
    if found.index is not None and found.index >= served.count():
        raise RuntimeError(f"{op}: device {str(where)!r} was asked for, and there are {served.count()} of them, counted from 0")
