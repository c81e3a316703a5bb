"""A stand-in for CuPy: its modules with two devices, over NumPy's memory, for machines without a GPU.

What a card would not forgive is an error here: an array of NumPy's beside one of a device, a conversion that nobody asked
for, operands on two devices, a kernel started while another device is the current one. Names that CuPy 14.2 lacks are
lacking. `installed()` puts the modules into `sys.modules`, before anything imports CuPy, for processes of their own.
"""

from __future__ import annotations

import builtins
import functools
import operator
import sys
import threading
import types
import warnings
import weakref
from typing import Any

import numpy as np
import scipy.special

DEVICES = 2
MEMORY = 8 << 30

_LACKING = """
    ScalarType asmatrix block bmat bytes_ char character clongdouble complex256 core ctypeslib datetime64 dtypes einsum_path
    errstate f2py flexible float128 frompyfunc fromregex geomspace getbufsize geterr geterrcall histogram_bin_edges info insert
    isnat longdouble ma matrix matvec memmap nanpercentile nanquantile ndenumerate nditer nested_iters object_ polyder polydiv
    polyint rec recarray record setbufsize seterr seterrcall spacing str_ strings test timedelta64 typecodes unstack vecdot
    vecmat void array_api ndarray generic random linalg fft lib testing polynomial"""
_LINALG_LACKING = "diagonal matrix_norm multi_dot outer svdvals tensordot test trace vecdot vector_norm"
_SPECIAL = """bdtr bdtrc bdtri beta betainc betaincinv betaln binom boxcox boxcox1p cbrt chdtr chdtrc chdtri cosdg cosm1 cotdg
    digamma ellipeinc ellipj ellipk ellipkinc ellipkm1 entr erf erfc erfcinv erfcx erfinv exp1 exp10 exp2 expi expit expm1 expn
    exprel fdtr fdtrc fdtri gamma gammainc gammaincc gammainccinv gammaincinv gammaln gammasgn gdtr gdtrc huber i0 i0e i1 i1e
    inv_boxcox inv_boxcox1p j0 j1 k0 k0e k1 k1e kl_div lambertw log1p log_expit log_ndtr log_softmax loggamma logit logsumexp
    lpmv multigammaln nbdtr nbdtrc nbdtri ndtr ndtri pdtr pdtrc pdtri poch polygamma pseudo_huber psi radian rel_entr rgamma
    round shichi sici sinc sindg softmax sph_harm_y spherical_yn tandg wright_bessel xlog1py xlogy y0 y1 yn zeta zetac"""
_PLAIN_RESULTS = (bool, int, str, np.dtype, type, type(None))

GETS = [0]
"""How many arrays of more than one element were copied to the host."""

CALLS: set[tuple[str, int, tuple[str, ...]]] = set()
"""What was called, with how many arguments by place and which by name: to be held against CuPy's own signatures."""


class CUDARuntimeError(RuntimeError):
    """What the driver refuses."""


class _Thread(threading.local):
    current = 0


_thread = _Thread()


class Device:
    """A device, by number; within a `with` statement the current one."""

    def __init__(self, device: Any = None) -> None:
        self.id = _thread.current if device is None else int(device)
        self._before: list[int] = []

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def use(self) -> None:
        """Make it the current one."""
        if not 0 <= self.id < DEVICES:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        _thread.current = self.id

    def __enter__(self) -> Device:
        self._before.append(_thread.current)
        self.use()
        return self

    def __exit__(self, *error: object) -> None:
        _thread.current = self._before.pop()

    def synchronize(self) -> None:
        """Everything is done already."""

    @property
    def mem_info(self) -> tuple[int, int]:
        """The bytes that are free, and all."""
        return MEMORY - _pool.used_of(self.id), MEMORY

    @property
    def compute_capability(self) -> str:
        """Of a card that there is none of."""
        return "80"

    @property
    def attributes(self) -> dict[str, int]:
        """A few of what a card says of itself."""
        return {"MultiProcessorCount": 4}


Device.__module__ = "cupy.cuda.device"

_owners: dict[int, weakref.ref[Any]] = {}


def _owned(array: Any) -> None:
    key = id(array)
    _owners[key] = weakref.ref(array, lambda _: _owners.pop(key, None))


