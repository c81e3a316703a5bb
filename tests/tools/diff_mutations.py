"""Changes one operation of a record of an equal pair, and says whether the pair is still proven to be the same.

Called by test_diff_proof.py in a process of its own: `diff_mutations.py COUNT SEED NAME ...` prints how many were tried, and
which were proven, as JSON.
"""

import json
import random
import sys
import warnings
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
from diff_programs import program

import retrograde
from retrograde import GradError
from retrograde.tools.diff.align import align
from retrograde.tools.diff.events import NOWHERE, Operation, Source, Update
from retrograde.tools.diff.judge import Judgement
from retrograde.tools.diff.leaves import LeafPairs
from retrograde.tools.diff.program import recorded
from retrograde.tools.diff.proof.prove import Prover
from retrograde.tools.diff.record import Record
from retrograde.tools.diff.replay import Changes, Replay
from retrograde.tools.diff.values import Values, distance

OTHERS = {
    "add": "subtract", "subtract": "add", "multiply": "divide", "divide": "multiply", "tanh": "sigmoid", "sigmoid": "tanh",
    "relu": "tanh", "exp": "tanh", "log": "tanh", "sqrt": "square", "square": "absolute", "gelu": "silu", "silu": "gelu",
    "sin": "cos", "cos": "sin", "mean": "sum", "sum": "mean", "negative": "tanh", "softmax": "log_softmax",
    "log_softmax": "softmax", "rsqrt": "sqrt", "reciprocal": "square", "maximum": "minimum", "minimum": "maximum",
}  # fmt: skip
SWAPPED = ("subtract", "divide", "power", "concatenate", "stack", "where", "matmul")


def shifted(index, shape):
    """An index of one element or one slice further on; None where there is no room."""
    axis = 0
    for k, i in enumerate(index):
        if i is None or i is Ellipsis:
            if i is Ellipsis:
                return None
            continue
        n = shape[axis]
        if isinstance(i, int) and n > 1:
            return (*index[:k], (i + 1) % n if i >= 0 else -1 - (-i % n), *index[k + 1 :])
        if isinstance(i, slice) and i.step in (None, 1):
            start, stop, _ = i.indices(n)
            if stop < n or start:
                by = 1 if stop < n else -1
                return (*index[:k], slice(start + by, stop + by), *index[k + 1 :])
        axis += 1
    return None


def others(record, n, at):
    """(value, carries, edge) of operands of other operations that could stand for operand `at` of event n."""
    e, values = record.events[n], Values(record)
    shape, dtype = record.values[e.ins[at]].shape, record.values[e.ins[at]].dtype
    for before in record.events[:n]:
        if isinstance(before, Operation) and before.recorded:
            for v, carries, edge in zip(before.ins, before.carries, before.edges):
                if v != e.ins[at] and v >= 0 and record.values[v].shape == shape and record.values[v].dtype == dtype and (
                    not np.array_equal(values.array(v), values.array(e.ins[at]))
                ):  # fmt: skip
                    yield v, carries, edge


def mutations(record):
    """(event, what) for all that can be changed."""
    for n, e in enumerate(record.events):
        if isinstance(e, Operation):
            shapes = [record.values[v].shape if v >= 0 else None for v in e.ins]
            if e.name in OTHERS:
                yield n, "name"
            if e.name in SWAPPED and len(e.ins) > 1 and shapes[-1] == shapes[-2]:
                yield n, "swap"
            for key, x in (e.given or {}).items():
                if isinstance(x, float) or (isinstance(x, int) and not isinstance(x, bool) and key in WHOLE):
                    yield n, key
                if key in ("axis", "axes") and isinstance(x, int) and len(record.values[e.outs[0]].shape) > 1:
                    yield n, key
                if (
                    key == "axis"
                    and isinstance(x, tuple)
                    and len(x) == 1
                    and len(shapes[0]) == 2
                    and len(set(shapes[0])) == 1
                ):
                    yield n, key
                if key == "causal":
                    yield n, key
            if e.name == "transpose" and len(shapes[0]) == 2 and shapes[0][0] == shapes[0][1]:
                yield n, "axes"
            if e.name == "getitem" and e.given and shifted(e.given["index"], shapes[0]) is not None:
                yield n, "index"
            if e.recorded and any(e.carries) and len(e.ins) > 1:
                yield n, "detach"
            if e.recorded:
                for at in range(len(e.ins)):
                    if e.ins[at] >= 0:
                        yield n, f"operand {at}"
        elif isinstance(e, Update):
            yield from (
                (n, key) for key, x in e.given.items() if isinstance(x, float) and x and not isinstance(x, bool)
            )
        elif isinstance(e, Source) and e.name == "number" and record.values[e.outs[0]].dtype.startswith("float"):
            yield n, "number"


