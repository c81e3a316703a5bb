"""Arrays without elements, and what is computed with them: operations on a `Traced` array write equations.

`Trace` collects them. The arrays are an array library like any other (backend/lookup.py): tapes, transforms and changes in
place work on them as they are, and so a trace sees forward and backward alike.
"""

from __future__ import annotations

import itertools
import operator
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..._errors import LevelError, UnsupportedError
from ..._state import grad_mode
from ...backend import Backend, register_backend
from ...backend.canonical import canonical_dtype
from ...backend.numpy import NUMPY
from ...core import value as values
from ...core.aval import Aval
from ...core.number import UNKNOWN, Number, Term
from ...core.primitive import PRIMITIVES
from ...core.value import Value, make
from ...tape.inplace import live_views
from .. import layout
from ..graph import Equation, Graph, Variable

_PACKAGE = __name__.partition(".")[0]

LOCK = threading.RLock()
"""Held while a function is traced: what it reads from outside holds traced arrays then."""

TRACING = threading.local()
"""`TRACING.now`: the trace that this thread is in, if any."""

ACTIVE: list[Any] = []
"""The traces of all threads: asked before TRACING, which takes 60 ns to read."""


def tracing() -> bool:
    """Whether this thread traces a function now."""
    return bool(ACTIVE) and getattr(TRACING, "now", None) is not None


