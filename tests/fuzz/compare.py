"""Whether two answers agree: types, shapes, flags, numbers; numbers up to rounding and to how the program amplifies it."""

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from .sides import Answer

LIMITS = re.compile(
    "not supported at the moment|don't yet support saved tensor hooks|Batching rule not implemented|is not implemented"
    "|must override the setup_context|not implemented for|vmap: .* not supported|[Yy]our tensor may have had ForwardGrad"
    "|We do not (yet )?support|Trying to set a forward gradient|functorch transform|unsupported operation on ZeroTensor"
    "|ZeroTensors are immutable"
    "|view_as_real doesn't work on unresolved conjugated|trying to get value out of a tracing tensor"
    "|jac(fwd|rev): Expected all outputs to be real|saved tensor that has been detached in-place|INTERNAL ASSERT FAILED"
    "|Tensor must have a last dimension with stride|A different number of tensors was saved"
    "|(Function .* returned an )?invalid gradient at index|vmap: inplace arithmetic"
)
"""The reference says that it has no such thing: what this library answers then cannot be compared."""

REFUSALS = re.compile(
    "returns multiple views|created in no_grad mode|created inside a custom Function|refers? to a single memory location"
    "|view size is not compatible with input tensor's size and stride"
)
"""The reference refuses a change in place that is allowed here: its views of several outputs, views made without
recording, memory that an expanded array shares (jacfwd and others fall over this inside); or a view of a result that lies
in another order there."""
PARTLY = re.compile("out of bounds|does not match|backward through the graph a second time")
"""The reference refuses a change in place, or a pass, of which it has done a part: what memory then holds is left open."""
CHANGED = "modified by an inplace operation"
"""The reference refuses a pass because something that it had saved was changed: it saves more than is needed here."""

TOLERANCE = {"float64": 1e-9, "complex128": 1e-9, "float32": 3e-5, "complex64": 3e-5, "bfloat16": 4e-2}
ignored: re.Pattern[str] | None = None
"""Kinds and places that one is not interested in at the moment."""

FLAGS = ("requires_grad", "is_leaf", "_version")


def headline(stopped: list[Any] | None) -> str:
    """Type and first words of an exception, without what is particular to the program."""
    return "" if stopped is None else f"{stopped[0]}: {re.sub('[^a-z ]', '', stopped[2])[:50]}"


class Difference(NamedTuple):
    kind: str
    """exception, missing, dtype, shape, value, gradient, flag, log: what differs."""
    where: str
    reference: Any
    ours: Any

    @property
    def signature(self) -> tuple[str, str]:
        """What stays while a program is made smaller."""
        if self.kind == "exception":
            return self.kind, f"{headline(self.reference)}/{headline(self.ours)}"
        if self.kind == "flag":
            return self.kind, self.where.rpartition(".")[2]
        return self.kind, ""


def gap(a: list[float], b: list[float]) -> float:
    """The largest distance over the largest number; inf where nan and infinities do not stand at the same places."""
    if len(a) != len(b):
        return math.inf
    scale, distance = 0.0, 0.0
    for x, y in zip(a, b):
        if x != x or y != y:
            if x == x or y == y:
                return math.inf
        elif math.isinf(x) or math.isinf(y):
            if x != y:
                return math.inf
        else:
            scale = max(scale, abs(x))
            distance = max(distance, abs(x - y))
    return distance / (1.0 + scale) if distance else 0.0


def arrays(kind: str, where: str, a: list[Any], b: list[Any], slack: float) -> Difference | None:
    """Compare [dtype, shape, numbers, ...]."""
    if (a[0] == "NoneType") != (b[0] == "NoneType"):
        return Difference("missing", where, *(None if x[0] == "NoneType" else x[:3] for x in (a, b)))
    if a[0] != b[0]:
        return Difference("dtype", where, a[0], b[0])
    if len(a) == 1 or len(b) == 1:
        return None if len(a) == len(b) else Difference("missing", where, a[:2], b[:2])
    if a[1] != b[1]:
        return Difference("shape", where, a[1], b[1])
    if a[0] in TOLERANCE:
        if gap(a[2], b[2]) > TOLERANCE[a[0]] * slack:
            return Difference(kind, where, a[2], b[2])
    elif a[2] != b[2]:
        return Difference(kind, where, a[2], b[2])
    return None


NUMBERS = ("value", "gradient", "log", "shape", "dtype", "missing")
"""Kinds of difference in what was computed; the others, flags and exceptions, are not."""


