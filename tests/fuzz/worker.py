"""A warm process that runs program texts on one side and answers what can be seen of each.

Run as a script by any Python, without the package: `worker.py SIDE`, where SIDE is `torch` or `jax` (the framework itself) or
`retrograde-torch` or `retrograde-native` (this library). A line of the input is a JSON list of texts; the answer to each
text is a line with its observation, see `observe`. A program that cannot be interrupted ends the process.
"""

import faulthandler
import functools
import json
import os
import re
import signal
import sys
import types
import warnings
from typing import Any

SECONDS_PER_PROGRAM = 10
NAME = re.compile(r"^v\d+$")
CREATED = re.compile(r"^(v\d+) = torch\.(?:tensor|ones)\(", re.MULTILINE)


class OutOfTimeError(BaseException):
    """The program took too long; no `except` of a program's own catches it."""


def on_alarm(*_: object) -> None:
    raise OutOfTimeError


class Torch:
    """PyTorch's programs, on PyTorch or on the dialect."""

    def __init__(self, ours: bool) -> None:
        if ours:
            import retrograde

            retrograde.activate("torch")
        import torch
        import torch.nn.functional
        import torch.utils.checkpoint

        if ours != ("retrograde" in torch.__file__):
            sys.exit(f"torch is {torch.__file__}")
        if not ours:
            import torch._dynamo  # what linearize would import: longer than a program may take

        torch.set_num_threads(1)
        # Forward mode imports much of PyTorch: it must not be stopped in the middle of that.
        torch.func.jvp(torch.sin, (torch.ones(1),), (torch.ones(1),))
        self.torch = torch

    def names(self) -> dict[str, Any]:
        torch = self.torch
        torch.manual_seed(0)
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        return {"torch": torch, "F": torch.nn.functional, "checkpoint": torch.utils.checkpoint.checkpoint}

    def is_array(self, x: Any) -> bool:
        return isinstance(x, self.torch.Tensor)

    def numbers(self, x: Any) -> list[Any]:
        x = x.detach().resolve_conj().resolve_neg()
        if x.is_complex():
            x = self.torch.view_as_real(x.contiguous())
        return x.reshape(-1).tolist()

    def array(self, x: Any) -> list[Any]:
        """dtype, shape, elements (of complex numbers both parts)."""
        return [str(x.dtype).removeprefix("torch."), list(x.shape), self.numbers(x)]

    def observe(self, x: Any, created: bool) -> list[Any]:
        """The array, what is known of its history, and its gradient.

        How often a framework has written a result while it computed it is its own business: versions are looked at for
        arrays that the program itself has created.
        """
        flags = [bool(x.requires_grad), bool(x.is_leaf), x._version if created else 0]
        gradient = x.grad
        if gradient is not None:
            gradient = [*self.array(gradient), [bool(gradient.requires_grad)]]
        return [*self.array(x), flags, gradient]


class Numeric:
    """Programs on jax, or on the native API: `xp` is the array namespace, `tr` has the transforms."""

    def __init__(self, ours: bool) -> None:
        import numpy as np

        self.np = np
        if ours:
            import retrograde as rg

            self.xp, self.tr, self.kind, self.ops = rg, rg, rg.Tensor, rg
        else:
            import jax
            import jax.numpy as jnp

            jax.config.update("jax_enable_x64", True)
            jax.config.update("jax_platforms", "cpu")
            jax.config.update("jax_disable_jit", True)
            import jax_kernels

            jax_kernels.install_all()
            from jax._src.literals import TypedNdArray  # what a constant is that comes out of a transform untouched

            self.xp, self.tr, self.kind = jnp, jax, (jax.Array, TypedNdArray)
            self.ops = types.SimpleNamespace(
                softmax=lambda x, axis: jax.nn.softmax(x, axis=axis),
                log_softmax=lambda x, axis: jax.nn.log_softmax(x, axis=axis),
                logsumexp=lambda x, axis: jax.scipy.special.logsumexp(x, axis=axis),
            )

    def names(self) -> dict[str, Any]:
        return {"xp": self.xp, "tr": self.tr, "ops": self.ops}

    def is_array(self, x: Any) -> bool:
        return isinstance(x, self.kind)

    def observe(self, x: Any, created: bool = False) -> list[Any]:
        x = self.np.asarray(x)
        if x.dtype.kind == "c":
            elements = self.np.stack([x.real, x.imag], -1)
        else:
            elements = x
        return [str(x.dtype), list(x.shape), elements.reshape(-1).tolist(), [], None]

    array = observe


class Log(list):
    """What a program logs, as it is at that moment."""

    def append(self, x: Any) -> None:
        super().append(x.detach().clone() if hasattr(x, "detach") and hasattr(x, "clone") else x)


def flat(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from flat(item)
    else:
        yield value


def looked(how: Any, x: Any) -> list[Any]:
    """What `how` says of an array, which may be one that only its transform can look at."""
    try:
        return how(x)
    except Exception as error:
        return [f"not to be observed: {type(error).__name__}"]


def observe(side: Any, text: str, seconds: int = SECONDS_PER_PROGRAM) -> dict[str, Any]:
    """Run `text`: every variable, what it logged, and the type and line of the exception that ended it."""
    names = side.names()
    log = Log()
    names["log"] = log
    stopped = None
    signal.alarm(seconds)
    faulthandler.dump_traceback_later(3 * seconds, exit=True)  # what does not come back to Python to be interrupted
    try:
        exec(compile(text, "<program>", "exec"), names)
    except (Exception, OutOfTimeError) as error:
        line, trace = 0, error.__traceback__
        while trace is not None and not line:
            line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == "<program>" else 0
            trace = trace.tb_next
        stopped = [type(error).__name__, line, str(error)[:200]]
    finally:
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
    created = set(CREATED.findall(text))
    seen: dict[str, Any] = {}
    for name, value in names.items():
        if not NAME.match(name):
            continue
        for i, item in enumerate(flat(value)):
            place = f"{name}[{i}]" if isinstance(value, (tuple, list)) else name
            look = functools.partial(side.observe, created=name in created)
            seen[place] = looked(look, item) if side.is_array(item) else [type(item).__name__]
    logged = [looked(side.array, x) if side.is_array(x) else repr(x) for x in flat(log)]
    return {"stopped": stopped, "seen": seen, "log": logged}


SIDES = {
    "torch": lambda: Torch(ours=False),
    "retrograde-torch": lambda: Torch(ours=True),
    "jax": lambda: Numeric(ours=False),
    "retrograde-native": lambda: Numeric(ours=True),
}


def main() -> None:
    warnings.simplefilter("ignore")
    side = SIDES[sys.argv[1]]()
    signal.signal(signal.SIGALRM, on_alarm)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a program or framework prints is no answer
    for line in sys.stdin:
        for text in json.loads(line):
            answers.write(json.dumps(observe(side, text)) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