class Traced:
    """An array of a trace: a variable of its graph."""

    __slots__ = ("__weakref__", "dtype", "shape", "trace", "value", "variable")

    value: np.ndarray | None
    """The elements, once they are there (deferred.py)."""

    __array_ufunc__ = None  # NumPy leaves operators to the tensors around it

    def __init__(self, trace: Trace, variable: Variable) -> None:
        self.trace, self.variable, self.shape, self.dtype = trace, variable, variable.shape, variable.dtype
        self.value = None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return self.variable.size

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        return np.asarray(self.trace.elements(self), *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        # What the protocol does not have is asked of the elements, where there are any.
        if name[:1] == "_" or (self.value is None and self.trace.leaves):
            raise AttributeError(f"an array of {self.trace.what} has no {name!r}")
        return getattr(self.trace.elements(self), name)

    def __len__(self) -> int:
        return len(self.trace.elements(self))

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """As NumPy's arrays have it, of which this may stand for one that was made of sizes."""
        if self.value is None and self.trace.leaves:
            return PRIMITIVES["cast"].op(self, dtype=canonical_dtype(np.dtype(dtype)))
        return self.trace.elements(self).astype(dtype, *args, **kwargs)

    def __repr__(self) -> str:
        return f"Traced({self.variable!r})"


SESSIONS = itertools.count()
"""A number for each time that a trace is open."""


def _said(term: Term) -> Any:
    """What a term says, of operands of which each that says the same is the same."""
    return term.text, term.function, tuple([id(x) if isinstance(x, Term) else (type(x), x) for x in term.operands])


class Remade(NamedTuple):
    """What makes an array of sizes."""

    function: Callable[..., np.ndarray]
    operands: tuple[Any, ...]


def _filled(shape: tuple[int, ...], value: Any, dtype: np.dtype) -> np.ndarray:
    return np.broadcast_to(np.asarray(value, dtype), shape)


class Trace:
    """The equations that are written while a function runs.

    what: how messages name it, such as "jit of step".
    """

    def __init__(self, what: str) -> None:
        self.what, self.open, self.inferring, self.session = what, True, False, next(SESSIONS)
        self.equations: list[Equation] = []
        self.constants: dict[int, tuple[Variable, np.ndarray]] = {}  # by the id of the array that was met, which is kept
        self.settled: list[tuple[Variable, np.ndarray]] = []
        """Constants that were written after they had been met, as they were then."""
        self.replaced: list[tuple[weakref.ref[Any], np.ndarray]] = []
        """The values that had an array with elements and got one of the trace by a change in place, and that array."""
        self.holders: Sequence[Any] = ()
        """What holds arrays of the trace while the function runs: tensors, and generators with their states."""
        self.bodies: list[Any] = []
        """The parts of the function that are being traced by themselves (body.py)."""
        self.conditions: dict[Any, tuple[Term, Any]] = {}
        """What numbers have to be for the trace to hold, each with what it was."""
        self.entries: dict[tuple[int, np.dtype], tuple[Term, Traced]] = {}
        """The numbers that became operands, by term and dtype."""
        self._terms: list[Term] = []  # kept, so that no id comes again
        self.sizes: tuple[int, ...] = ()
        """The sizes of now that vary from call to call (sizes.py)."""
        self._sized: dict[int, tuple[Term, Any]] = {}  # what terms are for these, by their ids
        self._met: dict[Any, Term] = {}  # terms of sizes, by what they say
        self.shapes: dict[int, tuple[Any, ...]] = {}
        """The shapes of holders, by id, in which numbers stand for sizes that vary."""
        self.remade: dict[Variable, Remade] = {}
        """The arrays that are made of sizes alone, for each anew."""
        self.asked: list[tuple[Term, tuple[str, int] | None]] = []
        """The terms of sizes whose value was asked for, and the user's lines."""
        self.outcomes: Any = None
        """What says which way Python goes where it decides on elements (`Outcomes`); without it that is refused."""
        self.begun: dict[Variable, np.ndarray] = {}
        """The arrays of the call for which the function is traced, as far as they are known, by what stands for them."""
        self.ordered = False
        """Whether it was asked how arrays lie in memory."""
        self.inlined: list[Any] = []
        """What the report says of the compiled functions that were called inside, once for each call."""

    leaves = True
    """Whether tensors that come in with a history are leaves inside, and what is left in them is put back afterwards."""

    def begin(self, array: Any, holder: Any = None) -> Traced:
        """What stands for an array that comes in: of a trace, something of which nothing but shape and dtype is known."""
        return Traced(self, Variable(self.shapes.get(id(holder), array.shape), array.dtype))

    def elements(self, x: Traced) -> np.ndarray:
        """The elements of an array, which only what was made inside of nothing that came in has."""
        if x.value is None:
            self.refuse("the elements of an array")
        return x.value

    def adopt(self, x: Any) -> None:
        """Let a value that was created inside hold an array of the trace, with its elements: so it can be written like others."""
        if type(x._a) is np.ndarray:
            x._a = self.known(x._a)

    def handed(self, holder: Any) -> None:
        """See `Backend.handed`."""

    def known(self, array: np.ndarray) -> Traced:
        """An array of the trace with elements."""
        made = self.constant(array)
        made.value = array
        return made

    def variable(self, x: Any) -> Variable | None:
        """The variable that stands for an operand."""
        if x is None:
            return None
        if type(x) is Traced:
            if x.trace is not self:
                self._strange(x)
            return x.variable
        array = np.asarray(x)
        found = self.constants.get(id(array))
        if found is None:
            found = self.constants[id(array)] = Variable(array.shape, array.dtype), array
        return found[0]

    def constant(self, array: np.ndarray) -> Traced:
        """An array with elements as one of the trace."""
        variable = self.variable(array)
        assert variable is not None
        return Traced(self, variable)

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype) -> Traced:
        """An array filled with a number; of stride 0, which says so."""
        if of_sizes(shape):
            return self.made(shape, dtype, _filled, shape, value, dtype)
        return self.known(np.broadcast_to(np.asarray(value, dtype), shape))

    def made(self, shape: Sequence[Any], dtype: np.dtype, function: Callable[..., np.ndarray], *operands: Any) -> Traced:
        """An array that a function makes of sizes, for each anew."""
        variable = Variable(shape, dtype)
        self.remade[variable] = Remade(function, operands)
        return Traced(self, variable)

    def settle(self, array: np.ndarray) -> None:
        """Before memory is written: constants that lie in it keep the elements that they had when they were met."""
        for key, (variable, have) in list(self.constants.items()):
            if np.may_share_memory(have, array):
                self.settled.append((variable, have.copy()))
                del self.constants[key]

    def operation(self, prim: Any, arrays: Sequence[Any], params: dict[str, Any]) -> Any:
        """Write down a primitive on operands of which one at least is traced."""
        if not self.open:
            raise LevelError(
                f"{prim.name}: an array of {self.what} was used after the function had returned; return it from the function "
                "instead of storing it outside"
            )
        if any(_has_numbers(p) for p in params.values()):
            made = self._with_numbers(prim, arrays, params)
            if made is not None:
                return made
            params = {key: _known(p) for key, p in params.items()}
        if self.leaves and not (self.sizes and any(map(holds_sizes, params.values()))):
            for x in arrays:
                if type(x) is Traced and x.value is None:
                    break
            else:  # all have their elements
                out = NUMPY.evaluate(prim, [x.value if type(x) is Traced else x for x in arrays], params)
                return tuple(map(self.known, out)) if prim.multi else self.known(out)
        if prim.kind == "data_dependent":
            self.refuse(f"the result of {prim.name}, whose shape depends on elements,")
        inputs = [self.variable(x) for x in arrays]
        self.inferring = True
        try:
            avals = prim.infer([None if v is None else Aval(v.shape, v.dtype) for v in inputs], params)
        finally:
            self.inferring = False
        outputs = [Variable(shape, dtype) for shape, dtype in (avals if prim.multi else (avals,))]
        self.equations.append(Equation(prim, inputs, params, outputs, user_line()))
        made = tuple([Traced(self, v) for v in outputs])
        return made if prim.multi else made[0]

    # ------------------------------------------------------------------------------------------ numbers

    def value_of(self, number: Number) -> Any:
        """See `Keeper`: the trace holds for this value."""
        if number.value is not UNKNOWN:
            if number.term.sized:
                self.asked.append((number.term, user_line()))
            return self.outcome_of(number.term, True, number.value)
        if number.kind is not int:  # another one each time
            self.refuse("the value of a number that item() gave")
        return self.outcome_of(number.term, False, UNKNOWN)

    def outcome_of(self, term: Term, known: bool, outcome: Any) -> Any:
        """See `Keeper`."""
        if not known:
            if self.outcomes is None or not self.open:
                self.refuse("the value of a number that item() gave")
            return self.outcomes.answer(term)
        if term.sized and not self.open:
            raise LevelError(f"a size that {self.what} was given was used after the function had returned")
        self._terms.append(term)
        self.conditions[_said(term)] = term, outcome
        return outcome

    def met(self, term: Term) -> Term:
        """See `Keeper`."""
        return self._met.setdefault(_said(term), term)

    def entered(self, number: Number, dtype: np.dtype) -> Traced:
        """See `Keeper`: an input of the graph, or computed in it where the number is."""
        term = number.term
        if term.late:
            return self._computed(term, dtype, number)
        if term.sized:
            return self.made((), dtype, np.array, number, dtype)
        found = self.entries.get((id(term), dtype))
        if found is None:
            found = self.entries[id(term), dtype] = term, Traced(self, Variable((), dtype))
        return found[1]

    def sized(self, term: Term) -> Any:
        """See `Keeper`."""
        if term.axis is not None:
            return self.sizes[term.axis]
        known = self._sized
        stack = [] if id(term) in known else [term]
        while stack:  # as deep as the function's loop was long
            t = stack[-1]
            missing = [x for x in t.operands if isinstance(x, Term) and x.axis is None and id(x) not in known]
            if missing:
                stack += missing
                continue
            stack.pop()
            given = [
                x if not isinstance(x, Term) else known[id(x)][1] if x.axis is None else self.sizes[x.axis]
                for x in t.operands
            ]  # fmt: skip
            assert t.now is not None
            known[id(t)] = t, t.now(*given)
        return known[id(term)][1]

    def measure(self, sizes: tuple[int, ...]) -> None:
        """Let sizes that vary be these."""
        self.sizes, self._sized = sizes, {}

    def forget(self) -> None:
        """Let go of what leads back to the trace, where nothing comes of it: memory that it has met is the program's again."""
        self.equations, self.asked, self.replaced, self.constants, self.settled = [], [], [], {}, []
        self.shapes, self.remade, self.entries, self.begun, self.outcomes = {}, {}, {}, {}, None

    def _computed(self, term: Term, dtype: np.dtype, number: Number) -> Traced:
        """A number that item() gave, and what is computed of such ones, as an array."""
        double = np.dtype(np.float64)

        def of(x: Any) -> Any:
            if not isinstance(x, Term):
                return np.asarray(x, double)
            if x.array is not None:
                array = PRIMITIVES["reshape"].op(x.array, shape=())
                return array if array.dtype == double else PRIMITIVES["cast"].op(array, dtype=double)
            if not x.late:
                return self.entered(Number(self, x, UNKNOWN, float), double)
            name = _ARITHMETIC.get(x.text)
            if name is None or number.kind is not float:
                self.refuse("the value of a number that item() gave")
            return PRIMITIVES[name].op(*map(of, x.operands))

        if term.array is not None and term.array.dtype == dtype:
            return PRIMITIVES["reshape"].op(term.array, shape=())
        found: Traced = PRIMITIVES["cast"].op(of(term), dtype=dtype)
        return found

    def _with_numbers(self, prim: Any, arrays: Sequence[Any], params: dict[str, Any]) -> Any:
        """An elementwise operation some of whose parameters are numbers of the trace: what it is made of, where those are
        operands. None where its standard kernel wants to know them."""
        if prim.kind != "elementwise" or not self.leaves:
            return None
        inputs = [None if x is None else make(values.core_class, x) for x in arrays]
        avals = [None if x is None else Aval(tuple(x.shape), x.dtype) for x in arrays]
        namespace = next(x for x in inputs if x is not None).__array_namespace__()
        begun, conditions, outcomes = len(self.equations), dict(self.conditions), self.outcomes
        self.outcomes = None  # the kernel is to do without
        try:
            with grad_mode(False):
                out = prim.kernel(namespace, *inputs, **params)
            shape, dtype = prim.infer(avals, {key: _known(p, False) for key, p in params.items()})
        except (UnsupportedError, AttributeError, TypeError, ValueError, NotImplementedError):
            out = None
        finally:
            self.outcomes = outcomes
        array = out._a if isinstance(out, Value) else out
        if type(array) is Traced and (array.shape, array.dtype) == (tuple(shape), dtype):
            return array
        del self.equations[begun:]
        self.conditions = conditions | {key: x for key, x in self.conditions.items() if x[0].sized}  # what is remembered holds
        return None

    def graph(self, inputs: Sequence[Traced], outputs: Sequence[Any]) -> Graph:
        """What has been written, as a graph."""
        results = [self.variable(y) for y in outputs]
        assert None not in results
        constants = dict([*self.constants.values(), *self.settled])
        given = Graph([x.variable for x in inputs], constants, self.equations, results)  # type: ignore[arg-type]
        return given.replaced(given.equations)

    def before_change(self, target: Any) -> None:
        """See `Backend.before_change`: an array of a trace has no memory. A body of a loop changes nothing from outside."""
        for body in self.bodies:
            body.changing(target)

    def into_memory(self, target: Any, array: Traced) -> np.ndarray | None:
        """See `Backend.into_memory`: nobody else may look at what was made inside, since it becomes an array of the trace."""
        holder = target if target._base is None else target._base
        memory = holder._a
        self.settle(memory)
        owner = memory
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        views = sum(v._a.base is owner for v in live_views(holder))
        # The value, two variables (the caller's, where it is the target's) and the argument refer to the array; a variable and
        # what looks at it to its owner.
        own = sys.getrefcount(memory) - 3 - (holder is target) - (owner is memory) * (views + 1)
        others = 0 if owner is memory else sys.getrefcount(owner) - 3 - views
        if own > 0 or others > 0 or owner.base is not None:
            raise UnsupportedError(
                f"{self.what}: a result is written into a tensor of shape {memory.shape} that shares its memory with "
                "another one; write into a clone() of it, or compute it out of place"
            )
        self.replaced.append((weakref.ref(holder), memory))
        return None

    def suspended(self, what: str, holders: Any) -> AbstractContextManager[None]:
        """A context in which values hold their elements; a trace has none."""
        self.refuse(f"the parameters' elements, by {what},")

    def refuse(self, what: str) -> NoReturn:
        """Say that the trace has no elements to give."""
        at = user_line()
        where = f"in {at[0]}:{at[1]}" if at else "here"
        raise UnsupportedError(
            f"{self.what} runs the function on arrays that have no elements yet, and {what} would be needed {where}; choose "
            "between values with where(), or make what decides a static argument"
        )

    def _strange(self, x: Traced) -> NoReturn:
        raise LevelError(
            f"an array of {x.trace.what} was used in {self.what}; return it from the function that made it instead of storing "
            "it outside"
        )


