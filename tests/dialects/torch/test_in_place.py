"""In-place changes without a derivative, and of shape and strides: history, versions and views, as PyTorch 2.13 has them."""

import pytest

import retrograde.dialects.torch as torch

W = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def product(*shape):
    """A leaf of ones, and a tensor computed from it."""
    x = torch.ones(*shape, requires_grad=True)
    return x, x * 1


OVERWRITTEN = {
    "copy_": (lambda y: y.copy_(torch.zeros(3)), "CopyBackwards"),
    "copy_ of another dtype": (lambda y: y.copy_(torch.zeros(3, dtype=torch.int64)), "CopyBackwards"),
    "copy_ of one row": (lambda y: y.copy_(torch.zeros(1, dtype=torch.float64)), "CopyBackwards"),
    "lt_": (lambda y: y.lt_(2.0), "LtBackward0"),
    "lt_ of a tensor": (lambda y: y.lt_(torch.zeros(3)), "LtBackward1"),
    "eq_": (lambda y: y.eq_(1.0), "EqBackward0"),
    "greater_": (lambda y: y.greater_(1.0), "GtBackward0"),
    "not_equal_": (lambda y: y.not_equal_(1.0), "NeBackward0"),
    "fill_": (lambda y: y.fill_(2.0), "FillBackward2"),
    "fill_ of a tensor": (lambda y: y.fill_(torch.tensor(2.0)), "FillBackward3"),
    "zero_": (lambda y: y.zero_(), "ZeroBackward0"),
    "normal_": (lambda y: y.normal_(), "NormalBackward0"),
    "logical_not_": (lambda y: y.logical_not_(), "LogicalNotBackward0"),  # where PyTorch keeps the old history
}


@pytest.mark.parametrize("name", OVERWRITTEN)
def test_what_is_overwritten_keeps_its_history(name):
    """With the derivative 0, also where the gradient is infinite."""
    change, shown = OVERWRITTEN[name]
    x, y = product(3)
    change(y)
    assert y.requires_grad
    assert y._version == 1
    assert y.grad_fn.name().split("::")[-1] == shown
    y.backward(torch.full((3,), float("inf")))
    assert x.grad.tolist() == [0, 0, 0]
    flat = torch.zeros(3)
    change(flat)
    assert not flat.requires_grad


def test_a_view_that_is_overwritten():
    x, y = product(3)
    v = y[1:]
    v.copy_(torch.zeros(2))
    assert (v.requires_grad, y.grad_fn.name()) == (True, "torch::autograd::CopySlices")
    y.sum().backward()
    assert x.grad.tolist() == [1, 0, 0]


