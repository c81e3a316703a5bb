"""A trace, as anyone could write it outside the package: an array type that knows no elements, and its answers to the protocol.

`trace(f, *inputs, state=...)` runs `f` once on such arrays and gives back a function that replays what it did. `state` is
what `f` reads and writes besides its inputs: tensors and generators, whatever holds its array in `_a`.
"""

import numpy as np

import retrograde as rg
from retrograde._traceback import program_frames
from retrograde.backend import Backend, register_backend
from retrograde.core.aval import Aval
from retrograde.core.primitive import PRIMITIVES


class Traced:
    def __init__(self, key, shape, dtype):
        self.key, self.shape, self.dtype, self.ndim = key, tuple(shape), np.dtype(dtype), len(shape)
        self.size = int(np.prod(shape))

    __array_ufunc__ = None  # NumPy is not to try on its own

    def __array__(self, *args, **kwargs):
        TRACING.to_host(self)


class Tracing(Backend):
    name, deferred, steps = "trace", True, ()

    def evaluate(self, prim, arrays, params):
        if prim.kind == "data_dependent":
            self.to_host(None)
        given = [x.key if type(x) is Traced else None if x is None else np.array(x) for x in arrays]
        avals = prim.infer([None if x is None else Aval(tuple(x.shape), x.dtype) for x in arrays], params)
        self.steps.append((prim, given, params))
        made = [Traced((len(self.steps) - 1, i), *aval) for i, aval in enumerate(avals if prim.multi else (avals,))]
        return tuple(made) if prim.multi else made[0]

    def from_host(self, array, like):
        return self.evaluate(PRIMITIVES["copy"], [array], {})

    def to_host(self, array):
        at = next(frame for frame in reversed(program_frames()) if frame.filename != __file__)
        raise rg.UnsupportedError(
            f"a trace knows no values, and one is asked for in {at.filename}:{at.lineno}: {at.line}"
        )


TRACING = Tracing()
register_backend(Traced, TRACING)


def trace(f, *inputs, state=()):
    """What `f` does on inputs of these shapes, as a function of others: `replay(*arrays)`, the state moved on."""
    holders, TRACING.steps = [*inputs, *state], []
    before = [x._a for x in holders]
    try:
        for i, (x, a) in enumerate(zip(holders, before)):
            x._a = Traced(("in", i), a.shape, a.dtype)
        out = f(*inputs)
        results = [y._a for y in (out if isinstance(out, tuple) else (out,))] + [x._a for x in state]
    finally:
        for x, a in zip(holders, before):
            x._a = a
    steps = TRACING.steps

    def replay(*arrays):
        values = {("in", i): np.array(a) for i, a in enumerate((*arrays, *(x._a for x in state)))}
        for n, (prim, given, params) in enumerate(steps):
            got = prim.op(*(values[x] if type(x) is tuple else x for x in given), **params)
            values.update({(n, i): y for i, y in enumerate(got if prim.multi else (got,))})
        found = [values[y.key] if type(y) is Traced else y for y in results]
        for x, a in zip(state, found[len(found) - len(state) :]):
            x._a = a
        return found[: len(found) - len(state)]

    return replay
