"""A program that test_types.py shows to a type checker: each `reveal_type` has what is wanted after `#`. It runs, too."""

from typing import TYPE_CHECKING

import retrograde as rg

if not TYPE_CHECKING:

    def reveal_type(_: object) -> None:
        pass


x = rg.asarray([1.0, 2.0], requires_grad=True)
reveal_type(x)  # Tensor
reveal_type(x.sum())  # Tensor
reveal_type(2 * x + 1)  # Tensor
reveal_type(x @ x)  # Tensor
reveal_type(x**2)  # Tensor
reveal_type(-x)  # Tensor
reveal_type(x < 3)  # Tensor
reveal_type(x == 3)  # Tensor
reveal_type(rg.zeros((2, 3)).T.reshape(3, 2)[0])  # Tensor
reveal_type(rg.sin(x))  # Tensor
reveal_type(rg.maximum(x, 0))  # Tensor
reveal_type(rg.arange(3))  # Tensor
reveal_type(rg.linalg.solve(rg.eye(2), x))  # Tensor
reveal_type(rg.fft.fft(x))  # Tensor
reveal_type(rg.concat([x, x]))  # Tensor
reveal_type(rg.unstack(x))  # tuple[Tensor, ...]
reveal_type(x.shape)  # tuple[int, ...]
reveal_type(x.grad)  # Tensor | None
reveal_type(x.sum().backward())  # None
reveal_type(float(x[0].detach()))  # float
reveal_type(rg.allclose(x, x))  # bool
reveal_type(rg.jit(rg.sum))  # Jit
