"""The table of differentiable functions of the paddle dialect, each with inputs away from its kinks and poles.

`CASES` goes by name: of `paddle` and of Tensor's methods as they are, of the packages with the package in front
("linalg.det"). A case is (function of tensors, inputs). `NOT_DIFFERENTIABLE` names
what has no derivative to check: integers, booleans, shapes, creation, random numbers, conversions of objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from dialects.paddle.points import BATCH, MASK, TALL, A, B, Case, M, P, Q, U, V, W, ints, spread, words

from retrograde.dialects import paddle
from retrograde.dialects.paddle import fft, geometric, incubate, linalg, signal

CASES: dict[str, Case] = {}
PLAIN: set[str] = set()
"""The names of functions of `paddle` whose case has no arguments but the inputs: in-place forms take them too."""


def each(names: str, *inputs: np.ndarray) -> None:
    """Functions of `paddle` that take these inputs as they are."""
    for name in names.split():
        CASES[name] = (getattr(paddle, name), inputs)
        PLAIN.add(name)


def rows(prefix: str = "", **cases: Any) -> None:
    """Cases given as name=(function, inputs...)."""
    for name, (f, *inputs) in cases.items():
        CASES[prefix + name] = (f, tuple(inputs))


def in_segments(f: Any) -> Any:
    """`f` of rows in two segments."""
    return lambda x: f(x, ints([0, 0, 1]))


def complex_of(f: Any) -> Any:
    """`f` as a function of the real and the imaginary part of its argument."""
    return lambda re, im: f(paddle.complex(re, im))


# ------------------------------------------------------------------------------------------ elementwise

each("acos asin atanh erfinv", U)
each("sin cos tan sinh cosh tanh asinh atan exp expm1 square erf sigmoid sinc deg2rad rad2deg i0 i1 neg negative "
     "positive clone nan_to_num", U)  # fmt: skip
each("floor ceil round trunc frac sign sgn abs stanh i0e i1e angle", A)
each("log log2 log10 log1p sqrt rsqrt reciprocal lgamma gammaln digamma", P)
each("acosh", P + 1.1)
each("logit", spread(0.1, 0.9, 2, 3))
each("add sub subtract mul multiply maximum minimum fmax fmin copysign", A, B)
each("divide div true_divide pow atan2 hypot logaddexp polar complex ldexp", P, Q)
each("floor_divide remainder mod floor_mod", P + 1.2, Q * 0.4)
rows(
    scale=(lambda x: paddle.scale(x, 2.0, 1.0), A),
    clip=(lambda x: paddle.clip(x, -0.6, 1.1), A),
    clamp=(lambda x: paddle.clamp(x, min=-0.6), A),
    polygamma=(lambda x: paddle.polygamma(x, 1), P),
    multigammaln=(lambda x: paddle.multigammaln(x, 2), P + 1.0),
    frexp=(lambda x: paddle.frexp(x)[0], P),
    lerp=(lambda x, y: paddle.lerp(x, y, paddle.to_tensor(U)), A, B),
    gammainc=(lambda y: paddle.gammainc(paddle.to_tensor(Q), y), P),
    gammaincc=(lambda y: paddle.gammaincc(paddle.to_tensor(Q), y), P),
    heaviside=(paddle.heaviside, A, B),
    increment=(lambda x: paddle.increment(x * 1), np.array([0.7])),
    conj=(complex_of(paddle.conj), V, W), real=(complex_of(paddle.real), V, W), imag=(complex_of(paddle.imag), V, W),
    as_real=(complex_of(paddle.as_real), V, W), view_as_real=(complex_of(paddle.view_as_real), V, W),
    as_complex=(paddle.as_complex, TALL), view_as_complex=(paddle.view_as_complex, TALL),
    add_n=(lambda x, y: paddle.add_n([x, y, x * y]), A, B),
    where=(lambda x, y: paddle.where(paddle.to_tensor(MASK), x * y, y), A, B),
    multiplex=(lambda x, y: paddle.multiplex([x, y * y], ints([[1], [0]])), A, B),
    cast=(lambda x: paddle.cast(x, "float64") * x, A),
    assign=(lambda x: paddle.assign(x) * x, A),
    softmax=(paddle.softmax, A),
)  # fmt: skip
PLAIN -= {"polar", "complex", "angle", "clone", "negative", "positive", "floor_divide"}

# ------------------------------------------------------------------------------------------ reductions, order

each("sum mean prod amax amin max min nansum nanmean logsumexp std var median nanmedian norm", A)
each("cumsum logcumsumexp sort msort ravel t atleast_1d atleast_2d atleast_3d diagflat", V)
rows(
    cumprod=(lambda x: paddle.cumprod(x, 0), V),
    cummax=(lambda x: paddle.cummax(x, 0)[0], V), cummin=(lambda x: paddle.cummin(x, 0)[0], V),
    topk=(lambda x: paddle.topk(x, 2)[0], A), kthvalue=(lambda x: paddle.kthvalue(x, 2)[0], A),
    mode=(lambda x: paddle.mode(x)[0], A),
    quantile=(lambda x: paddle.quantile(x, [0.3, 0.7], axis=1), A),
    nanquantile=(lambda x: paddle.nanquantile(x, 0.4, axis=1), A),
    reduce_as=(lambda x: paddle.reduce_as(x, paddle.zeros([3])), A),
    diff=(paddle.diff, A), trapezoid=(paddle.trapezoid, A, np.sort(B)),
    cumulative_trapezoid=(paddle.cumulative_trapezoid, A, np.sort(B)),
    vander=(lambda x: paddle.vander(x, 4), V),
    trace=(paddle.trace, M),
    renorm=(lambda x: paddle.renorm(x, 2.0, 0, 1.0), A),
)  # fmt: skip
PLAIN -= {"cumsum"}

# ------------------------------------------------------------------------------------------ shapes

rows(
    reshape=(lambda x: paddle.reshape(x, [3, -1]) * 2, A), view=(lambda x: paddle.view(x, [3, 2]), A),
    view_as=(lambda x, y: paddle.view_as(x, y) * y, A, TALL),
    flatten=(paddle.flatten, BATCH), unflatten=(lambda x: paddle.unflatten(x, 1, [3, 1]), A),
    squeeze=(paddle.squeeze, A[None]), unsqueeze=(lambda x: paddle.unsqueeze(x, [0, -1]), A),
    transpose=(lambda x: paddle.transpose(x, [2, 0, 1]), BATCH), permute=(lambda x: paddle.permute(x, [2, 0, 1]), BATCH),
    swapaxes=(lambda x: paddle.swapaxes(x, 0, 2), BATCH), swapdims=(lambda x: paddle.swapdims(x, 0, 2), BATCH),
    moveaxis=(lambda x: paddle.moveaxis(x, 0, 2), BATCH), matrix_transpose=(paddle.matrix_transpose, BATCH),
    expand=(lambda x: paddle.expand(x, [2, 3]), V), broadcast_to=(lambda x: paddle.broadcast_to(x, [2, 3]), V),
    expand_as=(lambda x, y: paddle.expand_as(x, y) * y, V, A),
    broadcast_tensors=(lambda x, y: paddle.broadcast_tensors([x, y]), V, A),
    tile=(lambda x: paddle.tile(x, [2, 2]), V),
    repeat_interleave=(lambda x: paddle.repeat_interleave(x, ints([1, 3]), axis=0), A),
    flip=(lambda x: paddle.flip(x, [0]), A), reverse=(lambda x: paddle.reverse(x, [1]), A),
    roll=(lambda x: paddle.roll(x, 1), A), rot90=(paddle.rot90, A),
    tril=(paddle.tril, M), triu=(paddle.triu, M), diag=(paddle.diag, V), diagonal=(paddle.diagonal, M),
    diag_embed=(paddle.diag_embed, A), diagonal_scatter=(lambda x, y: paddle.diagonal_scatter(x, y * y), M, V),
    slice=(lambda x: paddle.slice(x, [1], [1], [3]), A),
    strided_slice=(lambda x: paddle.strided_slice(x, [1], [2], [-4], [-2]), A),
    slice_scatter=(lambda x, y: paddle.slice_scatter(x, y, [0], [0], [2], [1]), A, B),
    select_scatter=(lambda x, y: paddle.select_scatter(x, y, 0, 1), A, V),
    narrow=(lambda x: paddle.narrow(x, 1, 1, 2), A), crop=(lambda x: paddle.crop(x, [2, 2], [0, 1]), A),
    as_strided=(lambda x: paddle.as_strided(x, [2, 2], [1, 1]), V),
    unfold=(lambda x: paddle.unfold(x, 0, 2, 1), V),
    meshgrid=(paddle.meshgrid, V, W), cartesian_prod=(lambda x, y: paddle.cartesian_prod([x, y]), V, W),
    combinations=(paddle.combinations, V),
    concat=(lambda x, y: paddle.concat([x, y * y], 1), A, B), cat=(lambda x, y: paddle.cat([x, y * y]), A, B),
    concatenate=(lambda x, y: paddle.concatenate([x, y * y]), A, B), stack=(lambda x, y: paddle.stack([x, y], 1), A, B),
    hstack=(lambda x, y: paddle.hstack([x, y]), A, B), vstack=(lambda x, y: paddle.vstack([x, y]), A, B),
    dstack=(lambda x, y: paddle.dstack([x, y]), A, B), row_stack=(lambda x, y: paddle.row_stack([x, y]), A, B),
    column_stack=(lambda x, y: paddle.column_stack([x, y]), A, B),
    block_diag=(lambda x, y: paddle.block_diag([x, y]), A, M),
    split=(lambda x: paddle.split(x, [1, 2], 1), A), chunk=(lambda x: paddle.chunk(x, 3, 1), A),
    tensor_split=(lambda x: paddle.tensor_split(x, 2, 1), A), hsplit=(lambda x: paddle.hsplit(x, 3), A),
    vsplit=(lambda x: paddle.vsplit(x, 2), A), dsplit=(lambda x: paddle.dsplit(x, 3), BATCH),
    unstack=(paddle.unstack, A), unbind=(paddle.unbind, A),
    repeat=(lambda x: x.repeat(2, 1), A), split_with_sizes=(lambda x: x.split_with_sizes([1, 2], 1), A),
    fill_diagonal_tensor=(lambda x, y: x.fill_diagonal_tensor(y * y), M, V),
)  # fmt: skip
PLAIN |= {"flatten", "squeeze", "tril", "triu"}

# ------------------------------------------------------------------------------------------ positions and masks

_ROWS, _PAIRS = [[0, 2, 1], [1, 1, 0]], [[0, 1], [1, 2]]
rows(
    gather=(lambda x: paddle.gather(x, ints([1, 1, 0])), A), gather_nd=(lambda x: paddle.gather_nd(x, ints(_PAIRS)), A),
    index_select=(lambda x: paddle.index_select(x, ints([2, 0]), 1), A),
    index_sample=(lambda x: paddle.index_sample(x, ints(_ROWS)), A),
    take_along_axis=(lambda x: paddle.take_along_axis(x, ints(_ROWS), 1), A),
    take_along_dim=(lambda x: paddle.take_along_dim(x, ints(_ROWS), 1), A),
    take=(lambda x: paddle.take(x, ints([0, 4, 4])), A),
    put_along_axis=(lambda x, y: paddle.put_along_axis(x, ints([[0], [2]]), y, 1, "mul"), A, TALL[:2, :1]),
    scatter_add=(lambda x, y: paddle.scatter_add(x, 1, ints([[0], [2]]), y), A, TALL[:2, :1]),
    scatter_reduce=(lambda x, y: paddle.scatter_reduce(x, 1, ints([[0], [2]]), y, "prod"), A, TALL[:2, :1]),
    scatter=(lambda x, y: paddle.scatter(x, ints([1, 0]), y), A, B),
    scatter_nd=(lambda y: paddle.scatter_nd(ints([[1], [1]]), y, [3, 3]), A),
    scatter_nd_add=(lambda x, y: paddle.scatter_nd_add(x, ints([[1], [1]]), y), A, B),
    index_add=(lambda x, y: paddle.index_add(x, ints([1, 1]), 0, y), A, B),
    index_fill=(lambda x: paddle.index_fill(x, ints([1]), 0, 2.0), A),
    index_put=(lambda x, y: paddle.index_put(x, (ints([0, 0]), ints([1, 1])), y[:2], True), A, V),
    masked_select=(lambda x: paddle.masked_select(x, paddle.to_tensor(MASK)), A),
    masked_fill=(lambda x, y: paddle.masked_fill(x, paddle.to_tensor(MASK), y[0]), A, V),
    masked_scatter=(lambda x, y: paddle.masked_scatter(x, paddle.to_tensor(MASK), y), A, B),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ products, distances

each("dot outer ger", V, W)
each("inner vecdot kron cross dist", A, B)
each("matmul mm", A, TALL)
rows(
    bmm=(lambda x, y: paddle.bmm(x, y.mT), BATCH, BATCH * 0.7), mv=(paddle.mv, A, V),
    addmm=(lambda a, x, y: paddle.addmm(a, x, y, 0.5, 2.0), M[:2, :2], A, TALL),
    baddbmm=(lambda a, x: paddle.baddbmm(a, x, x.mT), spread(-1, 1, 2, 2, 2), BATCH),
    tensordot=(lambda x, y: paddle.tensordot(x, y, [[1], [0]]), A, TALL),
    einsum=(lambda x, y: paddle.einsum("ij,jk,ij->k", x, y, x), A, TALL),
    cdist=(paddle.cdist, A, M), pdist=(paddle.pdist, M),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ linalg




def of_symmetric(f: Any) -> Any:
    """`f` of a symmetric positive definite matrix, made of the argument, of which the function reads one triangle."""
    return lambda x: f(x @ x.mT + paddle.eye(3, dtype="float64"))


each("inverse", M)
rows(cholesky=(of_symmetric(paddle.cholesky), M), eigvalsh=(of_symmetric(paddle.eigvalsh), M))
rows(
    prefix="linalg.",
    cholesky=(of_symmetric(linalg.cholesky), M), inv=(linalg.inv, M), det=(linalg.det, M),
    slogdet=(lambda x: linalg.slogdet(x)[1], M), solve=(linalg.solve, M, A.T),
    cholesky_solve=(lambda y, x: linalg.cholesky_solve(y, x.tril()), A.T, M),
    cholesky_inverse=(linalg.cholesky_inverse, np.tril(M)),
    triangular_solve=(lambda x, y: linalg.triangular_solve(x, y), M, A.T),
    lu=(lambda x: linalg.lu(x)[0], M), lu_unpack=(lambda x: linalg.lu_unpack(*linalg.lu(x))[1:], M),
    lu_solve=(lambda b, x: linalg.lu_solve(b, *linalg.lu(x)), A.T, M),
    lstsq=(lambda x, y: linalg.lstsq(x, y, driver="gels")[0], np.vstack([M, A]), spread(-1, 1, 5, 1)),
    qr=(lambda x: linalg.qr(x), np.vstack([M, A])),
    svd=(lambda x: linalg.svd(x)[1], M), svdvals=(linalg.svdvals, M),
    eigh=(of_symmetric(lambda x: linalg.eigh(x)[0]), M), eigvalsh=(of_symmetric(linalg.eigvalsh), M),
    eig=(lambda x: linalg.eig(x)[0].abs(), M), eigvals=(lambda x: linalg.eigvals(x).abs(), M),
    householder_product=(linalg.householder_product, TALL, V[:2]),
    ormqr=(lambda x, t, y: linalg.ormqr(x, t, y), TALL, V[:2], A.T),
    pinv=(linalg.pinv, TALL), matrix_power=(lambda x: linalg.matrix_power(x, 3), M), matrix_exp=(linalg.matrix_exp, M / 3),
    multi_dot=(lambda x, y: linalg.multi_dot([x, y, x]), A, TALL), cond=(linalg.cond, M),
    norm=(lambda x: linalg.norm(x, 3, 1), A), vector_norm=(linalg.vector_norm, A),
    matrix_norm=(lambda x: linalg.matrix_norm(x, "nuc"), M), matrix_transpose=(linalg.matrix_transpose, BATCH),
    cov=(linalg.cov, A), corrcoef=(linalg.corrcoef, A), cross=(linalg.cross, A, B), vecdot=(linalg.vecdot, A, B),
    diagonal=(linalg.diagonal, M), matmul=(linalg.matmul, A, TALL),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ fft, signal, geometric

for _name in words("fft ifft rfft ihfft fft2 ifft2 rfft2 ihfft2 fftn ifftn rfftn ihfftn fftshift ifftshift"):
    CASES["fft." + _name] = (getattr(fft, _name), (A,))
for _name in words("irfft hfft irfft2 hfft2 irfftn hfftn"):
    CASES["fft." + _name] = (complex_of(getattr(fft, _name)), (A, B))
rows(
    prefix="signal.",
    frame=(lambda x: signal.frame(x, 2, 1), V), overlap_add=(lambda x: signal.overlap_add(x, 1), TALL),
    stft=(lambda x: signal.stft(x, 4), spread(-1, 1, 9)),
    istft=(lambda x: signal.istft(signal.stft(x, 4) * 2.0, 4), spread(-1, 1, 9)),
)
_EDGES = (ints([0, 1, 2, 0]), ints([1, 2, 1, 0]))
for _name in words("segment_sum segment_mean segment_max segment_min"):
    for _package in (geometric, incubate):
        CASES[f"{_package.__name__.rpartition('.')[2]}.{_name}"] = (in_segments(getattr(_package, _name)), (TALL,))
rows(
    prefix="incubate.",
    graph_send_recv=(lambda x: incubate.graph_send_recv(x, *_EDGES), TALL), identity_loss=(incubate.identity_loss, A),
    softmax_mask_fuse=(incubate.softmax_mask_fuse, A, B),
    softmax_mask_fuse_upper_triangle=(incubate.softmax_mask_fuse_upper_triangle, M),
)
rows(
    prefix="geometric.",
    send_u_recv=(lambda x: geometric.send_u_recv(x, *_EDGES, "mean"), TALL),
    send_ue_recv=(lambda x, y: geometric.send_ue_recv(x, y, *_EDGES, "mul"), TALL, spread(-1, 1, 4, 2)),
    send_uv=(lambda x, y: geometric.send_uv(x, y, *_EDGES, "div"), TALL, TALL + 1.3),
)

NOT_DIFFERENTIABLE = set(words(
    # integers, booleans and positions
    "all allclose any argmax argmin argsort argwhere bincount bitwise_and bitwise_invert bitwise_left_shift bitwise_not "
    "bitwise_or bitwise_right_shift bitwise_xor bucketize count_nonzero eq equal equal_all gcd ge greater greater_equal "
    "greater_than gt histogram histogram_bin_edges histogramdd isclose isfinite isin isinf isnan isneginf isposinf isreal lcm "
    "le less less_equal less_than logical_and logical_not logical_or logical_xor lt ne nextafter nonzero not_equal "
    "searchsorted shard_index signbit unique unique_consecutive linalg.matrix_rank geometric.reindex_graph "
    "geometric.reindex_heter_graph geometric.sample_neighbors geometric.weighted_sample_neighbors "
    # shapes and other facts about tensors
    "broadcast_shape broadcast_shapes data_ptr get_device get_strides is_complex is_contiguous is_dense is_dist is_empty "
    "is_floating_point is_integer is_same_shape is_selected_rows is_sparse is_sparse_coo is_sparse_csr is_tensor numel rank "
    "shape stride "
    # creation, from data and from random numbers
    "arange as_tensor asarray bartlett_window bernoulli binomial blackman_window create_parameter empty empty_like eye "
    "fft.fftfreq fft.rfftfreq from_dlpack from_numpy full full_like gaussian hamming_window hann_window kaiser_window linspace "
    "log_normal logspace multinomial new_empty new_full new_ones new_zeros normal ones ones_like poisson rand rand_like randint "
    "randint_like randn randn_like randperm range standard_gamma standard_normal tensor to_tensor tril_indices triu_indices "
    "uniform zeros zeros_like bernoulli_ cauchy_ exponential_ fill_ fill_diagonal_ geometric_ log_normal_ normal_ random_ "
    "uniform_ zero_ linalg.svd_lowrank linalg.pca_lowrank "
    # sparse tensors, whose values are differentiated (test_sparse.py)
    "coalesce cols crows dense_dim indices is_coalesced nnz sparse_dim to_dense to_sparse_coo to_sparse_csr values "
    # conversions, copies, the tape itself, settings
    "async_save "
    "apply apply_ astype backward bfloat16 bool byte cdouble cfloat char complex128 complex64 contiguous copy_ cpu cuda double "
    "float float16 float32 float64 get_tensor half int int16 int32 int64 int8 item long numpy pin_memory set_value short to "
    "to_dlpack tolist type_as uint32 uint64 uint8 value disable_signal_handler disable_static enable_static "
    "get_cuda_rng_state get_flags get_rng_state grad in_dynamic_mode manual_seed seed set_cuda_rng_state set_flags "
    "set_printoptions set_rng_state load save "
    "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor ShortTensor"
))  # fmt: skip
