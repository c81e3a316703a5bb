"""Graphs of the compiler, written equation by equation, for tests of what is made of them."""

import numpy as np

from retrograde.compile.graph import Equation, Graph, Variable
from retrograde.compile.verify import verify
from retrograde.core.aval import Aval
from retrograde.core.primitive import PRIMITIVES


class Builder:
    """A graph, written equation by equation."""

    def __init__(self):
        self.inputs, self.constants, self.equations = [], {}, []

    def input(self, *shape, dtype=np.float32):
        self.inputs.append(Variable(shape, np.dtype(dtype)))
        return self.inputs[-1]

    def constant(self, array, shape=None, dtype=np.float32):
        array = np.asarray(array, dtype)
        v = Variable(array.shape if shape is None else shape, array.dtype)
        self.constants[v] = array if shape is None else np.broadcast_to(array, shape)
        return v

    def __call__(self, name, *inputs, **params):
        prim = PRIMITIVES[name]
        avals = prim.infer([None if v is None else Aval(v.shape, v.dtype) for v in inputs], params)
        outputs = [Variable(a.shape, np.dtype(a.dtype)) for a in (avals if prim.multi else (avals,))]
        self.equations.append(Equation(prim, inputs, params, outputs))
        return tuple(outputs) if prim.multi else outputs[0]

    def graph(self, *outputs):
        return verify(Graph(self.inputs, self.constants, self.equations, outputs))


def names(graph):
    return [e.prim.name for e in graph.equations]
