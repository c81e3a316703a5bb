"""Random programs give compiled what they give eagerly: values, gradients from inside and outside, second derivatives, deferred.

The error of the compiled program against the program in double precision is at most 4 times the eager one's, or 4 units in
the last place of the largest number on the way.
"""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import retrograde.dialects.torch as torch
from retrograde.compile import jit
from retrograde.compile.versions import deferred
from retrograde.core.value import make

F = torch.nn.functional

SHAPES = [
    (4, 6),
    (6,),
    (4, 1),
    (),
    (1, 6),
    (3, 4, 6),
    (3, 1, 1),
    (17,),
    (5, 17),
    (2, 33),
    (2, 3, 5, 6),
    (1,),
    (16, 16),
    (0, 6),
    (70, 9),
]
MOST = 4096
"""Elements of a value at most."""
FAR = 64
"""Units in the last place that numbers have to be apart for a decision between them to be the same with rounding."""


class Program:
    """A function of tensors made of random choices, each an operation and what it takes. Its values stay near 1.

    In double precision (`exact`) casts to narrow dtypes are left out, and the least difference on which something was decided
    is noted.
    """

    def __init__(self, choices, narrow):
        self.choices, self.narrow = choices, narrow
        self.exact, self.margin, self.largest = False, np.inf, 1.0

    def __call__(self, *given):
        values = list(given)
        for what, i, j, k in self.choices:
            name, op = OPERATIONS[what % len(OPERATIONS)]
            x, y = values[i % len(values)], values[j % len(values)]
            z = op(self, x, y, k)
            if z is None or z.numel() > MOST:
                continue
            if name not in BOUNDED:
                z = z / (1 + z.abs()) if k % 3 else torch.tanh(z)
            values.append(z)
        return values

    def decides(self, gaps):
        """Note the numbers on whose sign something depends."""
        if self.exact:
            gaps = np.abs(gaps.detach().numpy().ravel())
            self.margin = min(self.margin, float(np.min(gaps[gaps > 0], initial=np.inf)))

    def ordered(self, x, dim):
        """Note that the order along an axis decides something."""
        if self.exact and x.numel():
            self.decides(torch.tensor(np.diff(np.sort(x.detach().numpy(), axis=dim), axis=dim)))


def unary(f, bounded=True):
    return (lambda p, x, y, k: f(x)), bounded


def decision(f):
    """An operation that depends on the sign of its operand; left out where numbers are coarse."""

    def op(p, x, y, k):
        if p.narrow:
            return None
        p.decides(x)
        return f(x)

    return op, True


def shapes_go(x, y):
    try:
        np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
    except ValueError:
        return False
    return True


def binary(f, bounded=False, decides=False):
    def op(p, x, y, k):
        if not shapes_go(x, y) or (decides and p.narrow):
            return None
        if decides:
            p.decides(x - y)
        return f(x, y)

    return op, bounded