class _Pool:
    def used_of(self, device: int) -> int:
        return builtins.sum(a._host.nbytes for r in list(_owners.values()) if (a := r()) is not None and a._place == device)

    def used_bytes(self) -> int:
        return self.used_of(_thread.current)

    def total_bytes(self) -> int:
        return self.used_bytes()

    def free_bytes(self) -> int:
        return 0

    def free_all_blocks(self, stream: Any = None) -> None:
        pass


_pool = _Pool()


def _implicit() -> TypeError:
    return TypeError("an array on a device becomes none of NumPy's by itself; get() takes it to the CPU")


def _checked_dtype(dtype: np.dtype) -> np.dtype:
    if dtype.kind not in "biufc" or dtype.type in (np.longdouble, np.clongdouble) or not dtype.isbuiltin:
        raise ValueError(f"Unsupported dtype {dtype}")
    return dtype


def _taken(x: Any, everywhere: bool = False) -> Any:
    """An argument as NumPy's function takes it."""
    if isinstance(x, ndarray):
        if x._place != _thread.current and not everywhere:
            raise ValueError(
                f"Array device must be same as the current device: array device = {x._place} while current = {_thread.current}"
            )
        return x._host
    if isinstance(x, np.ndarray):
        raise TypeError(f"Unsupported type {type(x)}")
    if isinstance(x, (list, tuple)):
        return type(x)([_taken(y, everywhere) for y in x]) if not hasattr(x, "_make") else x
    return x


def _given(x: Any, place: int | None = None) -> Any:
    """A result as CuPy gives it: an array, never a number of NumPy's."""
    if isinstance(x, (np.ndarray, np.generic)):
        return ndarray._around(np.asarray(x), _thread.current if place is None else place)
    if isinstance(x, tuple):
        return x._make([_given(y, place) for y in x]) if hasattr(x, "_make") else tuple([_given(y, place) for y in x])  # type: ignore[attr-defined]
    if isinstance(x, list):
        return [_given(y, place) for y in x]
    return x


class _Flags:
    """Of an array's memory."""

    def __init__(self, flags: Any) -> None:
        self.c_contiguous, self.f_contiguous, self.owndata = flags.c_contiguous, flags.f_contiguous, flags.owndata
        self.forc = self.c_contiguous or self.f_contiguous
        self.fnc = self.f_contiguous and not self.c_contiguous


