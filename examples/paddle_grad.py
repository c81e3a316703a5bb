"""The calls that the document on `paddle.grad` makes, on its numbers: a graph of the derivative, and initial gradients."""

import paddle


def second_order(create_graph):
    """The derivative at 1 of x² + dx, where dx = 2x counts as a constant unless a graph of it is made."""
    x = paddle.ones(shape=[1], dtype="float32")
    x.stop_gradient = False
    y = x * x
    (dx,) = paddle.grad(outputs=[y], inputs=[x], create_graph=create_graph, retain_graph=True)
    (y + dx).backward()
    return x.gradient().tolist()


def weighted(first=None, second=None, given=True):
    """The gradient at 2 of x² and 3x, weighted with two initial gradients (None: ones)."""
    x = paddle.to_tensor(2.0)
    x.stop_gradient = False
    weights = [None if w is None else paddle.to_tensor(w) for w in (first, second)] if given else None
    return paddle.grad(outputs=[x * x, x * 3], inputs=[x], grad_outputs=weights)[0].item()


# What the document shows.
DOCUMENTED = {
    "create_graph=False: x.gradient()": [2.0],
    "create_graph=True: x.gradient()": [4.0],
    "grad_outputs=None": 7.0,
    "grad_outputs=[None, 4]": 16.0,
    "grad_outputs=[4, None]": 19.0,
    "grad_outputs=[3, 4]": 24.0,
}


def obtained():
    """The same figures, computed."""
    return dict(zip(DOCUMENTED, (
        second_order(False), second_order(True), weighted(given=False), weighted(None, 4.0), weighted(4.0, None),
        weighted(3.0, 4.0),
    )))  # fmt: skip


if __name__ == "__main__":
    print(obtained())