def differences(reference: Answer, ours: Answer, slack: float = 1.0) -> list[Difference]:
    """Everything in which the two differ, the exception first; `slack` multiplies what numbers may differ by."""
    found: list[Difference] = []
    a, b = reference["stopped"], ours["stopped"]
    if a and a[0] == "OutOfTimeError":
        return []
    if a and (LIMITS.search(a[2]) or a[0] == "the process died"):
        return []
    types = 1 if reference["side"] == "jax" else 0  # the native API's errors are its own
    if (a and a[types:2]) != (b and b[types:2]):
        found.append(Difference("exception", "", a, b))
        return found
    if a:  # how far a pass comes before it refuses is each side's own business
        reference, ours = (
            {**answer, "log": [], "seen": {k: [*x[:4], None] if len(x) > 1 else x for k, x in answer["seen"].items()}}
            for answer in (reference, ours)
        )
        if PARTLY.search(a[2]):
            return []
    for name in reference["seen"].keys() | ours["seen"].keys():
        x, y = reference["seen"].get(name), ours["seen"].get(name)
        if x is None or y is None:
            found.append(Difference("missing", name, x and x[:2], y and y[:2]))
            continue
        different = arrays("value", name, x, y, slack)
        if different:
            found.append(different)
            continue
        if len(x) == 1:
            continue
        found += [Difference("flag", f"{name}.{flag}", p, q) for flag, p, q in zip(FLAGS, x[3], y[3]) if p != q]
        g, h = x[4], y[4]
        if (g is None) != (h is None):
            found.append(Difference("missing", f"{name}.grad", g and g[:3], h and h[:3]))
        elif g is not None:
            different = arrays("gradient", f"{name}.grad", g, h, slack)
            if different:
                found.append(different)
            elif g[3] != h[3]:
                found.append(Difference("flag", f"{name}.grad.requires_grad", g[3], h[3]))
    if len(reference["log"]) != len(ours["log"]):
        found.append(Difference("log", "log", len(reference["log"]), len(ours["log"])))
    else:
        for i, (x, y) in enumerate(zip(reference["log"], ours["log"])):
            if isinstance(x, str) or isinstance(y, str):
                different = Difference("log", f"log[{i}]", x, y) if x != y else None
            else:
                different = arrays("log", f"log[{i}]", x, y, slack)
            found += [different] if different else []
    if ignored is not None:
        found = [d for d in found if not ignored.search(f"{d.kind} {d.where}")]
    return sorted(found, key=lambda d: (d.kind not in ("exception", "value", "gradient", "missing"), d.where))


NUMBER = re.compile(r"-?\d+\.\d+(?![\d.]*\))")
LITERAL = re.compile(
    r"(?:torch\.tensor|xp\.asarray)\([^=]*?, dtype=(?:torch|xp)\.(float64|float32|bfloat16|complex64|complex128)"
)


def perturbed(text: str, factor: Callable[[], float]) -> str:
    """The program with every number of a created array a little off."""

    def off(match: re.Match[str]) -> str:
        return re.sub(r"-?\d+\.\d+", lambda m: repr(float(m[0]) * factor()), match[0])

    return LITERAL.sub(off, text)


def widened(text: str) -> str:
    """The program in double precision."""
    text = text.replace("float32", "float64").replace("bfloat16", "float64").replace("complex64", "complex128")
    return re.sub(r"torch\.autocast\(.*?\)", "torch.enable_grad()", text)


def allowing_changes(text: str) -> str:
    """The program on PyTorch with copies of what is changed after it was saved, so that nothing is refused."""
    body = "".join(f"    {line}\n" for line in text.splitlines())
    return f"with torch.autograd.graph.allow_mutation_on_saved_tensors():\n{body}"


def narrow(text: str) -> float:
    """How much coarser the narrowest dtype of a program is than double precision, as a factor of tolerances."""
    return max(TOLERANCE[d] for d in TOLERANCE if d in text or d == "float64") / TOLERANCE["float64"]


def numeric(found: list[Difference]) -> bool:
    return bool(found) and all(d.kind in ("value", "gradient", "log") for d in found)


def arrays_of(answer: Answer) -> dict[str, list[Any]]:
    made = {name: x for name, x in answer["seen"].items() if len(x) > 1}
    made.update({f"{name}.grad": x[4] for name, x in answer["seen"].items() if len(x) > 1 and x[4]})
    made.update({f"log[{i}]": x for i, x in enumerate(answer["log"]) if not isinstance(x, str)})
    return made


def ill_conditioned(
    text: str, found: list[Difference], run: Callable[[list[str]], list[Answer]], reference: Answer
) -> bool:
    """Numbers differ by no more than a rounding of the program's numbers does to the reference's own answer.

    The perturbation multiplies all numbers alike, and then each by its own factor: with the first kind ties stay ties.
    """
    epsilon = 5e-3 if "bfloat16" in text else 3e-7 if "float32" in text or "complex64" in text else 4e-16
    texts = [perturbed(text, lambda k=k: 1 + k * epsilon) for k in (1, 2, -3, 7)]
    signs = iter(((i * 7919) % 13 - 6) / 3 for i in range(10**9))
    texts += [perturbed(text, lambda: 1 + next(signs) * epsilon) for _ in range(8)]
    spread: dict[str, float] = {}
    base = arrays_of(reference)
    for answer in run(texts):
        if (answer["stopped"] is None) != (reference["stopped"] is None):
            return True
        other = arrays_of(answer)
        for name, x in base.items():
            if name in other:
                spread[name] = max(spread.get(name, 0.0), gap(x[2], other[name][2]))
    return all(
        isinstance(d.reference, list) and gap(d.reference, d.ours) <= 60 * spread.get(d.where, 0.0) for d in found
    )