class TraceBackend(Backend):
    """How operations on traced arrays are evaluated: they are written down."""

    name = "trace"
    deferred = True

    def evaluate(self, prim: Any, arrays: Any, params: dict[str, Any]) -> Any:
        trace: Trace = next(x.trace for x in arrays if type(x) is Traced)
        return trace.operation(prim, arrays, params)

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype, like: Any) -> Any:
        if not like.trace.open and like.value is not None:
            return np.full(shape, value, dtype)
        return like.trace.full(shape, value, dtype)

    def before_change(self, target: Any) -> None:
        target._a.trace.before_change(target)

    def handed(self, holder: Any) -> None:
        holder._a.trace.handed(holder)

    def into_memory(self, target: Any, array: Any) -> np.ndarray | None:
        found: np.ndarray | None = array.trace.into_memory(target, array)
        return found

    def rate(self, number: Any, like: Any) -> Any:
        if like.trace.leaves or type(number) not in (int, float):
            return number
        return np.array(number, np.float64)  # a segment is compiled by its parameters, and this one is none

    def storage_order(self, array: Any) -> tuple[int, ...] | None:
        if array.value is not None:
            return layout.order_of(array.value)
        array.trace.ordered = True
        return layout.orders(array.trace)(array.variable)

    def from_host(self, array: np.ndarray, like: Any) -> Any:
        if not like.trace.open and like.value is not None:
            return array
        return like.trace.constant(array)

    def to_host(self, array: Any) -> np.ndarray:
        trace = array.trace
        if trace.outcomes is not None and trace.open and array.value is None:
            found: np.ndarray = trace.outcomes.elements(array)
        else:
            found = trace.elements(array)
        return found

    def eagerly(self, what: str, holders: Any) -> AbstractContextManager[None]:
        trace: Trace = next(x._a.trace for x in holders if type(x._a) is Traced)
        return trace.suspended(what, holders)

    def unwrap(self, array: Any) -> Any:
        return self.to_host(array)  # no library knows a traced array

    def asked_for_number(self, array: Any) -> Any:
        if array.trace.leaves and array.value is None and array.dtype.kind in "fiu":
            return _Asked(array)
        return self.to_host(array)