class ndarray:
    """An array on a device."""

    __slots__ = ("_host", "_place", "base", "__weakref__")
    __array_priority__ = 100

    _host: np.ndarray
    _place: int

    def __init__(self, shape: Any, dtype: Any = float) -> None:
        self._host, self._place, self.base = np.zeros(shape, _checked_dtype(np.dtype(dtype))), _thread.current, None
        _owned(self)

    @classmethod
    def _around(cls, host: np.ndarray, place: int, base: Any = None) -> ndarray:
        _checked_dtype(host.dtype)
        made = object.__new__(cls)
        made._host, made._place, made.base = host, place, base
        if host.base is None:
            _owned(made)
        return made

    shape = property(lambda self: self._host.shape)
    dtype = property(lambda self: self._host.dtype)
    ndim = property(lambda self: self._host.ndim)
    size = property(lambda self: self._host.size)
    itemsize = property(lambda self: self._host.itemsize)
    nbytes = property(lambda self: self._host.nbytes)
    strides = property(lambda self: self._host.strides)
    flags = property(lambda self: _Flags(self._host.flags))
    device = property(lambda self: Device(self._place))
    T = property(lambda self: self._view(self._host.T))
    mT = property(lambda self: self._view(self._host.mT))
    real = property(lambda self: self._view(self._host.real))
    imag = property(lambda self: self._view(self._host.imag))
    data = property(lambda self: types.SimpleNamespace(ptr=self._host.ctypes.data, device=self.device))

    def _view(self, host: np.ndarray) -> ndarray:
        return self._around(host, self._place, self if np.may_share_memory(host, self._host) else None)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise _implicit()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or "out" in options:
            return NotImplemented
        return _given(ufunc(*map(_taken, inputs), **options))

    def __array_function__(self, function: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        own = getattr(sys.modules["cupy"], function.__name__, None)
        return NotImplemented if own is None else own(*args, **kwargs)

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> np.ndarray:
        """The elements as NumPy's array: a copy."""
        GETS[0] += self.size > 1
        return np.array(self._host, order=order)

    def item(self, *index: Any) -> Any:
        """The element as Python's number."""
        return self._host.item(*index)

    def tolist(self) -> Any:
        """The elements as Python's numbers."""
        return self._host.tolist()

    def copy(self, order: str = "C") -> ndarray:
        """A copy on the current device, as CuPy has it."""
        return self._around(self._host.copy(order), _thread.current)

    def astype(self, dtype: Any, order: str = "K", casting: Any = None, subok: Any = None, copy: bool = True) -> ndarray:
        """The elements in another dtype."""
        _checked_dtype(np.dtype(dtype))
        if not copy and self.dtype == dtype:
            return self
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._around(_taken(self).astype(dtype), self._place)

    def view(self, dtype: Any = None) -> ndarray:
        """The memory as another dtype has it."""
        return self._view(self._host.view() if dtype is None else self._host.view(_checked_dtype(np.dtype(dtype))))

    def reshape(self, *shape: Any, order: str = "C") -> ndarray:
        """The elements in another shape, in the same memory where that goes."""
        found = self._host.reshape(*shape, order=order)
        return self._view(found)

    def transpose(self, *axes: Any) -> ndarray:
        """The axes in another order."""
        return self._view(self._host.transpose(*axes))

    def swapaxes(self, a: int, b: int) -> ndarray:
        """Two axes exchanged."""
        return self._view(self._host.swapaxes(a, b))

    def squeeze(self, axis: Any = None) -> ndarray:
        """Without the axes of one element."""
        return self._view(self._host.squeeze(axis))

    def ravel(self, order: str = "C") -> ndarray:
        """The elements along one axis."""
        return self._view(self._host.ravel(order))

    def fill(self, value: Any) -> None:
        """Write a number everywhere."""
        _taken(self).fill(_taken(value))

    def set(self, arr: np.ndarray, stream: Any = None) -> None:
        """Write the elements of NumPy's array."""
        self._host[...] = arr

    def __getitem__(self, index: Any) -> ndarray:
        found = self._host[_index(index)]
        return self._view(np.asarray(found) if not isinstance(found, np.ndarray) else found)

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._place != _thread.current:
            _taken(self)
        self._host[_index(index)] = _taken(value)

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self._host)))

    def __bool__(self) -> bool:
        return bool(self._host)

    def __int__(self) -> int:
        return int(self._host.item())

    def __float__(self) -> float:
        return float(self._host.item())

    def __complex__(self) -> complex:
        return complex(self._host.item())

    def __repr__(self) -> str:
        return repr(self._host)

    def __copy__(self) -> ndarray:
        with self.device:
            return self.copy()

    def __deepcopy__(self, memo: Any) -> ndarray:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return array, (self.get(),)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._place

    def __dlpack__(self, stream: Any = None, **options: Any) -> Any:
        return _Capsule(self)

    __hash__ = None  # type: ignore[assignment]


ndarray.__module__ = "cupy"


class _Capsule:
    """What DLPack hands over."""

    def __init__(self, array: ndarray) -> None:
        self.array: ndarray | None = array


def _index(index: Any) -> Any:
    """An index with the device's arrays: CuPy takes Python's numbers, slices, lists and its own arrays."""
    if isinstance(index, tuple):
        return tuple([_index(i) for i in index])
    return _taken(index)


def _method(name: str) -> None:
    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return _given(getattr(_taken(self), name)(*map(_taken, args), **{k: _taken(v) for k, v in kwargs.items()}))

    method.__name__ = name
    setattr(ndarray, name, method)


_METHODS = """all any argmax argmin argpartition argsort choose clip compress conj conjugate cumprod cumsum diagonal dot flatten
        max mean min nonzero prod repeat round searchsorted std sum take trace var"""
for _name in _METHODS.split():
    _method(_name)


