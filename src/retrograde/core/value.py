"""`Value`: an array with its place on a tape. `Tensor` (floor 5) and every dialect's tensor derive from it.

Owned here: the fields that `bind` sets per operation, how the result class of an operation is chosen, and the
helpers that ask a value or an array for its shape and dtype.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from .policy import TapePolicy
from .scattered import Scattered

_ndarray = np.ndarray
V = TypeVar("V", bound="Value")


def _share_keys(cls: type) -> None:
    """Let views share the keys of their dictionaries: CPython lets an instance have a name in common with others of its class
    if one of the first thirty had it, and gives it a dictionary of its own for any other name (0.12 µs and 184 bytes)."""
    if not hasattr(cls, "__del__"):
        one: Any = object.__new__(cls)
        for name in _IN_DICTIONARIES:
            object.__setattr__(one, name, None)


_IN_DICTIONARIES = "_base", "_view_steps", "_views"


class Value:
    """An array on a tape.

    `_a` is the array: a backend's array, an array of a transform (batched, dual), or a core value of a lower level.
    `_node` is the edge along which its gradient leaves: a Node, a Slot of a node with several outputs, the
    Accumulate of a leaf, or None when no gradient is wanted. `_level` is the level at which it computes (0: the
    everyday tape). What few values have (hooks, views, `.grad`) lives in the instance's dictionary with the class
    attributes below as defaults, since each slot set per operation costs 10 ns.
    """

    __slots__ = ("_a", "_level", "_node", "__dict__", "__weakref__")

    _a: Any
    _node: Any
    _level: int

    _result: ClassVar[type]
    """The class of results of operations on this one: itself, unless the class says otherwise."""
    _gradient: ClassVar[type]
    """The class of gradients that the engine hands to hooks and puts into `.grad`: the dialect's tensor, no subclass."""
    _dialect: ClassVar[str] = ""
    """The dialect whose tensor this is; empty for the native one, which goes with all."""
    _history_lost: ClassVar[bool] = False
    """Whether it is a view that cannot be used any more (`TapePolicy.keeps_restricted_views`)."""
    _policy: ClassVar[TapePolicy] = TapePolicy()
    """What its tape does where the frameworks differ."""

    if TYPE_CHECKING:  # what the tensors of floor 5 and of the dialects add
        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __add__(self, other: Any) -> Any: ...

    _grad: Any = None
    _base: Any = None
    """The value this one is a view of, if any."""
    _views: Any = None
    """Weak references to the live views of this value."""
    _view_steps: Any = None
    """How this view comes from its base: a tuple of (operation, parameters)."""
    _view_restriction: str | None = None
    """Why this view may not be written while recording, if so (tape/inplace.py)."""
    _memory: Any = None
    """Of a value whose array cannot be written, and that was made to share another's memory: that one, and the view steps."""
    _sharers: Any = None
    """Weak references to the values that share the memory of this one so."""
    _outer: Any = None
    """Of an argument of a transform whose changes are to be seen outside: the value that it stands for there, and two functions,
    of that one's part of an array (`below`) and of the array around it (`again`)."""
    _born: int = 0
    """The innermost level that was open when this value was created."""
    def __init_subclass__(cls, result: type | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._result = cls if result is None else result
        _share_keys(cls)
        if Value in cls.__bases__:
            cls._gradient = cls


Value._result = Value._gradient = Value

# The class that rules compute with when they run on values; floor 5 puts its Tensor here.
core_class: type[Value] = Value


class LevelArray:
    """An array of a functional transform, which computes at the level it belongs to."""

    __slots__ = ("_level", "dtype", "shape")

    _level: int
    shape: tuple[int, ...]
    dtype: np.dtype
    under: Any
    """The array one level down that is of the same library."""

    @property
    def ndim(self) -> int:
        """The number of visible axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of visible elements."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype}, level={self._level})"


def set_core_class(cls: type[Value]) -> None:
    """Make `cls` the class of values that derivative rules see."""
    global core_class
    core_class = cls


def make(cls: type[V], array: Any, node: Any = None, level: int = 0) -> V:
    """A value of class `cls` around `array`."""
    value = object.__new__(cls)
    value._a, value._node, value._level = array, node, level
    return value


def detached(x: V) -> V:
    """Another value over the same array, without history."""
    found: V = make(type(x)._result, x._a, None, x._level)
    return found


def as_value(cls: type[V], x: Any) -> V:
    """An array, or a value of another class, as a value of class `cls` at the level where it is."""
    if isinstance(x, Value):
        return make(cls, x._a, x._node, x._level)
    if type(x) is np.ndarray:
        return make(cls, x)
    if type(x) is Scattered:
        dense = cls._policy.from_scattered(x)
        return make(cls, dense) if type(dense) is np.ndarray else dense
    return make(cls, np.asarray(x) if isinstance(x, np.generic) else x, None, level_of(x))


def content(value: Value) -> Any:
    """A value as what a transform's array or a tape of a higher level holds: its plain array if nothing hangs on it."""
    if value._node is None and value._level == 0:
        return value._a
    return as_core(value)


def as_core(value: Value) -> Value:
    """The same value (array, edge, level) as a core value, without a dialect's behaviour."""
    if type(value) is core_class:
        return value
    return make(core_class, value._a, value._node, value._level)


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of an array, value, edge or Python number."""
    while type(x) is not _ndarray:
        if not isinstance(x, Value):
            if isinstance(x, (bool, int, float, complex)):
                return ()
            break
        x = x._a
    try:
        return x.shape
    except AttributeError:
        raise _no_array(x) from None


def dtype_of(x: Any) -> np.dtype:
    """The NumPy dtype of an array, value, edge or Python number."""
    while type(x) is not _ndarray:
        if not isinstance(x, Value):
            if isinstance(x, (bool, int, float, complex)):
                return np.result_type(type(x))
            break
        x = x._a
    try:
        return x.dtype
    except AttributeError:
        raise _no_array(x) from None


def _no_array(x: Any) -> TypeError:
    return TypeError(f"wanted a tensor, an array or a number, got {type(x).__name__}")


def ndim_of(x: Any) -> int:
    """The number of dimensions of an array, value, edge or Python number."""
    return len(shape_of(x))


def level_of(x: Any) -> int:
    """The level at which a value or a transform's array computes; 0 for plain arrays."""
    return getattr(x, "_level", 0)


def result_class(operands: Any) -> type[Value]:
    """The class of an operation's result: the most derived that an operand names; a dialect's before the core's.

    Raises TypeError where tensors of two dialects meet, whose rules for the result would differ.
    """
    best: type[Value] | None = None
    for x in operands:
        if isinstance(x, Value):
            cls: type[Value] = type(x)._result
            if best is None or cls is best:
                best = cls
            elif best._dialect != cls._dialect and best._dialect and cls._dialect:
                raise TypeError(
                    f"an operation got tensors of two dialects, {best._dialect} and {cls._dialect}, and each has its own "
                    "rules for the result; convert one of them first, through .numpy() (.asnumpy() in mindspore) or, to "
                    "share the memory, from_dlpack()"
                )
            elif issubclass(cls, best) or best is core_class:
                best = cls
    return core_class if best is None else best


def error_type(cls: type[Value], kind: type[Exception]) -> type[Exception]:
    """The exception type that users of `cls` expect where the engine means `kind`."""
    return cls._policy.error(kind)