class _Asked:
    """An array that `item()` is asked of: the number is promised, and is there when the call's arrays are."""

    def __init__(self, array: Traced) -> None:
        self.array, self.shape, self.size, self.ndim, self.dtype = array, array.shape, array.size, array.ndim, array.dtype

    def item(self, *index: Any) -> Number:
        if self.size != 1 or index:
            self.array.trace.refuse("the elements of an array")
        kind = float if self.dtype.kind == "f" else int
        return Number(self.array.trace, Term("", array=self.array), UNKNOWN, kind)


register_backend(Traced, TraceBackend())


_ARITHMETIC = {"{} + {}": "add", "{} - {}": "subtract", "{} * {}": "multiply", "{} / {}": "divide", "-{}": "negative"}
"""Arithmetic of numbers that a graph does as Python does it."""


def _has_numbers(x: Any) -> bool:
    """Whether there are numbers in a parameter that the trace does not keep there: others than those of sizes."""
    if type(x) is Number:
        return not x.term.sized
    return isinstance(x, (tuple, list)) and any(map(_has_numbers, x))


def holds_sizes(x: Any) -> bool:
    """Whether sizes that vary are somewhere in a parameter."""
    if isinstance(x, (tuple, list)):
        return any(map(holds_sizes, x))
    return holds_sizes((x.start, x.stop, x.step)) if type(x) is slice else type(x) is Number