WHOLE = ("exponent", "correction", "k", "offset", "ignore_index", "padding")


def mutated(record, n, what, chance):
    """The record with one thing changed and computed anew; None where that cannot be."""
    events, e = list(record.events), record.events[n]
    modules = dict(record.modules)
    replaced = {}
    if what == "name":
        events[n] = replace(e, name=OTHERS[e.name])
        modules[OTHERS[e.name]] = "retrograde.ops"
    elif what == "swap":
        first, last = len(e.ins) - 2, len(e.ins)
        edges = None if e.edges is None else [*e.edges[:first], *list(e.edges[first:last])[::-1]]
        events[n] = replace(e, ins=[*e.ins[:first], *list(e.ins[first:last])[::-1]],
                            carries=[*e.carries[:first], *list(e.carries[first:last])[::-1]], edges=edges)  # fmt: skip
    elif what == "detach":
        at = list(e.carries).index(True)
        carries = [carries and i != at for i, carries in enumerate(e.carries)]
        edges = [(NOWHERE, 0) if i == at else edge for i, edge in enumerate(e.edges)]
        events[n] = replace(e, carries=carries, edges=edges)
    elif what.startswith("operand"):
        at = int(what.split()[1])
        found = list(others(record, n, at))
        if not found:
            return None
        v, carries, edge = chance.choice(found)
        put = lambda old, new: [new if i == at else x for i, x in enumerate(old)]  # noqa: E731
        events[n] = replace(e, ins=put(e.ins, v), carries=put(e.carries, carries), edges=put(e.edges, edge))
    elif what == "number":
        array = Values(record).array(e.outs[0])
        replaced[e.outs[0]] = np.asarray(array * array.dtype.type(1.01) + array.dtype.type(1e-3))
    elif isinstance(e, Update):
        events[n] = replace(e, params={**e.given, what: float(e.given[what]) * (0.99 if e.given[what] > 0.1 else 1.01)})
    else:
        x = e.given[what]
        other = (not x) if isinstance(x, bool) else x + 1 if isinstance(x, int) else None
        if isinstance(x, float):
            other = x * 1.01 + 1e-3
        elif e.name == "transpose":
            other = tuple(range(len(x)))
        elif what == "index":
            other = shifted(x, record.values[e.ins[0]].shape)
        elif what in ("axis", "axes"):
            other = (1 - x[0] % 2,) if isinstance(x, tuple) else 1 - x if x in (0, 1) else 0
        events[n] = replace(e, params={**e.given, what: other})
    changed = Record(events, list(record.values), record.leaves, record.files, record.content, modules, replaced)
    again = Replay(changed, Changes(), Values(changed), everything=True, widened=True)
    again.record.replaced.update(replaced)
    return None if events[n].name in again.lost else again.record


def main(count, seed, names):
    warnings.simplefilter("ignore")
    retrograde.activate("mindspore", "paddle", "torch")
    chance, tried, proven, kinds = random.Random(seed), 0, [], Counter()
    # In double precision, so that what rounding makes of a change that changes nothing is not taken for an effect.
    pairs = {name: tuple(recorded(program(name, side), widened=True) for side in "ab") for name in names}
    while tried < count:
        name = chance.choice(names)
        a, b = pairs[name]
        found = defaultdict(list)
        for n, what in mutations(b):
            found[what.split()[0]].append((n, what))
        n, what = chance.choice(found[chance.choice(list(found))])
        try:
            other = mutated(b, n, what, chance)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, GradError):  # no program
            continue
        if other is None:
            continue
        alignment = align(a, other, LeafPairs(a, other))
        judged = Judgement(alignment)
        before, after = Values(b), Values(other)
        results = [r.values[1] for r in judged.results if r.values[1] is not None]
        if all(distance(before, v, after, v, 1e-5).relative < 1e-5 for v in results):
            continue  # it does not matter here, or not at all, as what is added to numbers of which the variance is taken
        tried += 1
        kinds[what.split()[0]] += 1
        if Prover(alignment).prove(judged.results).proven:
            proven.append([name, n, b.events[n].name, what])
    print(json.dumps({"tried": tried, "proven": proven, "kinds": kinds}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