def along(f, bounded=True, ordered=False, least=1):
    """An operation along an axis of at least so many elements."""

    def op(p, x, y, k):
        if not x.ndim or (ordered and p.narrow):
            return None
        dim = k % x.ndim
        if x.shape[dim] < least:
            return None
        if ordered:
            p.ordered(x, dim)
        return f(x, dim, bool(k // 7 % 2))

    return op, bounded


def reduces_all(p, x, y, k):
    return (torch.sum, torch.mean)[k % 2](x) if x.numel() else None


def reduces_some(p, x, y, k):
    if x.ndim < 2 or not x.numel():
        return None
    axes = [a for a in range(x.ndim) if k >> a & 1] or [0]
    return (torch.mean, torch.sum)[k // 16 % 2](x, dim=axes, keepdim=bool(k // 32 % 2))


def where(p, x, y, k):
    if not shapes_go(x, y) or p.narrow:
        return None
    p.decides(x - 0.1)
    return torch.where(x > 0.1, x, 0.5 * y) if k % 2 else torch.where(x > 0.1, y, 0.25)


def transposed(p, x, y, k):
    return x.transpose(k % x.ndim, k // 4 % x.ndim) if x.ndim > 1 else None


def permuted(p, x, y, k):
    return x.permute(*list(itertools.permutations(range(x.ndim)))[k % 6]) if x.ndim == 3 else None


def reshaped(p, x, y, k):
    n = x.numel()
    sizes = [m for m in (1, 2, 3, 4, 6) if n % m == 0]
    m = sizes[k % len(sizes)]
    return x.reshape(m, n // m) if k % 5 else x.reshape(-1)


def sliced(p, x, y, k):
    if not x.ndim:
        return None
    dim = k % x.ndim
    index = [slice(None)] * x.ndim
    index[dim] = [slice(1, None), slice(None, -1), slice(None, None, 2), slice(1, None, 3)][k // 4 % 4]
    return x[tuple(index)]


def fancy(p, x, y, k):
    if not x.ndim or not x.shape[0]:
        return None
    at = torch.tensor(np.random.default_rng(k).integers(-x.shape[0], x.shape[0], 1 + k % 5))
    if k % 3 == 0 and x.ndim > 1 and x.shape[1]:
        return x[at, torch.tensor(np.random.default_rng(k + 1).integers(0, x.shape[1], 1 + k % 5))]
    return x[at]


def gathered(p, x, y, k):
    if not x.ndim:
        return None
    dim = k % x.ndim
    if not x.shape[dim] or not x.numel():
        return None
    return torch.gather(x, dim, torch.tensor(np.random.default_rng(k).integers(0, x.shape[dim], tuple(x.shape))))


def masked(p, x, y, k):
    mask = torch.tensor(np.random.default_rng(k).random(tuple(x.shape)) < 0.4)
    return x.masked_fill(mask, 0.3)


def multiplied(p, x, y, k):
    if x.ndim < 2 or y.ndim < 1:
        return None
    y = y if y.ndim == 1 or y.shape[-2] == x.shape[-1] else y.transpose(-1, -2)
    x, y = x.to(torch.promote_types(x.dtype, y.dtype)), y.to(torch.promote_types(x.dtype, y.dtype))
    try:
        np.matmul(np.empty(tuple(x.shape)), np.empty(tuple(y.shape)))
    except ValueError:
        return None
    return (x @ y) / max(1, x.shape[-1])


def gram(p, x, y, k):
    return x @ x.transpose(-1, -2) / max(1, x.shape[-1]) if x.ndim > 1 else None


def convolved(p, x, y, k):
    y = y.to(x.dtype)
    if x.ndim == 3 and x.shape[-1] >= 3 and x.numel():
        w = y.reshape(-1)[:3]
        return F.conv1d(x[:, :1], w.reshape(1, 1, 3), padding=k % 2, stride=1 + k // 2 % 2) if w.numel() == 3 else None
    if x.ndim == 4:
        w = y.reshape(-1)[:4]
        return F.conv2d(x[:, :1], w.reshape(1, 1, 2, 2), padding=k % 2) if w.numel() == 4 else None
    return None


def pooled(p, x, y, k):
    return F.avg_pool2d(x, 2, stride=1 + k % 2) if x.ndim == 4 and min(x.shape[2:]) > 1 else None


def normalised(p, x, y, k):
    if not x.ndim or x.shape[-1] < 2 or not x.numel() or p.narrow:
        return None
    return F.layer_norm(x, (x.shape[-1],), eps=0.05)


def joined(p, x, y, k):
    if x.ndim != y.ndim or not x.ndim:
        return None
    dim = k % x.ndim
    if any(a != b for d, (a, b) in enumerate(zip(x.shape, y.shape)) if d != dim):
        return None
    return torch.cat([x, y, x][: 2 + k // 4 % 2], dim)


def stacked(p, x, y, k):
    return torch.stack([x, y], k % (x.ndim + 1)) if x.shape == y.shape else None


def expanded(p, x, y, k):
    return x.expand(2 + k % 2, *x.shape)


def diagonal(p, x, y, k):
    return torch.diagonal(x, k % 3 - 1, -2, -1) if x.ndim > 1 else None


def narrowed(p, x, y, k):
    if not p.narrow:
        return None
    return x if p.exact else x.to((torch.float16, torch.bfloat16)[k % 2])


def cast(p, x, y, k):
    return x if p.exact else x.to((torch.float32, torch.float64)[k % 2])


def of_integers(p, x, y, k):
    """Whole numbers take part, which come from no rounding."""
    n = torch.arange(x.numel()).reshape(x.shape)
    return x * (n % 3 - 1) + ((n // 2) % 2 == 0)


def written_part(p, x, y, k):
    """A copy of which a view is written."""
    z = x.clone()
    if not x.ndim or x.shape[0] < 2:
        z.mul_(0.5)
        return z
    row = z[k % x.shape[0]]
    if k % 4 == 0:
        row.mul_(0.5).add_(0.1)
    elif k % 4 == 1:
        z[1:] = z[:-1] * 0.5
    elif k % 4 == 2:
        z[::2].add_(x[::2], alpha=0.25)
    else:
        row.copy_(x[0].clone().sin())
    return z


def written_mask(p, x, y, k):
    z = x * 1
    z[torch.tensor(np.random.default_rng(k).random(tuple(x.shape)) < 0.3)] = 0.2
    return z


def added_at(p, x, y, k):
    if not x.ndim or not x.shape[0]:
        return None
    at = torch.tensor(np.random.default_rng(k).integers(0, x.shape[0], 4))
    return torch.index_add(x, 0, at, x[at] * 0.5)


def filled(p, x, y, k):
    z = torch.zeros_like(x)
    z[...] = x
    z += 0.5 * torch.ones(x.shape, dtype=x.dtype)
    return z.sub_(0.25)


def clamped(p, x, y, k):
    if p.narrow:
        return None
    p.decides(x - 0.4)
    p.decides(x + 0.3)
    return x.clamp(-0.3, 0.4)


def without_gradient(p, x, y, k):
    if k % 2:
        return x.detach() * x
    with torch.no_grad():
        z = x * 0.5
    return z + x


def padded(p, x, y, k):
    return F.pad(x, (1, k % 3), value=0.5) if x.ndim else None


def looped(p, x, y, k):
    for _ in range(1 + k % 6):
        x = torch.sin(x) * 0.9 + 0.1
    return x


def varied(x, dim, keep):
    return x.var(dim, keepdim=keep) * 0.5


OPS = {
    "sin": unary(torch.sin),
    "cos": unary(torch.cos),
    "tanh": unary(torch.tanh),
    "sigmoid": unary(torch.sigmoid),
    "exp": unary(torch.exp, False),
    "expm1": unary(torch.expm1, False),
    "erf": unary(torch.erf),
    "atan": unary(torch.atan),
    "asinh": unary(torch.asinh),
    "log1p": unary(lambda x: torch.log1p(x * x)),
    "softplus": unary(F.softplus),
    "gelu": unary(F.gelu),
    "silu": unary(F.silu),
    "neg": unary(torch.neg),
    "square": unary(torch.square),
    "sqrt": unary(lambda x: torch.sqrt(x * x + 0.1)),
    "rsqrt": unary(lambda x: torch.rsqrt(x * x + 0.5)),
    "reciprocal": unary(lambda x: 1 / (1.5 + x * x)),
    "pow": unary(lambda x: (1.1 + x * x) ** -1.5),
    "cube": unary(lambda x: x**3),
    "affine": unary(lambda x: 0.5 * x - 0.25),
    "one minus": unary(lambda x: 1 - x),
    "logit": unary(lambda x: torch.log(0.5 + x * x)),
    "asin": unary(lambda x: torch.asin(0.5 * torch.sin(x))),
    "tan": unary(lambda x: torch.tan(0.5 * torch.sin(x))),
    "abs": decision(torch.abs),
    "relu": decision(F.relu),
    "leaky": decision(lambda x: F.leaky_relu(x, 0.2)),
    "elu": decision(F.elu),
    "add": binary(torch.add),
    "subtract": binary(torch.subtract),
    "multiply": binary(torch.multiply, True),
    "divide": binary(lambda x, y: x / (1.5 + y * y), True),
    "atan2": binary(lambda x, y: torch.atan2(x, 2 + y), True),
    "maximum": binary(torch.maximum, True, True),
    "minimum": binary(torch.minimum, True, True),
    "hypot": binary(lambda x, y: torch.hypot(x, 1 + y * y)),
    "logaddexp": binary(torch.logaddexp),
    "lerp": binary(lambda x, y: torch.lerp(*torch.broadcast_tensors(x, y), 0.3) if x.dtype == y.dtype else None, True),
    "addcmul": binary(lambda x, y: x + 0.5 * y * y),
    "squared error": binary(lambda x, y: (x - y) ** 2),
    "sum": along(lambda x, d, k: x.sum(d, keepdim=k), False),
    "mean": along(lambda x, d, k: x.mean(d, keepdim=k), least=1),
    "amax": along(lambda x, d, k: x.amax(d, keepdim=k), ordered=True),
    "amin": along(lambda x, d, k: x.amin(d, keepdim=k), ordered=True),
    "logsumexp": along(lambda x, d, k: torch.logsumexp(x, d, keepdim=k), False),
    "softmax": along(lambda x, d, k: torch.softmax(x, d)),
    "log_softmax": along(lambda x, d, k: torch.log_softmax(x, d), False),
    "var": along(varied, least=2),
    "cumsum": along(lambda x, d, k: torch.cumsum(x, d), False),
    "cumprod": along(lambda x, d, k: torch.cumprod(1 + 0.1 * x, d), False),
    "prod": along(lambda x, d, k: torch.prod(1 + 0.1 * x, d, keepdim=k), False),
    "flip": along(lambda x, d, k: torch.flip(x, (d,))),
    "sort": along(lambda x, d, k: torch.sort(x, d, descending=k)[0], ordered=True),
    "roll": along(lambda x, d, k: torch.roll(x, 2, d)),
    "unsqueeze": along(lambda x, d, k: x.unsqueeze(d)),
    "max": along(lambda x, d, k: x.max(d)[0], ordered=True),
    "norm": along(lambda x, d, k: (x.square().sum(d) + 0.1).sqrt(), False),
    "chunks": along(lambda x, d, k: torch.chunk(x, 2, d)[-1], least=2),
    "argmax": along(lambda x, d, k: torch.argmax(x, d) % 2 * 0.5, ordered=True),
    "all": (reduces_all, False),
    "some": (reduces_some, False),
    "where": (where, True),
    "transpose": (transposed, True),
    "permute": (permuted, True),
    "reshape": (reshaped, True),
    "slice": (sliced, True),
    "fancy": (fancy, True),
    "gather": (gathered, True),
    "mask": (masked, True),
    "matmul": (multiplied, True),
    "gram": (gram, True),
    "convolution": (convolved, False),
    "pool": (pooled, True),
    "layer norm": (normalised, False),
    "cat": (joined, True),
    "stack": (stacked, True),
    "expand": (expanded, True),
    "diagonal": (diagonal, True),
    "narrow": (narrowed, True),
    "cast": (cast, True),
    "integers": (of_integers, False),
    "write part": (written_part, False),
    "write mask": (written_mask, True),
    "add at": (added_at, False),
    "fill": (filled, False),
    "clamp": (clamped, True),
    "no gradient": (without_gradient, False),
    "pad": (padded, True),
    "loop": (looped, True),
}
OPERATIONS = [(name, op) for name, (op, _) in OPS.items()]
BOUNDED = {name for name, (_, bounded) in OPS.items() if bounded}


# ------------------------------------------------------------------------------------------ operands


def contiguous(x):
    return x.copy()


def transposed_memory(x):
    return x.T.copy().T


def backwards(x):
    return np.flip(np.flip(x).copy())


def every_other(x):
    wide = np.zeros([2 * n for n in x.shape], x.dtype)
    inner = wide[(slice(None, None, 2),) * x.ndim] if x.ndim else wide
    inner[...] = x
    return inner


def misaligned(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)
    out = memory[1:].view(x.dtype).reshape(x.shape)
    out[...] = x
    return out


def repeated(x):
    return np.broadcast_to(x[:1], x.shape) if x.ndim else x.copy()


LAYOUTS = [contiguous, contiguous, transposed_memory, backwards, every_other, misaligned, repeated]


def operands(shapes, layouts, dtype):
    for seed, (shape, layout) in enumerate(zip(shapes, layouts)):
        x = np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)
        yield LAYOUTS[layout](np.asarray(x))


# ------------------------------------------------------------------------------------------ ways to run


def total(values):
    return sum((v.to(torch.float64).sum() if v.dtype != torch.float64 else v.sum()) for v in values[-3:])


def forward(program):
    def step(*given):
        values = program(*given)
        return values[-1], values[len(values) // 2], *values[len(given) :][:1]

    return step


def gradients(program, second=False):
    def step(*given):
        values = program(*given)
        loss = total(values) + sum(x.sum() for x in given)  # so that there is always a gradient
        grads = torch.autograd.grad(loss, given, create_graph=second, allow_unused=True)
        if second:
            square = sum((g.square().sum() for g in grads if g is not None and g.requires_grad), torch.zeros(()))
            if square.requires_grad:
                grads = torch.autograd.grad(square, given, allow_unused=True)
        return loss.detach(), *[torch.zeros(()) if g is None else g.detach() for g in grads]

    return step


def from_outside(run):
    """The gradients of what a function gives, taken outside."""

    def step(*given):
        out = run(*given)
        smooth = [y for y in out if y.requires_grad]
        grads = (
            torch.autograd.grad(smooth, given, [torch.ones_like(y) for y in smooth], allow_unused=True)
            if smooth
            else []
        )
        return *[y.detach() for y in out], *[torch.zeros(()) if g is None else g for g in grads]

    return step


def deferring(f):
    def run(*given):
        return deferred.run("f", [f], list(given), lambda: f(*given))[0]

    return run


def ways(program, way):
    """The function as it is, and compiled."""
    if way == "forward":
        return forward(program), jit(forward(program))
    if way == "gradient":
        return gradients(program), jit(gradients(program))
    if way == "second":
        return gradients(program, True), jit(gradients(program, True))
    if way == "outside":
        return from_outside(forward(program)), from_outside(jit(forward(program)))
    return gradients(program), deferring(gradients(program))


def largest(graph, arrays):
    """The largest number on the way through a graph."""
    at = dict(zip(graph.inputs, arrays)) | dict(graph.constants)
    most = 1.0
    for e in graph.equations:
        out = e.prim.op(*(None if v is None else at[v] for v in e.inputs), **e.params)
        at.update(zip(e.outputs, out if e.prim.multi else (out,)))
    for array in at.values():
        if np.asarray(array).dtype.kind == "f":
            most = max(most, float(np.max(np.abs(array), initial=0)))
    return most


def error(x, z):
    d = np.asarray(x, np.float64) - np.asarray(z, np.float64)
    return float(np.max(np.abs(d), initial=0, where=np.isfinite(d)))


def tensors(arrays, way):
    found = [make(torch.Tensor, x) for x in arrays]
    if way != "forward":
        for x in found:
            x.requires_grad_()
    return found


def check(choices, shapes, layouts, dtype, way, narrow):
    program = Program(choices, narrow)
    arrays = list(operands(shapes, layouts, dtype))
    eager, compiled = ways(program, way)
    with np.errstate(all="ignore"):
        program.exact = True
        exact = [np.asarray(y._a) for y in eager(*tensors([np.array(x, np.float64, order="C") for x in arrays], way))]
        program.exact = False
        want = [np.asarray(y._a) for y in eager(*tensors(arrays, way))]
        graphs = [jit(gradients(program, way == "second")).lower(*tensors(arrays, "gradient")).graph]
        if way in ("forward", "outside"):
            graphs.append(jit(forward(program)).lower(*tensors(arrays, way)).graph)
        kinds = {v.dtype for g in graphs for e in g.equations for v in e.outputs} | {np.dtype(dtype)}
        eps = max(2.0**-7 if d.name == "bfloat16" else float(np.finfo(d).eps) for d in kinds if d.kind in "fV")
        scale = max(largest(g, arrays) for g in graphs)
        errors = [error(y, z) for y, z in zip(want, exact)]
        if (
            dtype is np.float64 and eps < 1e-10
        ):  # then that is the reference, and what single precision makes of it the measure
            single = [np.asarray(y._a) for y in eager(*tensors([x.astype(np.float32) for x in arrays], way))]
            errors = [error(y, z) * 2.0**-29 for y, z in zip(single, exact)]
        assume(program.margin > FAR * eps * scale)
        for _ in range(2):  # traced, and from what is kept
            before = [x.copy() for x in arrays]
            found = [np.asarray(y._a) for y in compiled(*tensors(arrays, way))]
            for x, y in zip(arrays, before):
                np.testing.assert_array_equal(x, y)
            assert len(found) == len(want)
            for x, y, z, theirs in zip(found, want, exact, errors):
                assert (x.shape, x.dtype) == (y.shape, y.dtype)
                if x.dtype.kind in "iub":
                    np.testing.assert_array_equal(x, y)
                    continue
                np.testing.assert_array_equal(np.isfinite(x.astype(np.float64)), np.isfinite(y.astype(np.float64)))
                own = error(x, z)
                bound = max(4 * theirs, 4 * eps * scale)
                assert own <= bound, (
                    f"off by {own / eps:.3g} eps, eager by {theirs / eps:.3g}, largest {scale:.3g}\n{graphs[-1]}"
                )


WAYS = ["forward", "gradient", "gradient", "outside", "second", "deferred"]
PROGRAMS = {
    "choices": st.lists(
        st.tuples(st.integers(0, len(OPERATIONS) - 1), st.integers(0, 11), st.integers(0, 11), st.integers(0, 60)),
        min_size=2,
        max_size=14,
    ),
    "shapes": st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3),
    "layouts": st.lists(st.integers(0, len(LAYOUTS) - 1), min_size=3, max_size=3),
    "dtype": st.sampled_from([np.float32, np.float32, np.float64]),
    "way": st.sampled_from(WAYS),
    "narrow": st.sampled_from([False, False, False, False, True]),
}
LOOSE = [HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(max_examples=14, deadline=None, derandomize=True, suppress_health_check=LOOSE)
@given(**PROGRAMS)
def test_random_programs_have_the_error_of_eager_ones(choices, shapes, layouts, dtype, way, narrow):
    check(choices, shapes, layouts, dtype, way, narrow)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(max_examples=4000, deadline=None, suppress_health_check=LOOSE, print_blob=True)
@given(**PROGRAMS)
def test_thousands_of_random_programs(choices, shapes, layouts, dtype, way, narrow):
    check(choices, shapes, layouts, dtype, way, narrow)
