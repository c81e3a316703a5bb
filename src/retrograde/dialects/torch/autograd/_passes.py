"""What a backward pass tells those who ask while it runs: its number, the nodes it runs, and what is to be called at its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...._state import state
from ....core.node import Accumulate
from ....tape.engine import Run, current_run, discover, plan
from .. import _graph_nodes


def graph_task_id() -> int:
    """The number of the pass that this thread is in, one more with each; -1 outside of one."""
    return -1 if state.run is None else state.run.number


def queue_callback(callback: Callable[[], None]) -> None:
    """Call something when the pass that this thread is in ends without an error; raises RuntimeError outside of one."""
    current_run().at_end.append(callback)


def _reached(run: Run) -> tuple[list[Any], dict[Any, Any]]:
    """The nodes below where a pass began, in the order in which they run, and the leaves with the node after which each is
    complete; only those that lead to what the pass was asked for."""
    order, last = discover(run.begun, frozenset())
    if run.wanted is None:
        return order, last
    needs, wanted = plan(order, run.wanted), run.wanted
    run_too = {_graph_nodes.producer(edge) for edge in wanted}
    return [n for n in order if n in needs or n in run_too], {leaf: user for leaf, user in last.items() if leaf in wanted}


def will_execute(node: Any) -> bool:
    """Whether the pass that this thread is in runs a node, or has run it.

    Raises RuntimeError outside of a pass, and for a leaf's node under autograd.grad(), which has no gradient added to it.
    """
    run = current_run()
    order, last = _reached(run)
    if not isinstance(node._node, Accumulate):
        return node._node in order
    if not run.accumulate and node._node in last:
        raise RuntimeError("_will_engine_execute_node: autograd.grad() hands out a leaf's gradient and runs no node for it")
    return node._node in last


def execution_order() -> list[Any]:
    """The nodes of the pass that this thread is in, in the order in which they run; raises RuntimeError outside of one."""
    order, last = _reached(current_run())
    after: dict[Any, list[Any]] = {}
    for leaf, user in last.items():
        after.setdefault(user, []).append(leaf)
    return [_graph_nodes.shown(x) for node in (None, *order) for x in ((node,) if node else ()) + tuple(after.get(node, ()))]


class ExecutionEngine:
    """What `Variable._execution_engine` is: where callbacks for the end of a pass are queued."""

    queue_callback = staticmethod(queue_callback)
