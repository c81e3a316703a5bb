"""Floor 6: functional transforms. Each opens a level, so they nest in any order."""

from .checkpoint import checkpoint
from .custom import custom_jvp, custom_vjp
from .forward import jvp, linearize
from .jacobian import hessian, hvp, jacfwd, jacrev
from .reverse import grad, value_and_grad, vjp
from .vmap import vmap

__all__ = [
    "checkpoint", "custom_jvp", "custom_vjp", "grad", "hessian", "hvp", "jacfwd", "jacrev", "jvp", "linearize",
    "value_and_grad", "vjp", "vmap",
]  # fmt: skip
