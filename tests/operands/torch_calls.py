"""PyTorch's calls for the replay: every function with several operands, on numbers with ties, zeros, nan and infinities.

`python -m operands.torch_calls`, in the folder tests/ and an environment that has PyTorch, writes torch.jsonl.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from operands import replay

nan, inf = np.nan, np.inf


def framework(torch: Any) -> replay.Framework:
    """PyTorch, or its dialect."""

    def tensors(found: Any) -> Iterator[Any]:
        if isinstance(found, torch.Tensor):
            yield found
        elif isinstance(found, (tuple, list)):
            for part in found:
                yield from tensors(part)

    def call(function: Callable[..., Any], arrays: Sequence[np.ndarray]) -> Any:
        torch.manual_seed(0)
        xs = [torch.from_numpy(a).requires_grad_(a.dtype.kind in "fc") for a in arrays]
        ys = list(tensors(function(*xs)))

        def pull(weights: Sequence[np.ndarray]) -> list[Any]:
            pairs = [(y, torch.from_numpy(w)) for y, w in zip(ys, weights) if y.requires_grad]
            if not pairs:
                return [None] * len(xs)
            wanted = [x for x in xs if x.requires_grad]
            ends, seeds = zip(*pairs)
            found = iter(torch.autograd.grad(ends, wanted, seeds, allow_unused=True))
            return [array(g) if x.requires_grad and (g := next(found)) is not None else None for x in xs]

        return [array(y) for y in ys], pull

    def array(y: Any) -> np.ndarray:
        if getattr(y, "_is_zerotensor", bool)():  # zeros without memory, which NumPy cannot look at
            return np.zeros(tuple(y.shape), str(y.dtype).removeprefix("torch."))
        return np.asarray(y.detach().resolve_conj().resolve_neg().numpy())

    return replay.Framework(
        {"torch": torch, "F": torch.nn.functional, "D": torch.distributions, "inf": inf, "nan": nan}, call
    )


ARRAYS: dict[str, np.ndarray] = {
    # vectors: plain, with ties against each other, zeros of both signs, nan, infinities, probabilities, counts
    "x": np.array([0.5, -1.5, 2.0, 3.5]),
    "y": np.array([0.5, 1.25, -2.0, 0.75]),
    "z": np.array([0.0, -0.0, 1.0, -1.0]),
    "w": np.array([0.0, 0.0, 1.0, 1.0]),
    "n": np.array([nan, 1.0, nan, -2.0]),
    "i": np.array([inf, -inf, inf, 0.0]),
    "p": np.array([0.2, 0.0, 1.0, 0.7]),
    "q": np.array([0.2, 0.5, 1.0, 0.0]),
    "u": np.array([0.25, 0.5, 1.5, 3.0]),
    "k": np.array([1.0, -1.0, -1.0, 1.0]),
    "s": np.array(1.5),
    "o": np.array(0.0),
    "f": np.array([0.5, -1.5, 2.0, 0.0], np.float32),
    "e": np.array([], np.float64),
    # matrices and batches
    "A": np.array([[1.0, 2.0, 0.5], [1.0, -1.0, 0.5]]),
    "B": np.array([[0.5, 2.0, -0.5], [3.0, -1.0, 0.0]]),
    "C": np.array([[0.0, 0.0, 0.0], [nan, inf, -1.0]]),
    "P": np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]),
    "S": np.array([[2.0, 0.5, 0.25], [0.5, 3.0, 1.0], [0.25, 1.0, 4.0]]),
    "T": np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 1.0], [-2.0, 1.0, 4.0]]),
    "V": np.array([1.0, 2.0, 3.0]),
    "W": np.array([0.5, 0.0, 2.0]),
    "Z": np.zeros(3),
    "L": np.array([[0.5, -1.0], [2.0, 0.25], [0.0, 1.0]]),
    "X": np.sin(1.0 + 0.7 * np.arange(24)).reshape(2, 3, 4),
    "Y": np.cos(0.5 + 0.9 * np.arange(24)).reshape(2, 3, 4),
    "H": np.sin(0.3 + 1.1 * np.arange(32)).reshape(2, 4, 4),
    "I": np.sin(1.0 + 0.7 * np.arange(72)).reshape(2, 2, 3, 6),
    "K": np.cos(0.2 + 0.5 * np.arange(36)).reshape(3, 2, 2, 3),
    "R": np.round(2 * np.sin(1.0 + 0.7 * np.arange(64))).reshape(1, 2, 4, 8),
    "G": np.array([[[[-1.2, 0.3], [0.0, 0.0], [1.0, -1.0]], [[0.5, 2.0], [0.25, -0.75], [-1.0, 1.0]]]]),
    "M": np.array([[0.0, -inf, 0.5], [0.25, 0.0, -1.0]]),
    # complex ones
    "c": np.array([1 + 2j, 0.5 - 1j, 0, -1 + 0.25j]),
    "d": np.array([1 + 2j, -0.5j, 0, 2.0]),
    "E": np.array([[2 + 0j, 0.5 - 1j], [1 + 1j, 3.0]]),
    # labels, indices, masks
    "a": np.array([2, 0]),
    "b": np.array([1, -100]),
    "j": np.array([0, 2, 2, 1]),
    "J": np.array([[0, 2], [1, 1]]),
    "m": np.array([True, False, True, False]),
    "N": np.array([[True, False, True], [False, False, True]]),
}

VECTORS = "xyzwniup"
PAIRS = [*itertools.combinations(VECTORS, 2), *((v, v) for v in VECTORS), ("z", "x"), ("n", "x"), ("i", "x"), ("w", "z"),
         ("x", "s"), ("s", "x"), ("z", "o"), ("o", "i"), ("x", "f"), ("f", "x")]  # fmt: skip
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "pow",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "atan2",
    "hypot",
    "remainder",
    "fmod",
    "logaddexp",
    "logaddexp2",
    "xlogy",
    "special.xlog1py",
    "copysign",
    "nextafter",
    "heaviside",
    "float_power",
    "true_divide",
    "floor_divide",
]
UNARY = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "frac",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logit",
    "neg",
    "positive",
    "rad2deg",
    "reciprocal",
    "round",
    "rsqrt",
    "sgn",
    "sigmoid",
    "sign",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
    "nan_to_num",
    "special.entr",
    "special.erfcx",
    "special.i0",
    "special.i0e",
    "special.i1",
    "special.i1e",
    "special.ndtri",
    "special.log_ndtr",
    "special.ndtr",
    "special.bessel_j0",
    "special.bessel_j1",
    "relu",
]
ACTIVATIONS = [
    "elu(@)",
    "elu(@,2.)",
    "celu(@,.5)",
    "selu(@)",
    "gelu(@)",
    "gelu(@,approximate='tanh')",
    "silu(@)",
    "mish(@)",
    "softplus(@)",
    "softplus(@,2,1)",
    "softsign(@)",
    "tanhshrink(@)",
    "hardtanh(@)",
    "hardtanh(@,-.5,.5)",
    "hardsigmoid(@)",
    "hardswish(@)",
    "hardshrink(@)",
    "hardshrink(@,1.)",
    "softshrink(@)",
    "softshrink(@,1.)",
    "threshold(@,.5,2.)",
    "threshold(@,1.,0.)",
    "relu6(@)",
    "leaky_relu(@)",
    "leaky_relu(@,.3)",
    "logsigmoid(@)",
    "rrelu(@)",
    "glu(@)",
    "softmax(@,0)",
    "log_softmax(@,0)",
    "softmin(@,0)",
    "normalize(@,dim=0)",
]
REDUCTIONS = [
    "sum()",
    "mean()",
    "prod()",
    "std()",
    "var()",
    "std(correction=0)",
    "var(correction=0)",
    "logsumexp(0)",
    "norm()",
    "norm(1)",
    "norm(3)",
    "norm(float('inf'))",
    "norm(0)",
    "norm(.5)",
    "norm(-1)",
    "max()",
    "min()",
    "amax()",
    "amin()",
    "median()",
    "nanmedian()",
    "nansum()",
    "nanmean()",
    "max(0)",
    "min(0)",
    "median(0)",
    "nanmedian(0)",
    "mode(0)",
    "kthvalue(2)",
    "topk(3)",
    "topk(2,largest=False)",
    "sort()",
    "sort(descending=True)",
    "sort(stable=True)",
    "msort()",
    "cumsum(0)",
    "cumprod(0)",
    "cummax(0)",
    "cummin(0)",
    "logcumsumexp(0)",
    "diff()",
    "aminmax()",
    "quantile(.4)",
    "quantile(.5,interpolation='lower')",
    "quantile(.5,interpolation='midpoint')",
    "nanquantile(.4)",
    "renorm(2,0,1.)",
    "flip(0)",
    "roll(1)",
    "softmax(0)",
    "log_softmax(0)",
    "argsort()",
    "argmax()",
    "count_nonzero()",
    "unique()",
    "histc(3)",
    "clamp(0,1)",
    "clamp(min=.5)",
    "clamp(max=.5)",
    "clamp(2,1)",
    "expand(2,4)",
    "gradient()[0]",
    "nonzero()",
    "isnan()",
]
COUNTED = ["'none'", "'mean'", "'sum'"]


def _elementwise() -> Iterator[str]:
    for name in BINARY:
        for a, b in PAIRS:
            yield f"torch.{name}({a},{b})"
    for name in UNARY:
        for v in "xzniup":
            yield f"torch.{name}({v})"
    for form in ACTIVATIONS:
        for v in "xzniu":
            yield f"F.{form.replace('@', v)}"
    for form in ("torch.prelu({0},s)", "F.prelu({0}[None],{1})", "torch.clamp({0},{1},{2})", "torch.clamp({0},min={1})",
                 "torch.clamp({0},max={1})", "torch.lerp({0},{1},{2})", "torch.lerp({0},{1},.3)", "torch.addcmul({0},{1},{2})",
                 "torch.addcmul({0},{1},{2},value=.5)", "torch.addcdiv({0},{1},{2})", "torch.where({0}>{1},{0},{2})",
                 "torch.where(m,{0},{1})", "torch.add({0},{1},alpha=2.5)", "torch.sub({0},{1},alpha=.5)", "torch.rsub({0},{1})",
                 "torch.dist({0},{1})", "torch.dist({0},{1},1)", "torch.dist({0},{1},float('inf'))", "torch.dist({0},{1},0)",
                 "torch.div({0},{1},rounding_mode='floor')", "torch.div({0},{1},rounding_mode='trunc')",
                 "torch.dot({0},{1})", "torch.vdot({0},{1})", "torch.inner({0},{1})", "torch.outer({0},{1})",
                 "torch.kron({0},{1})", "torch.trapezoid({0},{1})", "torch.cumulative_trapezoid({0},{1})",
                 "torch.ldexp({0},{1})", "torch.special.zeta({1},{0})", "torch.special.gammainc({1},{0})",
                 "torch.special.gammaincc({1},{0})", "torch.complex({0},{1})", "torch.polar({0},{1})",
                 "torch.isclose({0},{1})", "torch.cov(torch.stack([{0},{1}]))", "torch.corrcoef(torch.stack([{0},{1}]))",
                 "torch.bucketize({0},{1}.sort().values)", "torch.vander({0})", "torch.cartesian_prod({0},{1})",
                 "torch.cov({0},aweights={1})", "F.gumbel_softmax({0})*{1}", "torch.nan_to_num({0},.5)*{1}",
                 "F.cosine_similarity({0},{1},0)", "F.pairwise_distance({0}[None],{1}[None])",
                 "F.pairwise_distance({0}[None],{1}[None],1.)", "F.pairwise_distance({0}[None],{1}[None],inf)",
                 "torch.cdist({0}[:,None],{1}[:,None])", "torch.cdist({0}[:,None],{1}[:,None],1.)",
                 "torch.cdist({0}[:,None],{1}[:,None],inf)", "torch.cdist({0}[:,None],{1}[:,None],0.)",
                 "torch.cdist({0}[:,None],{1}[:,None],3.)", "torch.linalg.cross({0}[:3],{1}[:3])",
                 "torch.stack([{0},{1},{0}]).max(0)", "torch.stack([{0},{1},{0}]).amax(0)",
                 "torch.stack([{0},{1},{0}]).median(0)", "torch.stack([{0},{1},{0}]).prod(0)",
                 "torch.stack([{0},{1},{0}]).cummax(0)", "torch.stack([{0},{1},{0}]).logsumexp(0)",
                 "torch.linalg.vecdot({0},{1})", "torch.heaviside({0},{1})", "torch.gradient({0},spacing=2.)"):  # fmt: skip
        for a, b, c in ("xyz", "zwx", "nxy", "izx", "upq", "wzn", "yyx"):
            yield form.format(a, b, c)
    for v in "xzniup":
        for form in REDUCTIONS:
            yield f"{v}.{form}"
        yield f"torch.var_mean({v})"
        yield f"torch.std_mean({v},correction=0)"


def _losses() -> Iterator[str]:
    pairs = ["xy", "xx", "zw", "nx", "iz", "pq", "up", "qp"]
    for r in COUNTED:
        for a, b in pairs:
            for form in ("mse_loss({0},{1},reduction={r})", "l1_loss({0},{1},reduction={r})",
                         "smooth_l1_loss({0},{1},reduction={r})", "smooth_l1_loss({0},{1},reduction={r},beta=0.)",
                         "huber_loss({0},{1},reduction={r},delta=.7)", "kl_div({0},{1},reduction={r})",
                         "kl_div({0},{1},reduction={r},log_target=True)", "poisson_nll_loss({0},{1},reduction={r})",
                         "poisson_nll_loss({0},{1},reduction={r},full=True)",
                         "poisson_nll_loss({0},{1},reduction={r},log_input=False)",
                         "binary_cross_entropy({0},{1},reduction={r})",
                         "binary_cross_entropy({0},{1},weight=u,reduction={r})",
                         "binary_cross_entropy_with_logits({0},{1},reduction={r})",
                         "binary_cross_entropy_with_logits({0},{1},weight=u,pos_weight=y,reduction={r})",
                         "soft_margin_loss({0},{1},reduction={r})", "hinge_embedding_loss({0},{1},reduction={r})",
                         "hinge_embedding_loss({0},k,reduction={r})", "gaussian_nll_loss({0},{1},u,reduction={r})",
                         "gaussian_nll_loss({0},{1},p,full=True,reduction={r})", "margin_ranking_loss({0},{1},k,reduction={r})",
                         "margin_ranking_loss({0},{1},z,margin=.5,reduction={r})",
                         "multilabel_soft_margin_loss({0}[None],{1}[None],weight=u,reduction={r})"):  # fmt: skip
                yield "F." + form.format(a, b, r=r)
        for a, b in ("AB", "AA", "CB", "BP"):
            for form in ("cross_entropy({0},a,reduction={r})", "cross_entropy({0},b,reduction={r})",
                         "cross_entropy({0},a,weight=V,reduction={r})", "cross_entropy({0},a,weight=W,label_smoothing=.1,reduction={r})",
                         "cross_entropy({0},P,reduction={r})", "cross_entropy({0},{1},weight=V,reduction={r})",
                         "cross_entropy({0},P,weight=W,label_smoothing=.2,reduction={r})", "nll_loss({0},a,weight=V,reduction={r})",
                         "nll_loss({0},b,reduction={r})", "multi_margin_loss({0},a,reduction={r})",
                         "multi_margin_loss({0},a,p=2,weight=V,reduction={r})", "cosine_embedding_loss({0},{1},k[:2],reduction={r})",
                         "cosine_embedding_loss({0},{1},k[:2],margin=.5,reduction={r})",
                         "triplet_margin_loss({0},{1},P,reduction={r})", "triplet_margin_loss({0},{1},P,swap=True,p=1,reduction={r})",
                         "triplet_margin_with_distance_loss({0},{1},P,reduction={r})",
                         "multilabel_margin_loss({0},J.repeat(1,2)[:,:3],reduction={r})"):  # fmt: skip
                yield "F." + form.format(a, b, r=r)
        yield f"F.ctc_loss(F.log_softmax(X,2),torch.tensor([[1,2],[1,1],[3,1]]),(2,2,2),(1,2,0),reduction={r})"
        yield f"F.ctc_loss(X,torch.tensor([[1,2],[1,1],[3,1]]),(2,2,2),(1,2,0),reduction={r},zero_infinity=True)"


def _layers() -> Iterator[str]:
    for a, b, c in ("ABV", "ABZ", "CBW"):
        yield f"F.linear({a},{b})"
        yield f"F.bilinear({a},{b},X[:,:,:3].reshape(2,3,3),V[:2])"
        yield f"F.layer_norm({a},(3,),{c},V)"
        yield f"F.layer_norm({a},(3,),{c})"
        yield f"F.rms_norm({a},(3,),{c})"
        yield f"F.batch_norm({a},Z.detach().clone(),V.detach().clone(),{c},W,training=True)"
        yield f"F.batch_norm({a},Z.detach(),V.detach(),{c},W)"
        yield f"F.linear({a},{b},{c}[:2])"
        yield f"torch.addmm({b}[:,:2],{a},{b}.T,beta=.5,alpha=2)"
        yield f"torch.addmv({c}[:2],{a},V)"
        yield f"torch.addr({a},{c}[:2],V)"
        yield f"torch.baddbmm({a}[None],{a}[None],S[None])"
        yield f"torch.mm({a},{b}.T)"
        yield f"torch.mv({a},{c})"
        yield f"torch.matmul({a},S)"
        yield f"torch.einsum('ij,kj,j->ik',{a},{b},{c})"
        yield f"torch.einsum('ij,ij->',{a},{a})"
        yield f"torch.tensordot({a},{b},([0,1],[0,1]))"
        yield f"torch.linalg.multi_dot([{a},S,{b}.T])"
        yield f"F.embedding(j,{a}.T)"
        yield f"F.embedding(j,{a}.T,padding_idx=2)"
        yield f"F.embedding(j,{a}.T,scale_grad_by_freq=True)"
        for mode in ("sum", "mean", "max"):
            yield f"F.embedding_bag(j,{a}.T,torch.tensor([0,2,2]),mode={mode!r})"
        yield f"F.embedding_bag(j,{a}.T,torch.tensor([0,1]),mode='sum',per_sample_weights=x)"
        yield f"F.embedding_bag(J,{a}.T,mode='sum',per_sample_weights=L[:2],padding_idx=1)"
        yield f"F.dropout({a},0.)"
        yield f"F.scaled_dot_product_attention({a}[None],{b}[None],P[None])"
        yield f"F.scaled_dot_product_attention({a}[None],{b}[None],P[None],attn_mask={b}[:,:2])"
        yield f"F.scaled_dot_product_attention({a}[None],{b}[None],P[None],attn_mask=M[:,:2],scale=.3)"
        yield f"F.scaled_dot_product_attention({a}[None],{b}[None],P[None],is_causal=True)"
        yield f"F.scaled_dot_product_attention({a}[None],{b}[None],P[None],attn_mask=N[:,:2])"
    for g, b in (("V", "W"), ("W", "Z")):
        yield f"F.group_norm(X,1,{g},{b})"
        yield f"F.group_norm(X,3,{g},{b})"
        yield f"F.instance_norm(X,weight={g},bias={b})"
        yield f"F.instance_norm(X,Z.detach().clone(),V.detach().clone(),{g},{b},use_input_stats=False)"
        yield f"F.batch_norm(X,None,None,{g},{b},training=True)"
        yield f"F.batch_norm(X,Z.detach().clone(),V.detach().clone(),{g},{b})"
        yield f"F.conv2d(I,K,{g})"
        yield f"F.conv2d(I,K,{g},stride=2,padding=1)"
        yield f"F.conv2d(I,K,{g},dilation=(1,2),padding='valid')"
        yield f"F.conv_transpose2d(I,K.transpose(0,1),{g},stride=2)"
        yield f"F.conv1d(X,Y[:, :, :2].transpose(0,1)[:, :2].repeat(1,2,1)[:, :3],{g})"
    for v in ("I", "R", "R*0", "I.detach()*I"):
        for form in ("max_pool2d({0},2)", "max_pool2d({0},3,1,1)", "avg_pool2d({0},2)", "avg_pool2d({0},3,2,1,count_include_pad=False)",
                     "adaptive_avg_pool2d({0},2)", "adaptive_max_pool2d({0},2)", "lp_pool2d({0},2,2)", "lp_pool2d({0},3,2)",
                     "interpolate({0},scale_factor=2)", "interpolate({0},(5,4),mode='bilinear')",
                     "interpolate({0},(5,4),mode='bicubic',align_corners=True)", "interpolate({0},(2,3),mode='area')",
                     "interpolate({0},(2,3),mode='bilinear',antialias=True)", "pad({0},(1,2),mode='reflect')",
                     "pad({0},(1,2,1,0),mode='replicate')", "pad({0},(1,2,1,0),mode='circular')", "pad({0},(-1,2))",
                     "unfold({0},2)", "pixel_unshuffle(({0})[...,:2,:],2)", "local_response_norm({0},2)", "normalize({0},p=1.)",
                     "channel_shuffle({0},2)"):  # fmt: skip
            yield "F." + form.format(v)
    for mode, padding, corners in itertools.product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (True, False)
    ):
        yield f"F.grid_sample(I[:1],G,mode={mode!r},padding_mode={padding!r},align_corners={corners})"
    for corners in (True, False):
        yield f"F.affine_grid(A[None],(1,1,2,3),align_corners={corners})"
    for v in ("G.reshape(1,6,2)", "X[:,:,:2]"):
        yield f"F.fold({v}.repeat(1,1,1)[:, :4].transpose(1,2).repeat(1,2,1),(2,5),2)"
    for a, b in ("XY", "XX"):
        yield f"torch.bmm({a},{b}.mT)"
        yield f"torch.addbmm(S,{a},{b}.mT)"
        yield f"torch.baddbmm(S,{a},{b}.mT,alpha=.5)"
        yield f"torch.cdist({a},{b})"
        yield f"torch.cdist({a},{b},1.)"
        yield f"F.cosine_similarity({a},{b})"
        yield f"torch.pdist({a}[0])"
        yield f"torch.einsum('bij,bkj->bik',{a},{b})"
    for name in ("rnn_tanh_cell", "rnn_relu_cell"):
        yield f"torch.{name}(A,B[:,:2],S[:2],S[:2,:2],V[:2],W[:2])"
    yield "torch.lstm_cell(A,(B[:,:1],P[:,:1]),X[0].T[:4,:3],L[:1].T.repeat(2,1)[:4],x,y)"
    yield "torch.gru_cell(A,B[:,:1],S,T[:,:1],V,W)"


def _indexed() -> Iterator[str]:
    for a, b in ("xy", "zw", "nx", "iz", "yy"):
        for form in ("{0}.index_add(0,j,{1})", "{0}.index_add(0,j,{1},alpha=.5)", "{0}.index_copy(0,j[[0,1,3]],{1}[:3])",
                     "{0}.index_put((j,),{1},accumulate=True)", "{0}.index_put((j[[0,1,3]],),{1}[:3])", "{0}.index_fill(0,j,s)",
                     "{0}.scatter(0,j[[0,1,3]],{1}[:3])", "{0}.scatter_add(0,j,{1})", "{0}.masked_fill(m,s)",
                     "{0}.masked_scatter(m,{1})", "{0}.put(j[[0,1,3]],{1}[:3])", "{0}.put(j,{1},accumulate=True)",
                     "{0}[j]*{1}", "{0}[m]*{1}[:2]", "{0}.gather(0,j)*{1}", "{0}.take(j)*{1}", "torch.take_along_dim({0},j)*{1}",
                     "{0}.slice_scatter({1}[:2],0,1,3)", "{0}.select_scatter(s,0,1)", "torch.diagonal_scatter({0}.diag(),{1})",
                     "torch.as_strided_scatter({0},{1}[:2],(2,),(2,))", "torch.cat([{0},{1},{0}])", "torch.stack([{0},{1}])",
                     "torch.hstack([{0},e,{1}])", "torch.block_diag({0},{1})", "torch.column_stack([{0},{1}])",
                     "torch.broadcast_tensors({0},s)", "torch.meshgrid({0},{1},indexing='ij')", "torch.atleast_2d({0},s)",
                     "torch.repeat_interleave({0},2)*s", "torch.searchsorted({1}.sort().values,{0})",
                     "{0}.as_strided((3,2),(1,1))", "{0}.unfold(0,2,1)", "{0}.renorm(2,0,s.item())", "torch.tile({0},(2,))+{1}.repeat(2)",
                     "torch.combinations({0})"):  # fmt: skip
            yield form.format(a, b)
        for reduce in ("sum", "prod", "mean", "amax", "amin"):
            for include in (True, False):
                yield f"{a}.scatter_reduce(0,j,{b},{reduce!r},include_self={include})"
                if reduce != "sum":
                    yield f"{a}.index_reduce(0,j,{b},{reduce!r},include_self={include})"
            if reduce in ("sum", "mean", "amax", "amin", "prod"):
                name = {"amax": "max", "amin": "min"}.get(reduce, reduce)
                yield f"torch.segment_reduce({a},{name!r},lengths=torch.tensor([1,2,1]))"
    for name in (
        "add_",
        "sub_",
        "mul_",
        "div_",
        "pow_",
        "copy_",
        "atan2_",
        "hypot_",
        "fmod_",
        "xlogy_",
        "copysign_",
        "remainder_",
    ):
        for a, b in ("xy", "zw", "ux", "xs"):
            yield f"{a}.clone().{name}({b})"
    for form in ("clone().addcmul_(y,z)", "clone().addcdiv_(y,u)", "clone().lerp_(y,q)", "clone().clamp_(z,u)", "clone().fill_(s)",
                 "clone().index_add_(0,j,y)", "clone().scatter_add_(0,j,y)", "clone().masked_fill_(m,s)", "clone().masked_scatter_(m,y)",
                 "clone().index_copy_(0,j[[0,1,3]],y[:3])", "clone().index_put_((j,),y,accumulate=True)", "clone().put_(j,y,accumulate=True)",
                 "clone().scatter_(0,j[[0,1,3]],y[:3])", "clone().cumsum_(0)", "clone().cumprod_(0)", "clone().renorm_(2,0,1.)"):  # fmt: skip
        yield f"x.{form}"


def _linear_algebra() -> Iterator[str]:
    for form in ("solve({0},V)", "solve({0},L)", "inv({0})", "det({0})", "slogdet({0})", "cholesky(S)", "pinv(A)", "pinv({0})",
                 "lstsq({0},L).solution", "qr({0})", "svdvals({0})", "svdvals(A)", "eigvalsh(S)", "eigh(S)[0]", "matrix_exp({0})",
                 "matrix_power({0},3)", "matrix_power({0},-1)", "norm({0})", "norm({0},'nuc')", "norm({0},2)", "norm({0},-2)", "norm({0},1)",
                 "norm({0},inf)", "cond({0})", "matrix_norm({0})", "vector_norm({0},3)", "solve_triangular(S.triu(),L,upper=True)",
                 "solve_triangular({0}.tril(),L,upper=False,unitriangular=True)", "lu({0})", "lu_solve(*torch.linalg.lu_factor({0}),L)",
                 "tensorsolve({0},V)", "tensorinv({0},ind=1)", "vander(V)", "householder_product({0},V)", "inv_ex({0})",
                 "cholesky_ex(S)", "ldl_factor(S)", "solve_ex({0},L)", "matrix_rank({0})", "cross({0},T)", "eigvals(S).abs()",
                 "solve({0}.mT,L)", "solve({0},L.mT,left=False)"):  # fmt: skip
        for a in "ST":
            yield "torch.linalg." + form.format(a)
    for form in ("torch.cholesky_solve(L,torch.linalg.cholesky(S))", "torch.cholesky_inverse(torch.linalg.cholesky(S))", "torch.logdet(S)",
                 "torch.triangular_solve(L,S)", "torch.trace(S)", "torch.diag(S)", "torch.tril(S)", "torch.cross(S,T)", "torch.chain_matmul(S,T,L)",
                 "torch.linalg.solve(E,c[:2])", "torch.linalg.inv(E)", "torch.linalg.det(E)", "torch.linalg.slogdet(E)", "torch.matrix_exp(E)",
                 "torch.linalg.svdvals(E)", "torch.vdot(c,d)", "torch.dot(c,d)", "torch.outer(c,d)", "E@E", "torch.linalg.norm(E)",
                 "torch.linalg.norm(c)", "torch.linalg.vector_norm(c,1)", "torch.linalg.vecdot(c,d)", "torch.linalg.cross(c[:3],d[:3])",
                 "torch.orgqr(S,V)", "torch.ormqr(S,V,T)", "torch.linalg.eigvalsh(E@E.mH)", "torch.linalg.cholesky(E@E.mH)"):  # fmt: skip
        yield form
    for name in ("add", "sub", "mul", "div", "pow", "true_divide", "eq"):
        for a, b in ("cd", "cc", "dc", "cx", "xc"):
            yield f"torch.{name}({a},{b})"
    for name in [
        "abs",
        "angle",
        "exp",
        "log",
        "sqrt",
        "sin",
        "tanh",
        "sigmoid",
        "reciprocal",
        "square",
        "sgn",
        "real",
        "imag",
        "conj",
        "resolve_conj",
        "rsqrt",
        "acos",
        "atanh",
        "log1p",
        "expm1",
        "view_as_real",
        "prod",
        "sum",
        "mean",
    ]:
        for v in "cd":
            yield f"torch.{name}({v})"
    for form in ("fft(x)", "ifft(c)", "rfft(x)", "irfft(c)", "hfft(c)", "ihfft(x)", "fft2(S)", "fftn(S)", "rfft2(S)", "irfft(c,5)", "fftshift(x)",
                 "fft(x,6,norm='ortho')", "rfft(x,norm='forward')"):  # fmt: skip
        yield f"torch.fft.{form}"
    yield "torch.stft(X[0].reshape(-1),4,window=u,return_complex=True)"
    yield "torch.istft(torch.stft(X[0].reshape(-1),4,window=u,return_complex=True),4,window=u)"
    yield "torch.view_as_complex(L)"


def _distributions() -> Iterator[str]:
    for form in ("Normal(x,u).log_prob(y)", "Normal(x,u).cdf(y)", "Normal(x,u).icdf(q[:1])", "Normal(x,u).entropy()", "Laplace(x,u).log_prob(y)",
                 "Laplace(x,u).log_prob(x)", "Cauchy(x,u).log_prob(y)", "Gamma(u,u).log_prob(u+.5)", "Gamma(u,V[1]).log_prob(w)", "Beta(u,u+1).log_prob(q*.5+.1)",
                 "Exponential(u).log_prob(w)", "Bernoulli(p).log_prob(w)", "Bernoulli(logits=x).log_prob(q)", "Bernoulli(q).entropy()",
                 "Binomial(3,p).log_prob(w)", "Categorical(P).log_prob(a)", "Categorical(logits=A).entropy()", "Categorical(P).entropy()",
                 "Multinomial(3,P).log_prob(P*0+1)", "Poisson(u).log_prob(w)", "Geometric(q[:3]).log_prob(w[:3])", "Uniform(z-2,u).log_prob(z)",
                 "Uniform(z,z+1).log_prob(z)", "LogNormal(x,u).log_prob(u)", "Pareto(u,u).log_prob(u)", "Weibull(u,u).log_prob(u+1)", "Gumbel(x,u).log_prob(y)",
                 "StudentT(u,x,u).log_prob(y)", "HalfNormal(u).log_prob(w)", "HalfCauchy(u).log_prob(w)", "Chi2(u).log_prob(u)", "Dirichlet(V).log_prob(P[0])",
                 "FisherSnedecor(u,u).log_prob(u)", "NegativeBinomial(V[0],q*.5).log_prob(w)", "VonMises(x,u).log_prob(y)", "Kumaraswamy(u,u).log_prob(q*.5+.1)",
                 "MultivariateNormal(V,S).log_prob(W)", "MultivariateNormal(V,scale_tril=S.tril()).log_prob(A)", "MultivariateNormal(V,precision_matrix=S).log_prob(A)",
                 "LowRankMultivariateNormal(V,L,W+1).log_prob(A)", "OneHotCategorical(P).log_prob(torch.eye(3,dtype=P.dtype)[:2])",
                 "RelaxedBernoulli(s,logits=x).log_prob(q*.5+.1)", "RelaxedOneHotCategorical(s,P+.1).log_prob(P*.5+.2)", "ContinuousBernoulli(q*.5+.1).log_prob(w)",
                 "ContinuousBernoulli(logits=z).log_prob(q)", "Wishart(V[2]+1,S).log_prob(S)", "LKJCholesky(3,s).log_prob(torch.linalg.cholesky(S/4))",
                 "kl_divergence(D.Normal(x,u),D.Normal(y,u+1))", "kl_divergence(D.Gamma(u,u),D.Gamma(u+1,u))", "kl_divergence(D.Beta(u,u),D.Beta(u+1,u))",
                 "kl_divergence(D.Bernoulli(p),D.Bernoulli(q*.5+.2))", "kl_divergence(D.Categorical(P),D.Categorical(P+.1))",
                 "kl_divergence(D.Dirichlet(V),D.Dirichlet(V+W))", "kl_divergence(D.MultivariateNormal(V,S),D.MultivariateNormal(W,S+S))",
                 "kl_divergence(D.Laplace(x,u),D.Laplace(y,u))", "kl_divergence(D.Exponential(u),D.Exponential(u+1))", "kl_divergence(D.Uniform(z,z+1),D.Uniform(z-1,z+2))",
                 "kl_divergence(D.Poisson(u),D.Poisson(u+1))", "kl_divergence(D.Normal(x,u),D.Laplace(y,u))",
                 "TransformedDistribution(D.Normal(x,u),[D.transforms.SigmoidTransform()]).log_prob(q*.5+.2)",
                 "TransformedDistribution(D.Normal(x,u),[D.transforms.AffineTransform(y,u),D.transforms.ExpTransform()]).log_prob(u)",
                 "Independent(D.Normal(x,u),1).log_prob(y)", "MixtureSameFamily(D.Categorical(P[0]),D.Normal(V,V)).log_prob(x)",
                 "Normal(x,u).rsample()", "Laplace(x,u).rsample()", "Uniform(z,z+1).rsample()", "MultivariateNormal(V,S).rsample()", "LogNormal(x,u).rsample()",
                 "Gamma(u,u).rsample()", "Beta(u,u).rsample()", "Dirichlet(V).rsample()", "StudentT(u+1,x,u).rsample()", "Exponential(u).rsample()",
                 "Cauchy(x,u).rsample()", "Gumbel(x,u).rsample()", "Weibull(u,u).rsample()", "RelaxedBernoulli(s,logits=x).rsample()", "Kumaraswamy(u,u).rsample()"):  # fmt: skip
        yield f"D.{form}"


def calls() -> Iterator[str]:
    """The code of every call."""
    for part in (_elementwise, _losses, _layers, _indexed, _linear_algebra, _distributions):
        yield from part()


if __name__ == "__main__":
    import torch

    replay.record(framework(torch), ARRAYS, calls(), replay.HERE / "torch.jsonl")
