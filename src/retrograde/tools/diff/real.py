"""One side of a comparison on the framework that is installed: its gradients, as a record that has nothing else.

Runs as a script, in an interpreter that need not know retrograde: only the standard library, NumPy (which every
framework brings) and two files beside this one. What gives gradients is wrapped by its public names: after each call
the gradients of the tensors that the program's frames hold, or those returned, are written down.
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import json
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Any


def _neighbour(name: str) -> ModuleType:
    """A file beside this one, as a module; its folder must not be on the path, where it would hide users' modules."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"_retrograde_diff_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Gradients:
    """The record: passes, leaves and gradients."""

    def __init__(self, places: ModuleType, events: ModuleType) -> None:
        self.places, self.kinds = places, events
        self.events: list[Any] = []
        self.values: list[list[Any]] = []
        self.leaves: list[list[Any]] = []
        self.files: list[str] = []
        self.content = bytearray()
        self.numbers: dict[int, int] = {}
        self.kept: list[Any] = []
        self.totals: dict[int, Any] = {}
        self.before: dict[int, Any] = {}
        """id of a tensor -> what its gradient is when a pass begins, if that is not zero."""
        self.latest: dict[int, tuple[Any, int]] = {}
        """id of a tensor -> what it held when it was last looked at, and the number of that value."""
        self.look: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None = None
        """How to get a tensor's gradient, and a tensor as an array, where tensors own their gradients."""
        self.passes = 0
        self.busy = False

    def value(self, array: Any) -> int:
        """Keep an array; gives the number of the value."""
        import numpy as np

        array = np.ascontiguousarray(array) if array.ndim else array
        self.values.append([list(array.shape), array.dtype.name, len(self.content), []])
        raw = array.tobytes()
        self.content += raw + bytes(-len(raw) % 16)
        return len(self.values) - 1

    def event(self, kind: Callable[..., Any], name: str, ins: list[int], outs: list[int], *more: Any) -> None:
        """Note an event of a kind at the user's line, with what that kind has beside others."""
        filename, line = self.places.user_line(2)
        if filename not in self.files:
            self.files.append(filename)
        self.events.append(kind(name, ins, outs, self.files.index(filename), line, (), *more))

    def leaf(self, tensor: Any, name: str, array: Any) -> int:
        """The number of a leaf, which is kept alive so that its id stays its own."""
        number = self.numbers.get(id(tensor))
        if number is None:
            number = self.numbers[id(tensor)] = len(self.leaves)
            self.kept.append(tensor)
            value = self.value(array)
            self.leaves.append([name, value])
            self.latest[id(tensor)] = (array.copy(), value)
        return number

    def begin(self, create_graph: bool = False) -> None:
        """A backward pass begins: what leaves hold by now is looked at."""
        import numpy as np

        for tensor in self.kept if self.look is not None else ():
            assert self.look is not None
            gradient, array = self.look
            held, value = self.latest[id(tensor)]
            now = array(tensor)
            if held.shape == now.shape and not np.array_equal(held, now, equal_nan=True):
                number = self.value(now)
                self.event(self.kinds.Write, "write in place", [value], [number])
                self.latest[id(tensor)] = (now.copy(), number)
            g = gradient(tensor)
            total = None if g is None else array(g)
            self.before[id(tensor)] = total.copy() if total is not None and total.any() else None
        self.passes += 1
        self.event(self.kinds.Pass, "backward", [], [], self.passes, create_graph)

    def end(self) -> None:
        """It has ended."""
        self.event(self.kinds.Passed, "backward", [], [], self.passes)

    def accumulated(self, is_tensor: Callable[[Any], bool], gradient: Callable[[Any], Any],
                    array: Callable[[Any], Any]) -> None:  # fmt: skip
        """Write down the gradients that the tensors in sight have now, where the pass has changed them."""
        import numpy as np

        tensors: dict[int, Any] = {}

        def seen(x: Any) -> bool:
            if is_tensor(x):
                tensors[id(x)] = x
                return True
            return False

        names = self.places.names_in_sight(seen, 3)
        for key, name in names.items():
            tensor = tensors[key]
            g = gradient(tensor)
            if g is None:
                continue
            total = array(g)
            before = self.totals.get(key)
            if before is not None and before.shape == total.shape and np.array_equal(before, total):
                continue
            self.totals[key] = total.copy()
            number = self.leaf(tensor, name, array(tensor))
            had = self.before.get(key)
            value = self.value(total)
            added = value if had is None or had.shape != total.shape else self.value(total - had)
            self.event(self.kinds.Accumulate, "accumulate", [added], [value], self.passes, number, None, added != value, -1)

    def returned(self, gradients: list[Any], tensors: list[Any], names: list[str], array: Callable[[Any], Any]) -> None:
        """Write down gradients that a call has returned."""
        for position, (g, tensor, name) in enumerate(zip(gradients, tensors, names)):
            number = -1 if tensor is None else self.leaf(tensor, name, array(tensor))
            if g is not None:
                self.event(self.kinds.Returned, "gradient", [], [self.value(array(g))], self.passes, number, None, position)

    def wrap(self, owner: Any, name: str, after: Callable[..., None], place: int) -> None:
        """Let `after(result, *args, **kwargs)` see what `owner.name` returns, unless it was called from another one.

        place: where `create_graph` stands among its arguments.
        """
        if not hasattr(owner, name):
            return
        original = getattr(owner, name)

        @functools.wraps(original)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if self.busy:
                return original(*args, **kwargs)
            self.busy = True
            try:
                self.begin(bool(kwargs.get("create_graph", args[place] if len(args) > place else False)))
                result = original(*args, **kwargs)
                after(result, *args, **kwargs)
                self.end()
            finally:
                self.busy = False
            return result

        setattr(owner, name, wrapped)

    def pass_over(self, owner: Any, name: str) -> None:
        """Let nothing be written down inside the functions that `owner.name` makes: there tensors stand for many."""
        original = getattr(owner, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def made(*args: Any, **kwargs: Any) -> Any:
            function = original(*args, **kwargs)

            @functools.wraps(function)
            def call(*inner: Any, **named: Any) -> Any:
                before, self.busy = self.busy, True
                try:
                    return function(*inner, **named)
                finally:
                    self.busy = before

            return call

        setattr(owner, name, made)

    def write(self, folder: str) -> None:
        """Write the record where the comparison reads it."""
        events = list(map(self.kinds.row, self.events))
        with open(os.path.join(folder, "events.pickle"), "wb") as file:
            pickle.dump({"events": events, "values": self.values, "leaves": self.leaves, "files": self.files}, file, 4)
        with open(os.path.join(folder, "values.bin"), "wb") as binary:
            binary.write(self.content)


def _listed(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _flat(x: Any) -> list[Any]:
    if isinstance(x, (list, tuple)):
        return [leaf for entry in x for leaf in _flat(entry)]
    if isinstance(x, dict):
        return [leaf for entry in x.values() for leaf in _flat(entry)]
    return [x]


def _following(
    record: Gradients, function: Any, with_value: bool, differentiated: Callable[[tuple[Any, ...]], Any], kind: type,
    array: Callable[[Any], Any], place: int,
) -> Any:  # fmt: skip
    """A function that returns gradients, with what it returns written down.

    differentiated: of its arguments, those that it gives gradients of. place: of the gradients, beside the value.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if record.busy:
            return function(*args, **kwargs)
        record.busy = True
        try:
            record.begin()
            result = function(*args, **kwargs)
            found = [g for g in _flat(result[place] if with_value else result) if isinstance(g, kind)]
            of = [x for x in _flat(differentiated(args)) if isinstance(x, kind)]
            of = [None] * (len(found) - len(of)) + of if len(of) <= len(found) else [None] * len(found)
            names = record.places.names_in_sight(lambda x: isinstance(x, kind), 2)
            record.returned(found, of, [names.get(id(x)) or getattr(x, "name", None) or "" for x in of], array)
            record.end()
        finally:
            record.busy = False
        return result

    return call


def _watch_tape(
    record: Gradients, framework: Any, grad: tuple[Any, str], is_leaf: Callable[[Any], bool], array: Callable[[Any], Any]
) -> None:
    """Wrap `backward` and the function (its owner and its name) that returns gradients."""

    record.look = (lambda x: x.grad, array)

    def after(result: Any, *args: Any, **kwargs: Any) -> None:
        record.accumulated(lambda x: isinstance(x, framework.Tensor) and is_leaf(x), lambda x: x.grad, array)

    def after_grad(result: Any, outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> None:
        tensors = _listed(inputs)
        names = record.places.names_in_sight(lambda x: isinstance(x, framework.Tensor), 3)
        record.returned(_listed(result), tensors, [names.get(id(x), "") for x in tensors], array)

    record.wrap(framework.Tensor, "backward", after, 3)
    record.wrap(framework.autograd, "backward", after, 3)
    record.wrap(*grad, after_grad, 4)


def watch_torch(record: Gradients, torch: Any) -> None:
    """Wrap what gives gradients in PyTorch."""

    def array(x: Any) -> Any:
        x = x.detach().cpu()
        return (x.float() if x.dtype == torch.bfloat16 else x).resolve_conj().numpy()

    _watch_tape(record, torch, (torch.autograd, "grad"), lambda x: x.is_leaf and x.requires_grad, array)

    def transform(name: str, with_value: bool) -> None:
        """Wrap a function that gives a function of which it returns the gradients."""
        original = getattr(torch.func, name)

        @functools.wraps(original)
        def made(fn: Any, argnums: Any = 0, *args: Any, **kwargs: Any) -> Any:
            def weights(given: tuple[Any, ...]) -> list[Any]:
                return [given[i] for i in _listed(argnums)]

            return _following(record, original(fn, argnums, *args, **kwargs), with_value, weights, torch.Tensor, array, 0)

        setattr(torch.func, name, made)

    if hasattr(torch, "func"):
        transform("grad", False)
        transform("grad_and_value", True)
        for owner in (torch, torch.func):
            for name in ("vmap", "jacrev", "jacfwd", "hessian"):
                record.pass_over(owner, name)


def watch_paddle(record: Gradients, paddle: Any) -> None:
    """Wrap what gives gradients in PaddlePaddle."""

    def array(x: Any) -> Any:
        return (x.astype("float32") if "bfloat16" in str(x.dtype) else x).numpy()

    _watch_tape(record, paddle, (paddle, "grad"), lambda x: x.is_leaf and not x.stop_gradient, array)


def watch_mindspore(record: Gradients, mindspore: Any) -> None:
    """Wrap what gives gradients in MindSpore: functions that return functions."""

    def array(x: Any) -> Any:
        return x.asnumpy()

    def following(function: Any, positions: Any, weights: Any, with_value: bool) -> Any:
        parameters = list(weights) if isinstance(weights, (list, tuple)) or hasattr(weights, "__iter__") else (
            [] if weights is None else [weights])  # fmt: skip

        def differentiated(given: tuple[Any, ...]) -> list[Any]:
            chosen = range(len(given)) if positions == "all" else () if positions is None else _listed(positions)
            return [*(given[i] for i in chosen), *parameters]

        return _following(record, function, with_value, differentiated, mindspore.Tensor, array, 1)

    def transform(owner: Any, name: str, with_value: bool) -> None:
        original = getattr(owner, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def made(fn: Any, grad_position: Any = 0, weights: Any = None, *args: Any, **kwargs: Any) -> Any:
            derivative = original(fn, grad_position, weights, *args, **kwargs)
            return following(derivative, grad_position, weights, with_value)

        setattr(owner, name, made)

    for owner in (mindspore, mindspore.ops):
        transform(owner, "grad", False)
        transform(owner, "value_and_grad", True)
    operation = mindspore.ops.GradOperation
    call = operation.__call__

    def called(self: Any, fn: Any, weights: Any = None) -> Any:
        made = call(self, fn) if weights is None else call(self, fn, weights)
        positions = "all" if self.get_all else None if self.get_by_list else 0
        return following(made, positions, weights if self.get_by_list else None, False)

    operation.__call__ = called


WATCHERS = {"torch": watch_torch, "paddle": watch_paddle, "mindspore": watch_mindspore}


def _watch_imports(record: Gradients) -> None:
    """Wrap a framework as soon as it has been imported."""
    left = dict(WATCHERS)
    original = builtins.__import__

    def importing(name: str, *args: Any, **kwargs: Any) -> Any:
        module = original(name, *args, **kwargs)
        for framework in list(left):
            loaded = sys.modules.get(framework)
            if loaded is not None and not getattr(getattr(loaded, "__spec__", None), "_initializing", False):
                left.pop(framework)(record, loaded)
        return module

    builtins.__import__ = importing


def main(folder: str, inside: str, script: str, *arguments: str) -> int:
    """Run the script with its arguments and write its gradients into the folder; the lines of packages inside count as its."""
    places = _neighbour("places")
    places.watch(inside.split())
    record = Gradients(places, _neighbour("events"))
    _watch_imports(record)
    failure, exited = "", False
    module = ModuleType("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    sys.argv[:] = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.realpath(script))
    try:
        with open(script, encoding="utf-8") as file:
            code = compile(file.read(), os.path.abspath(script), "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102 - this is what was asked for
    except SystemExit as stop:
        exited = stop.code not in (None, 0)
        failure = f"it ended with exit status {stop.code!r}" if exited else ""
    except BaseException as error:
        failure = traceback.format_exc()
        if isinstance(error, ModuleNotFoundError) and error.name in WATCHERS:
            failure = f"{error.name} is not installed for {sys.executable}; --python-a and --python-b name another one"
    record.write(folder)
    with open(os.path.join(folder, "ended"), "w", encoding="utf-8") as file:
        json.dump({"failure": failure, "exited": exited}, file)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
