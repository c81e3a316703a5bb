"""`torch.lobpcg`: some eigenpairs of a symmetric matrix."""

from __future__ import annotations

from typing import Any

from ._api import api
from ._elementwise import tensor_argument
from ._graph_nodes import show_as
from ._tensor import Tensor


@api(method=False)
def lobpcg(
    A: Tensor, k: int | None = None, B: Tensor | None = None, X: Tensor | None = None, n: int | None = None,
    iK: Tensor | None = None, niter: int | None = None, tol: float | None = None, largest: bool | None = None,
    method: str | None = None, tracker: Any = None, ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None, ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The `k` largest (or smallest) eigenvalues of symmetric matrices, the outermost first, and their eigenvectors.

    `A v = e v`, or `A v = e B v` with a positive definite `B`; differentiable in both, to any order. The eigenpairs are
    computed directly, from the whole decomposition, and not by iteration: `iK`, `niter`, `tol`, `method` and the `ortho_`
    parameters only say how an iteration would proceed, and change nothing.

    Raises ValueError for more eigenpairs than a matrix has (PyTorch, which iterates, takes a third of them at most),
    AssertionError where it is not square, NotImplementedError for a `tracker`, since there are no iterations to watch.
    """
    from .linalg import cholesky, eigh, solve_triangular

    if tracker is not None:
        raise NotImplementedError("lobpcg: the eigenpairs are computed directly, so a tracker sees no iterations")
    tensor_argument("lobpcg", A, "A")
    matrix = A.to_dense() if A.is_sparse else A
    shape = tuple(matrix.shape)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise AssertionError(f"lobpcg: A must be square, got shape {list(shape)}")
    if not matrix.is_floating_point():
        raise RuntimeError(f"lobpcg: A must be a real floating tensor, got {matrix.dtype}")
    if k is None:
        k = 1 if X is None else X.shape[-1]
    if not 1 <= k <= shape[-1]:
        raise ValueError(f"lobpcg: {k} eigenpairs of matrices with {shape[-1]} rows; there are 1 to {shape[-1]}")
    matrix = (matrix + matrix.mT) / 2  # what an iteration sees of a matrix that is not quite symmetric, as in gradcheck
    factor = None
    if B is not None:
        factor = cholesky(B.to_dense() if B.is_sparse else B)
        half = solve_triangular(factor, matrix, upper=False)
        matrix = solve_triangular(factor, half.mT, upper=False)
    values, vectors = eigh(matrix)
    if factor is not None:
        vectors = solve_triangular(factor.mT, vectors, upper=True)
    if largest or largest is None:
        values, vectors = values.flip(-1), vectors.flip(-1)
    name = "LOBPCGAutogradFunctionBackward"
    return show_as(values[..., :k], name), show_as(vectors[..., :k], name)