def of_sizes(shape: Any) -> bool:
    """Whether sizes that vary are in a shape."""
    return type(shape) is Number or (isinstance(shape, (tuple, list)) and any(type(n) is Number for n in shape))


def _known(x: Any, noted: bool = True) -> Any:
    """A parameter with the values of the numbers in it; the trace holds for these where that is to be noted."""
    if type(x) is Number:
        return x.known() if noted or x.value is UNKNOWN else x.value
    return type(x)([_known(y, noted) for y in x]) if type(x) in (tuple, list) and _has_numbers(x) else x


_OPERATIONS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "modulo",
    "pow": "power", "matmul": "matmul", "neg": "negative", "abs": "absolute", "eq": "equal", "ne": "not_equal", "lt": "less",
    "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
"""What rules mean by operators, which they may use on arrays of any library."""


def _operator(name: str) -> Any:
    def method(self: Traced, *others: Any) -> Any:
        if self.trace.leaves:
            return PRIMITIVES[_OPERATIONS[name]].op(self, *others)
        given = [x.trace.elements(x) if type(x) is Traced else x for x in (self, *others)]
        return getattr(operator, name)(*given)

    return method


def _reflected(name: str) -> Any:
    def method(self: Traced, other: Any) -> Any:
        if self.trace.leaves:
            return PRIMITIVES[_OPERATIONS[name]].op(other, self)
        return getattr(operator, name)(other, self.trace.elements(self))

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    setattr(Traced, f"__{_name}__", _operator(_name))
    setattr(Traced, f"__r{_name}__", _reflected(_name))
for _name in ("neg", "abs", "eq", "ne", "lt", "le", "gt", "ge", "getitem", "setitem"):
    setattr(Traced, f"__{_name}__", _operator(_name))
Traced.__hash__ = object.__hash__  # type: ignore[method-assign]


_GENERATED = f"<{_PACKAGE}"
"""What the names of code that this package has written begin with."""
_INSIDE: set[str] = set()
"""The names of modules of this package that have been met: a third of the time of asking each time anew."""


def user_line() -> tuple[str, int] | None:
    """The innermost line outside this package that is running, as (file, line)."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name not in _INSIDE:
            package = frame.f_globals.get("__package__") or name  # a dialect bears the framework's name
            if package.partition(".")[0] == _PACKAGE:
                _INSIDE.add(name)
            elif not frame.f_code.co_filename.startswith(_GENERATED):
                return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return None


