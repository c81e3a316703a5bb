"""Linear algebra that is run on PyTorch (record_linalg.py) and on the dialect (test_linalg.py) alike.

A case is a function of tensors whose results do not depend on the choice of eigen- and singular vectors, and the arrays
to call it with.
"""

from __future__ import annotations

import numpy as np

INF = float("inf")


def arrays(seed, is_complex, *shapes):
    """Normal numbers, complex ones if asked."""
    rng = np.random.default_rng(seed)
    found = []
    for shape in shapes:
        x = rng.standard_normal(shape)
        found.append(x + 1j * rng.standard_normal(shape) if is_complex else x)
    return found


def pattern(shape, phase, is_complex):
    """A fixed cotangent."""
    i = np.arange(int(np.prod(shape)), dtype=float)
    a = np.sin(1 + 0.7 * i + phase)
    return (a + 1j * np.cos(0.3 * i + phase) if is_complex else a).reshape(shape)


def cases(torch):
    """Name, function and arrays of every case."""
    linalg = torch.linalg
    for is_complex in (False, True):
        kind = "complex" if is_complex else "real"
        square, tall, wide, batch, rhs, other = arrays(
            1, is_complex, (3, 3), (4, 3), (2, 3), (2, 3, 2), (3, 2), (4, 2)
        )
        hermitian = square @ np.conj(square.T) + np.eye(3)
        factor = np.linalg.cholesky(hermitian)

        def case(name, f, *xs, kind=kind):
            return f"{kind} {name}", f, xs

        yield case("eigh", lambda a: (linalg.eigh(a)[0], linalg.eigh(a, UPLO="U")[1].abs()), hermitian)
        yield case("eigvalsh", lambda a: (linalg.eigvalsh(a),), hermitian)
        yield case("eig", lambda a: (linalg.eig(a)[0].abs(), linalg.eig(a)[1].abs()), square)
        yield case("eigvals", lambda a: (linalg.eigvals(a).abs(),), square)
        for shape, a in (("square", square), ("tall", tall), ("wide", wide), ("batch", batch)):
            yield case(f"svd {shape}", lambda a: tuple(x.abs() for x in linalg.svd(a, full_matrices=False)), a)
            yield case(f"svd full {shape}", lambda a: (linalg.svd(a)[1], linalg.svd(a)[0][..., :2].abs()), a)
            yield case(f"svd old {shape}", lambda a: (torch.svd(a)[2].abs(),), a)
            yield case(f"svdvals {shape}", lambda a: (linalg.svdvals(a),), a)
            yield case(f"qr {shape}", lambda a: tuple(linalg.qr(a)), a)
            yield case(f"pinv {shape}", lambda a: (linalg.pinv(a),), a)
            yield case(f"lu {shape}", lambda a: tuple(linalg.lu(a))[1:], a)
            yield case(f"lu_factor {shape}", lambda a: (linalg.lu_factor(a)[0],), a)
            yield case(f"cond {shape}", lambda a: (linalg.cond(a), linalg.cond(a, -2)), a)
        for order in ("fro", "nuc", 2, -2, 1, -1, INF, -INF):
            yield case(f"matrix_norm {order}", lambda a, p=order: (
                linalg.matrix_norm(a, p), linalg.matrix_norm(a, p, dim=(-1, 0), keepdim=True)), batch)  # fmt: skip
        for order in (0, 1, 2, 3, 0.5, -1, 1.5, INF, -INF):
            yield case(f"vector_norm {order}", lambda a, p=order: (
                linalg.vector_norm(a, p), linalg.vector_norm(a, p, dim=0),
                linalg.vector_norm(a, p, dim=(0, -1), keepdim=True)), batch)  # fmt: skip
        yield case("norm of zero", lambda a: (linalg.norm(a * 0),), square)
        yield case("qr complete", lambda a: tuple(linalg.qr(a, mode="complete")), wide)
        for upper in (False, True):
            yield case(f"cholesky {upper}", lambda a, u=upper: (linalg.cholesky(a, upper=u),), hermitian)
            c = np.conj(factor.T) if upper else factor
            yield case(f"cholesky_solve {upper}", lambda b, c, u=upper: (torch.cholesky_solve(b, c, upper=u),), rhs, c)
            yield case(f"cholesky_inverse {upper}", lambda c, u=upper: (torch.cholesky_inverse(c, upper=u),), c)
            for left in (False, True):
                for unit in (False, True):
                    yield case(
                        f"solve_triangular {upper} {left} {unit}",
                        lambda a, b, u=upper, s=left, t=unit: (
                            linalg.solve_triangular(a, b, upper=u, left=s, unitriangular=t),
                        ),
                        square, rhs if left else wide,
                    )  # fmt: skip
                yield case(
                    f"triangular_solve {upper} {left}",
                    lambda b, a, u=upper, t=left: tuple(torch.triangular_solve(b, a, upper=u, transpose=t)),
                    rhs, square,
                )  # fmt: skip
        yield case("solve", lambda a, b: (linalg.solve(a, b),), square, rhs)
        yield case("solve right", lambda a, b: (linalg.solve(a, b, left=False),), square, wide)
        (many, vectors, columns) = arrays(2, is_complex, (2, 3, 3), (2, 3), (4, 1, 3, 1))
        yield case("solve vectors", lambda a, b: (linalg.solve(a, b),), many, vectors)
        yield case("solve broadcast", lambda a, b: (linalg.solve(a, b),), many, columns)
        yield case("inv", lambda a: (linalg.inv(a), linalg.inv_ex(a)[0]), many)
        yield case("det", lambda a: (torch.det(a),), many)
        yield case("slogdet", lambda a: tuple(linalg.slogdet(a)), many)
        yield case("logdet", lambda a: (torch.logdet(a),), hermitian)
        yield case("matrix_exp", lambda a: (linalg.matrix_exp(a),), many)
        yield case("matrix_power", lambda a: tuple(linalg.matrix_power(a, n) for n in (3, -2, 5, 1)), square)
        yield case("pinv hermitian", lambda a: (linalg.pinv(a, hermitian=True),), hermitian)
        for driver in ("gels", "gelsy", "gelsd", "gelss"):
            count = 1 if driver == "gelsy" else 2
            yield case(f"lstsq {driver}", lambda a, b, d=driver, n=count: tuple(linalg.lstsq(a, b, driver=d))[:n],
                       tall, other)  # fmt: skip
        yield case("lstsq wide", lambda a, b: (linalg.lstsq(a, b)[0],), wide, wide[:, :2])
        tau, below = arrays(3, is_complex, (3,), (4, 3))
        yield case("householder_product", lambda a, t: (linalg.householder_product(a, t),), below, tau)
        for left in (False, True):
            for transpose in (False, True):
                yield case(
                    f"ormqr {left} {transpose}",
                    lambda a, t, c, s=left, u=transpose: (torch.ormqr(a, t, c, s, u),),
                    below, tau, other if left else other.T,
                )  # fmt: skip
        packed = np.tril(factor, -1) + np.triu(hermitian)
        pivots = np.array([2, 3, 3], np.int32)
        for left in (False, True):
            for adjoint in (False, True):
                yield case(
                    f"lu_solve {left} {adjoint}",
                    lambda f, b, s=left, t=adjoint: (
                        linalg.lu_solve(f, torch.tensor(pivots), b, left=s, adjoint=t),  # noqa: B023 - the same for all
                    ),
                    packed, rhs if left else wide,
                )  # fmt: skip
        yield case("lu_unpack", lambda f: tuple(torch.lu_unpack(f, torch.tensor(pivots)))[1:], packed)  # noqa: B023
        chain = arrays(4, is_complex, (2,), (2, 4), (4, 3), (3, 2))
        yield case("multi_dot", lambda a, b, c, d: (linalg.multi_dot([a, b, c, d]),), *chain)
        yield case("vecdot", lambda a, b: (linalg.vecdot(a, b), linalg.vecdot(a, b, dim=0)), rhs, rhs * 2 + 1)
        yield case("cross", lambda a, b: (linalg.cross(a, b),), wide, wide[:1] * 2 + 1)
        yield case("vander", lambda a: (linalg.vander(a), linalg.vander(a, N=5)), vectors)
        yield case("diagonal", lambda a: (linalg.diagonal(a, offset=1),), many)
        (cube,) = arrays(5, is_complex, (2, 3, 6))
        yield case("tensorinv", lambda a: (linalg.tensorinv(a, ind=2),), cube)
        yield case("tensorsolve", lambda a, b: (linalg.tensorsolve(a, b),), cube, wide)
        yield case("tensorsolve dims", lambda a, b: (linalg.tensorsolve(a, b, dims=(0,)),),
                   np.moveaxis(cube, 2, 0).copy(), wide)  # fmt: skip
        yield case("norm", lambda a: (
            linalg.norm(a), linalg.norm(a, 2), linalg.norm(a, dim=1), linalg.norm(a, 1, dim=0), linalg.norm(a, "nuc")),
            square)  # fmt: skip


def run(torch, f, xs, to_numpy):
    """Results, first and second derivatives (of fixed functionals), as arrays; None where there are none."""
    inputs = [torch.tensor(np.array(x)).requires_grad_() for x in xs]
    outs = list(f(*inputs))
    ys = [y for y in outs if y.requires_grad]
    seeds = [torch.tensor(pattern(tuple(y.shape), k, y.is_complex())) for k, y in enumerate(ys)]
    grads = torch.autograd.grad(ys, inputs, seeds, create_graph=True, allow_unused=True)
    again = [None] * len(inputs)
    active = [(g, torch.tensor(pattern(tuple(g.shape), k + 5, g.is_complex())))
              for k, g in enumerate(grads) if g is not None and g.requires_grad]  # fmt: skip
    if active:
        again = torch.autograd.grad([g for g, _ in active], inputs, [s for _, s in active], allow_unused=True)
    return [[None if x is None else to_numpy(x.detach()) for x in part] for part in (outs, grads, again)]