def _operator(name: str) -> None:
    function = getattr(operator, {"and": "and_", "or": "or_", "divmod": "mod"}.get(name, name), None)

    def both(swapped: bool) -> Any:
        def method(self: ndarray, other: Any) -> Any:
            if not isinstance(other, (ndarray, np.generic, int, float, complex, bool)):
                if isinstance(other, np.ndarray):
                    raise TypeError(f"Unsupported type {type(other)}")
                return NotImplemented
            x, y = _taken(self), _taken(other)
            with np.errstate(all="ignore"):
                return _given(function(y, x) if swapped else function(x, y))

        return method

    setattr(ndarray, f"__{name}__", both(False))
    if name not in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(ndarray, f"__r{name}__", both(True))

        def in_place(self: ndarray, other: Any) -> ndarray:
            self[...] = getattr(self, f"__{name}__")(other)
            return self

        setattr(ndarray, f"__i{name}__", in_place)


_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift eq ne lt le gt ge"
for _name in _OPERATORS.split():
    _operator(_name)
for _name in ("neg", "pos", "abs", "invert"):
    setattr(ndarray, f"__{_name}__", functools.partialmethod(
        lambda self, f: _given(f(_taken(self))), getattr(operator, _name)))  # fmt: skip


def array(obj: Any, dtype: Any = None, copy: bool = True, order: str = "K", subok: bool = False, ndmin: int = 0) -> ndarray:
    """An array on the current device: from the host, where that is asked for, or from another device."""
    if dtype is not None:
        _checked_dtype(np.dtype(dtype))
    if isinstance(obj, ndarray):
        if not copy and obj._place == _thread.current and (dtype is None or obj.dtype == dtype):
            return obj
        return ndarray._around(np.array(obj._host, dtype=dtype), _thread.current)
    return ndarray._around(np.array(_nested(obj), dtype=dtype, ndmin=ndmin), _thread.current)


def _nested(obj: Any) -> Any:
    if isinstance(obj, (list, tuple)):
        return [_nested(x) for x in obj]
    return _taken(obj) if isinstance(obj, ndarray) else obj


def asarray(a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False) -> ndarray:
    """`array` without a copy where none is needed."""
    return array(a, dtype, copy=False)


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> np.ndarray:
    """The elements as NumPy's array."""
    return a.get() if isinstance(a, ndarray) else np.asarray(a)


def from_dlpack(x: Any, *, device: Any = None, copy: Any = None) -> ndarray:
    """The memory of an array on a device, shared."""
    kind, place = x.__dlpack_device__()
    if kind != 2:
        raise TypeError("CPU arrays are not taken from DLPack")
    with Device(place):
        capsule = x.__dlpack__()
    if not isinstance(capsule, _Capsule) or capsule.array is None:
        raise RuntimeError("no unused capsule of this library's")
    found, capsule.array = capsule.array, None
    return ndarray._around(found._host.view(), found._place, found)


def _function(name: str, function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        CALLS.add((name, len(args), tuple(sorted(kwargs))))
        with np.errstate(all="ignore"):
            found = function(*map(_taken, args), **{k: _taken(v) for k, v in kwargs.items()})
        if isinstance(found, bool) and name in ("array_equal", "allclose", "array_equiv"):
            found = np.bool_(found)
        if name in ("linalg.eigvals", "linalg.eig"):  # always complex there
            found = found.astype(complex) if name[-1] == "s" else type(found)(*[x.astype(complex) for x in found])
        if name in ("count_nonzero",):
            found = np.asarray(found)
        return found if isinstance(found, _PLAIN_RESULTS) else _given(found)

    return call


def _functions(module: types.ModuleType, source: Any, names: Any, prefix: str = "") -> None:
    for name in names:
        found = getattr(source, name)
        if isinstance(found, type) or not callable(found):
            if isinstance(found, (type, float, int, type(None))):
                setattr(module, name, found)
        elif name in ("issubdtype", "result_type", "can_cast", "promote_types", "isscalar", "dtype", "finfo", "iinfo"):
            setattr(module, name, _function(name, found) if name in ("result_type", "can_cast") else found)
        else:
            setattr(module, name, _function(prefix + name, found))


class Stream:
    """A queue of work, which is done at once here."""

    null: Any = None

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: int = 0) -> None:
        self.ptr, self._before = id(self), list[Any]()

    done = True

    def use(self) -> Stream:
        """Make it the current one."""
        _streams.current = self
        return self

    def __enter__(self) -> Stream:
        self._before.append(get_current_stream())
        return self.use()

    def __exit__(self, *error: object) -> None:
        self._before.pop().use()

    def synchronize(self) -> None:
        """Everything is done already."""

    def record(self, event: Any = None) -> Any:
        """An event in the queue."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Any) -> None:
        """Nothing to wait for."""


class _Streams(threading.local):
    current: Any = None


_streams = _Streams()
Stream.null = Stream(null=True)


def get_current_stream(device_id: Any = None) -> Stream:
    """The queue that work goes to."""
    return _streams.current or Stream.null


class Event:
    """A point in a queue."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        self.time = 0.0

    done = True

    def record(self, stream: Any = None) -> None:
        """Put it into the queue."""
        import time

        self.time = time.perf_counter()

    def synchronize(self) -> None:
        """Nothing to wait for."""


