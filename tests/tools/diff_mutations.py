"""Changes one operation of a record of an equal pair, and says whether the pair is still proven to be the same.

Called by test_diff_proof.py in a process of its own: `diff_mutations.py COUNT SEED NAME ...` prints how many were tried, and
which were proven, as JSON.
"""

import json
import random
import sys
import warnings
from dataclasses import replace

import numpy as np
from diff_programs import program

import retrograde
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
SWAPPED = ("subtract", "divide", "power")


def mutations(record):
    """(event, what) for all that can be changed."""
    for n, e in enumerate(record.events):
        if isinstance(e, Operation):
            if e.name in OTHERS:
                yield n, "name"
            if e.name in SWAPPED and len(e.ins) == 2 and record.values[e.ins[0]].shape == record.values[e.ins[1]].shape:
                yield n, "swap"
            for key, x in e.given.items():
                if isinstance(x, float) or (isinstance(x, int) and not isinstance(x, bool) and key in ("exponent", "correction")):
                    yield n, key
                if key in ("axis", "axes") and isinstance(x, int) and len(record.values[e.outs[0]].shape) > 1:
                    yield n, key
            if e.recorded and any(e.carries) and len(e.ins) > 1:
                yield n, "detach"
        elif isinstance(e, Update):
            yield n, "lr"
        elif isinstance(e, Source) and e.name == "number" and record.values[e.outs[0]].dtype.startswith("float"):
            yield n, "number"


def mutated(record, n, what):
    """The record with one thing changed and computed anew; None where that cannot be."""
    events, e = list(record.events), record.events[n]
    modules = dict(record.modules)
    replaced = {}
    if what == "name":
        events[n] = replace(e, name=OTHERS[e.name])
        modules[OTHERS[e.name]] = "retrograde.ops"
    elif what == "swap":
        edges = None if e.edges is None else list(e.edges)[::-1]
        events[n] = replace(e, ins=list(e.ins)[::-1], carries=list(e.carries)[::-1], edges=edges)
    elif what == "detach":
        at = list(e.carries).index(True)
        carries = [carries and i != at for i, carries in enumerate(e.carries)]
        edges = [(NOWHERE, 0) if i == at else edge for i, edge in enumerate(e.edges)]
        events[n] = replace(e, carries=carries, edges=edges)
    elif what == "number":
        array = Values(record).array(e.outs[0])
        replaced[e.outs[0]] = np.asarray(array * array.dtype.type(1.01) + array.dtype.type(1e-3))
    elif what == "lr":
        events[n] = replace(e, params={**e.given, "lr": float(e.given["lr"]) * 1.01})
    else:
        x = e.given[what]
        other = x + 1 if isinstance(x, int) else x * 1.01 + 1e-3
        if what in ("axis", "axes"):
            other = 1 - x if x in (0, 1) else 0
        events[n] = replace(e, params={**e.given, what: other})
    changed = Record(events, list(record.values), record.leaves, record.files, record.content, modules, replaced)
    again = Replay(changed, Changes(), Values(changed), everything=True, widened=True)
    again.record.replaced.update(replaced)
    return None if events[n].name in again.lost else again.record


def main(count, seed, names):
    warnings.simplefilter("ignore")
    retrograde.activate("mindspore", "paddle", "torch")
    chance, tried, proven = random.Random(seed), 0, []
    # In double precision, so that what rounding makes of a change that changes nothing is not taken for an effect.
    pairs = {name: tuple(recorded(program(name, side), widened=True) for side in "ab") for name in names}
    while tried < count:
        name = chance.choice(names)
        a, b = pairs[name]
        n, what = chance.choice(list(mutations(b)))
        try:
            other = mutated(b, n, what)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
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
        if Prover(alignment).prove(judged.results).proven:
            proven.append([name, n, b.events[n].name, what])
    print(json.dumps({"tried": tried, "proven": proven}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
