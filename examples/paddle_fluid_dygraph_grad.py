"""The calls that the document on the older `paddle.fluid.dygraph.grad` makes, on its numbers."""

import paddle
import paddle.fluid as fluid


def second_order(create_graph):
    """The derivative at 1 of x² + dx, where dx = 2x counts as a constant unless a graph of it is made."""
    with paddle.imperative.guard():
        x = paddle.ones(shape=[1], dtype="float32", device=None, out=None)
        x.stop_gradient = False
        y = x * x
        dx = fluid.dygraph.grad(outputs=[y], inputs=[x], create_graph=create_graph, retain_graph=True)[0]
        (y + dx).backward()
        return x.gradient().tolist()


# What the document shows.
DOCUMENTED = {"create_graph=False: x.gradient()": [2.0], "create_graph=True: x.gradient()": [4.0]}


def obtained():
    """The same figures, computed."""
    return dict(zip(DOCUMENTED, (second_order(False), second_order(True))))


if __name__ == "__main__":
    print(obtained())