SHAPES = {
    "t_": (lambda x: x.t_(), (3, 2), "TBackward1"),
    "unsqueeze_": (lambda x: x.unsqueeze_(0), (1, 2, 3), "UnsqueezeBackward1"),
    "squeeze_": (lambda x: x.squeeze_(), (2, 3), "SqueezeBackward3"),
    "squeeze_ of an axis": (lambda x: x.squeeze_(0), (2, 3), "SqueezeBackward4"),
    "transpose_": (lambda x: x.transpose_(0, 1), (3, 2), "TransposeBackward1"),
    "swapaxes_": (lambda x: x.swapaxes_(0, 1), (3, 2), "TransposeBackward1"),
    "as_strided_": (lambda x: x.as_strided_((2,), (1,)), (2,), "AsStridedBackward1"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_changed_in_place(name):
    change, shape, shown = SHAPES[name]
    for x in (torch.ones(2, 3), torch.ones(3).expand(2, 3), product(2, 3)[1], product(2, 3)[1][:]):
        recorded = x.requires_grad
        assert change(x) is x
        assert tuple(x.shape) == shape
        assert x._version == 1
        assert x.requires_grad is recorded
        assert not recorded or x.grad_fn.name() == shown
    leaf = torch.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError):
        change(leaf)
    with torch.no_grad():
        change(leaf)
    assert leaf.is_leaf
    _, y = product(2, 3)
    z = y * y
    change(y)
    with pytest.raises(RuntimeError, match="in place"):
        z.sum().backward()


def test_views_of_what_got_another_shape():
    w = torch.tensor(W)
    weights = torch.tensor([1.0, 10.0, 100.0])
    for change, factor in ((torch.Tensor.t_, w.t()), (lambda x: x.unsqueeze_(0), w)):
        x, b = product(2, 3)
        v = b[0]
        change(b)
        b.mul_(factor)
        (v * weights).sum().backward()
        assert v.tolist() == W[0]
        assert x.grad.tolist() == [[1, 20, 300], [0, 0, 0]]
    x, b = product(2, 3)
    v = b[0]
    b.t_()
    v.mul_(3)
    (b * w.t()).sum().backward()
    assert b.tolist() == [[3, 1], [3, 1], [3, 1]]
    assert x.grad.tolist() == [[3, 6, 9], [4, 5, 6]]
    plain = torch.ones(2, 3)
    v = plain[0]
    plain.t_()
    x = torch.ones(3, 2, requires_grad=True)
    plain.mul_(x)
    (v * weights).sum().backward()
    assert x.grad.tolist() == [[1, 0], [10, 0], [100, 0]]


def test_resize_counts_only_what_it_changes():
    x = torch.ones(2, 3)
    assert x.resize_(2, 3)._version == 0
    assert x.resize_(3)._version == 1
    expanded = torch.ones(3).expand(2, 3)
    assert expanded.resize_(2, 3).stride() == (0, 1)


STRIDED = {  # how the tensor comes from six elements; sizes, strides, offset; the gradient of the sum of k * y[k]
    "expanded": (lambda x: x[:3].expand(2, 3), ((2,), (1,), 1), [0, 1, 2, 0, 0, 0]),
    "expanded, as it is": (lambda x: x[:3].expand(2, 3), ((2, 3), (0, 1)), [5, 7, 9, 0, 0, 0]),
    "expanded and transposed": (lambda x: x[:3].expand(2, 3).t(), ((2,), (1,), 1), [0, 1, 2, 0, 0, 0]),
    "expanded column": (lambda x: x[:3, None].expand(3, 2), ((3,), (1,)), [1, 2, 3, 0, 0, 0]),
    "one expanded": (lambda x: x[0].expand(3), ((2,), (0,)), [3, 0, 0, 0, 0, 0]),
    "windows": (lambda x: x.unfold(0, 3, 1), ((2, 2), (1, 1)), [1, 5, 4, 0, 0, 0]),
    "beyond it": (lambda x: x[:3].expand(2, 3), ((5,), (1,)), [1, 2, 3, 0, 0, 0]),
    "between its elements": (lambda x: x[::2], ((3,), (1,)), [1, 0, 3, 0, 0, 0]),
}


@pytest.mark.parametrize("name", STRIDED)
@pytest.mark.parametrize("computed", [False, True])
def test_as_strided_where_elements_share_memory(name, computed):
    make, arguments, wanted = STRIDED[name]
    x = torch.arange(1.0, 7.0).requires_grad_()
    y = torch.as_strided(make(x * 1 if computed else x), *arguments)
    (y * torch.arange(1.0, 1 + y.numel()).reshape(y.shape)).sum().backward()
    assert x.grad.tolist() == wanted


def test_as_strided_of_an_expanded_tensor_is_written():
    x = torch.arange(1.0, 7.0).requires_grad_()
    b = x * 1
    e = b[:3].expand(2, 3)
    e.as_strided((2,), (1,), 1).mul_(3)
    b.sum().backward()
    assert b.tolist() == [1, 6, 9, 4, 5, 6]
    assert e.tolist() == [[1, 6, 9], [1, 6, 9]]
    assert x.grad.tolist() == [1, 3, 3, 1, 1, 1]


FIRST = torch.tensor([[True, False, False], [False, False, False]])
ZERO, ONE = torch.tensor([0]), torch.tensor([1])
FILLED = {  # of [[3], [6]] expanded to three columns: the change; what the base holds then; the gradient, 3 where it is kept
    "fill_": (lambda x: x.fill_(2.0), [2, 2], [0, 0]),
    "zero_": (lambda x: x.zero_(), [0, 0], [0, 0]),
    "masked_fill_, one element": (lambda x: x.masked_fill_(FIRST, 7.0), [7, 6], [0, 30]),
    "masked_fill_, a tensor": (lambda x: x.masked_fill_(FIRST, torch.tensor(7.0)), [7, 6], [0, 30]),
    "masked_fill_, a column": (lambda x: x.masked_fill_(FIRST[0], 7.0), [7, 7], [0, 0]),
    "index_fill_, along it": (lambda x: x.index_fill_(1, ZERO, 7.0), [7, 7], [0, 0]),
    "index_fill_, across": (lambda x: x.index_fill_(0, ZERO, 7.0), [7, 6], [0, 30]),
    "fill_diagonal_": (lambda x: x[:1].fill_diagonal_(7.0), [7, 6], [0, 30]),
    "tril_": (lambda x: x.tril_(), [0, 0], [0, 0]),
    "triu_": (lambda x: x.triu_(), [3, 0], [3, 0]),
    "index_put_": (lambda x: x.index_put_((ZERO, ONE), torch.tensor([5.0])), [5, 6], [0, 30]),
    "index_put_, added": (lambda x: x.index_put_((ZERO, ONE), torch.tensor([5.0]), accumulate=True), [8, 6], [3, 30]),
    "conj_physical_ of real elements": (lambda x: x.conj_physical_(), [3, 6], [3, 30]),
    "a mask": (lambda x: x.__setitem__(FIRST, 7.0), [7, 6], [0, 30]),
    "an index": (lambda x: x.__setitem__(ZERO, 7.0), [7, 6], [0, 30]),
}


@pytest.mark.parametrize("name", FILLED)
@pytest.mark.parametrize("recorded", [False, True])
def test_filling_an_expanded_tensor(name, recorded):
    """Values as in PyTorch, whose backward pass refuses most of these."""
    change, values, gradient = FILLED[name]
    leaf = torch.tensor([[1.0], [2.0]], requires_grad=recorded)
    base = leaf * 3
    wide = base.expand(2, 3)
    change(wide)
    assert base[:, 0].tolist() == values
    assert wide.tolist() == [[v] * 3 for v in values]
    assert wide._version == base._version == 1
    if recorded:
        (base * torch.tensor([[1.0], [10.0]])).sum().backward()
        assert leaf.grad[:, 0].tolist() == gradient


def test_what_an_expanded_tensor_is_filled_with_gets_a_gradient():
    value = torch.tensor(7.0, requires_grad=True)
    wide = torch.zeros(2, 1).expand(2, 3)
    wide.masked_fill_(FIRST, value)
    (wide * torch.arange(6.0).reshape(2, 3)).sum().backward()
    assert value.grad.item() == 3


@pytest.mark.parametrize("change", [
    lambda x: x.fill_(torch.tensor(2.0)), lambda x: x.add_(1), lambda x: x.copy_(torch.ones(2, 3)),
    lambda x: x.__setitem__(0, 3.0), lambda x: x.__setitem__(slice(None), 3.0),
])  # fmt: skip
def test_other_changes_of_an_expanded_tensor_are_refused(change):
    wide = torch.zeros(2, 1).expand(2, 3)
    with pytest.raises(RuntimeError, match="share one place in memory"):
        change(wide)
    assert wide.tolist() == [[0] * 3] * 2


def test_shapes_changed_under_no_grad_keep_the_history():
    """As far as it fits: PyTorch keeps it as it was, and refuses the pass, or takes the elements in the wrong order."""
    for change, weights in ((torch.Tensor.t_, torch.tensor(W).t()), (lambda y: y.unsqueeze_(0), torch.tensor([W]))):
        x, y = product(2, 3)
        with torch.no_grad():
            change(y)
        assert (y.requires_grad, y.is_leaf) == (True, False)
        (y * weights).sum().backward()
        assert x.grad.tolist() == W


def test_a_view_of_a_leaf_made_under_no_grad_gets_no_gradient():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        v = x[:1]
        first, _ = x.unbind()
    for view in (v, first):
        assert (view.requires_grad, view.is_leaf) == (True, True)
        (view * 2).sum().backward()
        assert (view.grad, x.grad) == (None, None)
        (view.requires_grad_() * 2).sum().backward()
        assert view.grad.item() == 2
    with torch.no_grad():
        x.unsqueeze_(0).mul_(3)
    (x * x).sum().backward()
    assert x.grad.tolist() == [[6, 6]]


@pytest.mark.parametrize("kind", ["one of several", "no_grad"])
def test_views_that_may_not_get_a_history(kind):
    """Nothing has been written when that is refused."""
    b, w = torch.ones(2, 2), torch.ones(2, requires_grad=True)
    with torch.set_grad_enabled(kind != "no_grad"):
        v = b[0] if kind == "no_grad" else b.unbind()[0]
    v.mul_(3)
    for change in (lambda: v.mul_(w * 2), lambda: v[...].add_(w), lambda: v.__setitem__(0, w[0])):
        with pytest.raises(RuntimeError, match="no_grad|several"):
            change()
    assert b.tolist() == [[3, 3], [1, 1]]
    assert not b.requires_grad


def test_what_a_conjugate_without_axes_is_written_with():
    x = torch.tensor(0.5 + 1j, requires_grad=True)
    y = x * 1
    y.conj().mul_(2)
    y.backward(torch.tensor(1.0 + 0j))
    assert y.item() == 1 + 2j
    assert x.grad.item() == 2
    with torch.no_grad():
        view = x[...]
    with pytest.raises(RuntimeError, match="does not require grad"):
        view.backward(torch.tensor(1.0 + 0j))


def test_empty_tensors_are_copied_before_they_are_written():
    _, y = product(0, 3)
    y.square_()
    y.backward(y)


@pytest.mark.parametrize("mask", [torch.ones(2, 5) > 0, torch.ones(2, 2, 3) > 0, torch.ones(2, 3)])
def test_a_mask_that_does_not_fit_an_expanded_tensor(mask):
    wide = torch.zeros(2, 1).expand(2, 3)
    with pytest.raises(RuntimeError):
        wide.masked_fill_(mask, 1.0)
    assert wide.tolist() == [[0] * 3] * 2


@pytest.mark.parametrize(
    "f", [torch.sinc, lambda x: torch.special.gammainc(torch.tensor(2.0), x)], ids=["sinc", "gammainc"]
)
def test_a_result_that_its_derivative_does_not_need_may_be_changed(f):
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    y = f(x)
    y.mul_(2.0)
    y.sum().backward()
    (wanted,) = torch.autograd.grad(f(x).sum() * 2, x)
    assert torch.equal(x.grad, wanted)


CHANGES = {
    "nothing": (lambda base: None, [1, 0, 1]),
    "a number into all": (lambda base: base.fill_(5.0), None),
    "a number into a part": (lambda base: base.__setitem__(0, 5.0), None),
    "an operator": (lambda base: base.add_(1.0), None),
    "through a view of a part": (lambda base: base[:1].mul_(2.0), None),
}


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("name", CHANGES)
def test_a_view_of_what_was_detached_forgets_its_history_when_memory_is_written(name, recorded):
    change, wanted = CHANGES[name]
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    part = y[::2]
    y.detach_()
    with torch.set_grad_enabled(recorded):
        change(y)
    assert part.requires_grad
    part.sum().backward()
    assert (x.grad if x.grad is None else x.grad.tolist()) == wanted


def test_a_view_of_what_was_detached_cannot_be_changed_itself():
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    part = y[:2]
    y.detach_()
    with pytest.raises(RuntimeError, match="was detached after the view was taken"):
        part.mul_(2.0)
    assert y.tolist() == [1, 1, 1]


def test_the_gradient_of_a_leaf_that_is_computed_anew_is_refused():
    x, w = torch.ones(2, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    used = x * 3
    x.detach_()
    x.mul_(w)
    with pytest.raises(RuntimeError, match="computed anew in place"):
        used.sum().backward()


def test_a_pass_over_a_leaf_that_was_reshaped_since_is_refused_in_the_dialects_words():
    x = torch.ones(2, 3, requires_grad=True)
    first = x[0]
    with torch.no_grad():
        x.transpose_(0, 1)
    with pytest.raises(RuntimeError, match=r"the gradient of `x\[...\]`"):
        first.sum().backward()


def test_a_trace_needs_nothing_of_its_matrix():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    total = torch.trace(y)
    y += total
    total.backward()
    assert x.grad.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("index", [0, slice(1, None), (slice(None), 1), Ellipsis, ()])
def test_writes_at_an_index_leave_other_views_their_history(index):
    """Views that were taken before, and the tensor itself where it is one, see what is written by their history too."""
    x, v = (torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_() for _ in range(2))
    base = x * 2
    part = base[:, 1:]
    written = base.view(2, 3)
    written[index] = v[index] * 5
    mask = torch.zeros(2, 3)
    mask[index] = 1
    for seen in (base, written):
        gx, gv = torch.autograd.grad(seen.exp().sum(), (x, v), retain_graph=True, allow_unused=True)
        assert torch.equal(gx, 2 * seen.detach().exp() * (1 - mask))
        assert torch.equal(gv, 5 * seen.detach().exp() * mask)
    gv = torch.autograd.grad(part.sum(), v)[0]
    assert torch.equal(gv[:, 1:], 5 * mask[:, 1:])
    assert not gv[:, 0].any()


def test_filling_slices_touches_nothing_else():
    """Neither copies nor histories but those of the tensor and its views."""
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    row, flat, place = y[0], y.view(-1), y.data_ptr()
    assert y.index_fill_(0, torch.tensor([-1]), 9.0) is y
    assert (y.data_ptr(), y._version, y.grad_fn.name()) == (place, 1, "IndexFillBackward0")
    assert (row.tolist(), flat.tolist()) == ([0, 2, 4], [0, 2, 4, 9, 9, 9])
    (flat * flat).sum().backward()
    assert x.grad.tolist() == [[0, 8, 16], [0, 0, 0]]
    z = x.exp()
    z.index_fill_(1, torch.tensor([0]), 0.0)
    with pytest.raises(RuntimeError, match="changed in place"):
        z.sum().backward()
    with pytest.raises(IndexError):
        (x * 1).index_fill_(0, torch.tensor([2]), 0.0)