def get_elapsed_time(start: Event, end: Event) -> float:
    """The milliseconds between two events."""
    return (end.time - start.time) * 1e3


def _set_device(device: int) -> None:
    Device(device).use()


def modules() -> dict[str, types.ModuleType]:
    """CuPy's modules by name, newly made."""
    made = {name: types.ModuleType(name) for name in (
        "cupy", "cupy.cuda", "cupy.cuda.runtime", "cupy.cuda.device", "cupy.linalg", "cupy.fft", "cupyx", "cupyx.scipy",
        "cupyx.scipy.special",
    )}  # fmt: skip
    cupy, cuda, runtime = made["cupy"], made["cupy.cuda"], made["cupy.cuda.runtime"]
    _functions(cupy, np, [name for name in dir(np) if name[0] != "_" and name not in _LACKING.split()])
    offered = [name for name in dir(np.linalg) if name[0] != "_" and name not in _LINALG_LACKING.split()]
    _functions(made["cupy.linalg"], np.linalg, offered, "linalg.")
    _functions(made["cupy.fft"], np.fft, [name for name in dir(np.fft) if name[0] != "_" and name != "test"], "fft.")
    _functions(made["cupyx.scipy.special"], scipy.special, _SPECIAL.split(), "special.")
    cupy.__dict__.update(
        ndarray=ndarray, array=array, asarray=asarray, asnumpy=asnumpy, from_dlpack=from_dlpack, newaxis=None, dtype=np.dtype,
        get_default_memory_pool=lambda: _pool, is_available=lambda: True, __version__="14.2.0", __path__=[],
    )  # fmt: skip
    runtime.__dict__.update(
        getDeviceCount=lambda: DEVICES, getDevice=lambda: _thread.current, setDevice=_set_device,
        CUDARuntimeError=CUDARuntimeError, deviceSynchronize=lambda: None, memGetInfo=lambda: Device().mem_info,
        runtimeGetVersion=lambda: 12080, driverGetVersion=lambda: 12080,
        getDeviceProperties=lambda i: {
            "name": f"Stand-in {i}".encode(), "totalGlobalMem": MEMORY, "major": 8, "minor": 0, "multiProcessorCount": 4,
        },
    )  # fmt: skip
    made["cupy.cuda.device"].Device = Device  # type: ignore[attr-defined]
    cuda.__dict__.update(
        Device=Device, Stream=Stream, Event=Event, get_current_stream=get_current_stream, get_elapsed_time=get_elapsed_time,
        is_available=lambda: True, get_device_id=lambda: _thread.current, __path__=[],
    )  # fmt: skip
    for name, module in made.items():
        if "." in name:
            parent, _, own = name.rpartition(".")
            setattr(made[parent], own, module)
            made[parent].__path__ = []  # type: ignore[attr-defined]
    return made


def installed() -> types.ModuleType:
    """Put the stand-in where `import cupy` finds it; returns it. Raises RuntimeError where CuPy is there already."""
    if "cupy" in sys.modules:
        raise RuntimeError("something else goes by the name cupy in this process")
    made = modules()
    sys.modules.update(made)
    return made["cupy"]

