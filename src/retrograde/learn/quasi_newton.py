"""Limited-memory BFGS over one flat vector, and the line search for the strong Wolfe conditions.

Follows Nocedal and Wright, Numerical Optimization (2006), algorithms 7.4, 3.5 and 3.6, with the safeguards of Schmidt's
minFunc (2005). Scalars taken from float32 vectors stay float32 (NumPy scalars), since the decisions of the search hang
on their last bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

Vector = Any
Scalar = Any


class Problem(Protocol):
    """What is minimised: parameters that can be moved along a flat vector, and an objective to evaluate there."""

    def evaluate(self) -> tuple[float, Vector]:
        """The objective and its flat gradient (an array of its own) at the present parameters."""
        ...

    def move(self, t: Scalar, direction: Vector) -> None:
        """Add `t * direction` to the parameters."""
        ...

    def save(self) -> Any:
        """A copy of the parameters for `restore`."""
        ...

    def restore(self, saved: Any) -> None:
        """Put the parameters back to what `save` saw."""
        ...


@dataclass
class Memory:
    """What the method remembers from one call of `lbfgs` to the next."""

    evaluations: int = 0
    iterations: int = 0
    direction: Vector | None = None
    t: Scalar = None
    gradient_changes: list[Vector] = field(default_factory=list)
    moves: list[Vector] = field(default_factory=list)
    inverse_curvatures: list[Scalar] = field(default_factory=list)
    diagonal: Scalar = 1
    previous_gradient: Vector | None = None
    previous_loss: float | None = None
    coefficients: list[Scalar] | None = None


def lbfgs(
    problem: Problem, memory: Memory, first_loss: float, gradient: Vector, *, lr: float = 1.0, max_iter: int = 20,
    max_eval: int = 25, tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
    strong_wolfe: bool = False,
) -> None:  # fmt: skip
    """Take up to `max_iter` quasi-Newton steps from where `problem` stands; `memory` goes on from call to call.

    `first_loss` and `gradient` are the objective and its flat gradient at the start, an evaluation that the caller has
    made and counted. Without the line search each step has length `lr` (the first at most that).
    """
    loss = first_loss
    evaluations = 1
    if np.abs(gradient).max() <= tolerance_grad:
        return
    for iteration in range(1, max_iter + 1):
        memory.iterations += 1
        if memory.iterations == 1:
            memory.direction = -gradient
            t = min(1.0, 1.0 / np.abs(gradient).sum()) * lr
        else:
            _remember(memory, gradient, history_size)
            memory.direction = _newton_direction(memory, gradient, history_size)
            t = lr
        direction = memory.direction
        memory.previous_gradient = gradient.copy()
        memory.previous_loss = previous_loss = loss
        memory.t = t
        slope = gradient.dot(direction)
        if slope > -tolerance_change:
            return
        used = 0
        if strong_wolfe:
            start = Point(0, loss, gradient, slope)
            trials = min(25, max_eval - evaluations)
            found, used = search_strong_wolfe(problem, start, t, direction, max_trials=trials)
            t, loss, gradient = found.t, found.loss, found.gradient
            problem.move(t, direction)
        else:
            problem.move(t, direction)
            if iteration != max_iter:
                # In a limited number of steps the value after the last one would go unused.
                loss, gradient = problem.evaluate()
                used = 1
        memory.t = t
        evaluations += used
        memory.evaluations += used
        if (
            evaluations >= max_eval
            or np.abs(gradient).max() <= tolerance_grad
            or np.abs(direction * t).max() <= tolerance_change
            or abs(loss - previous_loss) < tolerance_change
        ):
            return


def _remember(memory: Memory, gradient: Vector, history_size: int) -> None:
    """Add the last move and the change of the gradient along it to the history, where the curvature is positive."""
    change = gradient - memory.previous_gradient
    move = memory.direction * memory.t
    curvature = change.dot(move)
    if curvature > 1e-10:
        if len(memory.moves) == history_size:
            for column in (memory.gradient_changes, memory.moves, memory.inverse_curvatures):
                column.pop(0)
        memory.gradient_changes.append(change)
        memory.moves.append(move)
        memory.inverse_curvatures.append(1.0 / curvature)
        memory.diagonal = curvature / change.dot(change)


def _newton_direction(memory: Memory, gradient: Vector, history_size: int) -> Vector:
    """The two-loop recursion: minus the approximate inverse Hessian times the gradient."""
    if memory.coefficients is None:
        memory.coefficients = [None] * history_size
    coefficients = memory.coefficients
    history = list(zip(memory.gradient_changes, memory.moves, memory.inverse_curvatures))
    q = -gradient
    for i in reversed(range(len(history))):
        change, move, rho = history[i]
        coefficients[i] = move.dot(q) * rho
        q -= coefficients[i] * change
    q *= memory.diagonal
    for i, (change, move, rho) in enumerate(history):
        q += (coefficients[i] - change.dot(q) * rho) * move
    return q


class Point(NamedTuple):
    """A trial step along the search direction: its length, the objective there, gradient, directional derivative."""

    t: Scalar
    loss: float
    gradient: Vector
    slope: Scalar


def search_strong_wolfe(
    problem: Problem, start: Point, t: Scalar, direction: Vector, *, decrease: float = 1e-4, curvature: float = 0.9,
    tolerance_change: float = 1e-9, max_trials: int = 25,
) -> tuple[Point, int]:  # fmt: skip
    """A step length that fulfils the strong Wolfe conditions, and the number of evaluations it took.

    `problem` is back at the start afterwards. When the trials run out, the best end of the bracket is returned.
    """
    origin = problem.save()

    def trial(t: Scalar) -> Point:
        problem.move(t, direction)
        loss, gradient = problem.evaluate()
        problem.restore(origin)
        return Point(t, loss, gradient, gradient.dot(direction))

    def too_high(point: Point) -> bool:
        return bool(point.loss > start.loss + decrease * point.t * start.slope)

    def flat_enough(point: Point) -> bool:
        return bool(abs(point.slope) <= -curvature * start.slope)

    previous, new = start, trial(t)
    evaluations, trials = 1, 0
    bracket: list[Point] | None = None
    while trials < max_trials:
        if too_high(new) or (trials > 1 and new.loss >= previous.loss):
            bracket = [previous, new]
            break
        if flat_enough(new):
            return new, evaluations
        if new.slope >= 0:
            bracket = [previous, new]
            break
        bounds = (new.t + 0.01 * (new.t - previous.t), new.t * 10)
        longer = cubic_minimum(previous, new, bounds)
        previous, new = new, trial(longer)
        evaluations += 1
        trials += 1
    if bracket is None:
        bracket = [start, new]

    extent = np.abs(direction).max()
    stalled = False
    low = 0 if bracket[0].loss <= bracket[1].loss else 1
    while trials < max_trials:
        left, right = bracket[0].t, bracket[1].t
        if abs(right - left) * extent < tolerance_change:
            break
        t = cubic_minimum(bracket[0], bracket[1])
        smallest, largest = min(left, right), max(left, right)
        margin = 0.1 * (largest - smallest)
        if min(largest - t, t - smallest) < margin:
            # Too near to an end of the bracket: tolerated once, then pushed inside.
            if stalled or t >= largest or t <= smallest:
                t = largest - margin if abs(t - largest) < abs(t - smallest) else smallest + margin
                stalled = False
            else:
                stalled = True
        else:
            stalled = False
        new = trial(t)
        evaluations += 1
        trials += 1
        high = 1 - low
        if too_high(new) or new.loss >= bracket[low].loss:
            bracket[high] = new
            low = 0 if bracket[0].loss <= bracket[1].loss else 1
            continue
        done = flat_enough(new)
        if not done and new.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = new
        if done:
            break
    return bracket[low], evaluations


def cubic_minimum(a: Point, b: Point, bounds: tuple[Scalar, Scalar] | None = None) -> Scalar:
    """Where the cubic through two values and slopes is least, within bounds (by default between the two points).

    The middle of the bounds where the cubic has no minimum (Nocedal and Wright, equation 3.59).
    """
    low, high = bounds if bounds is not None else (min(a.t, b.t), max(a.t, b.t))
    theta = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    radicand = theta**2 - a.slope * b.slope
    if not radicand >= 0:
        return (low + high) / 2.0
    root = np.sqrt(radicand)
    if a.t <= b.t:
        t = b.t - (b.t - a.t) * ((b.slope + root - theta) / (b.slope - a.slope + 2 * root))
    else:
        t = a.t - (a.t - b.t) * ((a.slope + root - theta) / (a.slope - b.slope + 2 * root))
    return min(max(t, low), high)
