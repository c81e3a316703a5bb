"""conj(), mH, H and adjoint() are views: writes to either side, histories, views of views, as PyTorch 2.13 has them."""

import gc

import pytest

import retrograde.dialects.torch as torch
from retrograde.tape import mutation

Z = [[1 + 2j, 3 + 4j, 5 - 1j], [0 + 1j, 2 + 0j, -3 - 3j]]


def complex_tensor():
    return torch.tensor(Z)


WRITES = {
    "an element": (lambda z: z.conj().__setitem__((0, 0), 7j), (0, 0), -7j),
    "mH": (lambda z: z.mH.__setitem__((1, 0), 7j), (0, 1), -7j),
    "H": (lambda z: z.H.mul_(2), (0, 0), 2 + 4j),
    "adjoint": (lambda z: z.adjoint().mul_(1j), (0, 0), 2 - 1j),
    "the imaginary part": (lambda z: z.conj().imag.zero_(), (0, 0), 1 + 0j),
    "twice": (lambda z: z.conj().conj().add_(1j), (0, 0), 1 + 3j),
    "a part of a part": (lambda z: z[:, 1:].conj()[0].mul_(1j), (0, 1), 4 - 3j),
    "out=": (lambda z: torch.mul(z, 2, out=z.conj()), (0, 0), 2 - 4j),
    "detached": (lambda z: z.conj().detach().add_(1j), (0, 0), 1 + 1j),
    "one expanded": (lambda z: z[0, 0].expand(3).conj()[1].add_(1j), (0, 0), 1 + 1j),
}


@pytest.mark.parametrize("name", WRITES)
def test_writing_through_it(name):
    write, place, wanted = WRITES[name]
    z = complex_tensor()
    write(z)
    assert z[place].item() == wanted


def test_what_is_written_below_is_seen():
    z = complex_tensor()
    c, h = z.conj(), z.mH
    part = c[0]
    z[0, 0] = 9j
    z.data.mul_(2)
    z += 1
    assert c[0, 0].item() == h[0, 0].item() == part[0].item() == 1 - 18j
    assert c._version == z._version
    assert c._is_view()


def test_which_are_conjugated():
    z = complex_tensor()
    c = z.conj()
    for x in (c, c[0], c.t(), c.detach(), c.conj().conj(), z.mH):
        assert x.is_conj()
    for x in (z, c.conj(), c.clone(), c * 1, c.resolve_conj(), c.conj_physical(), c.real, z.real.conj()):
        assert not x.is_conj()
    c.resolve_conj().mul_(2)
    assert z.tolist() == Z
    with pytest.raises(RuntimeError, match="share one place"):
        z[0, 0].expand(3).conj().mul_(2)


def test_histories():
    x = complex_tensor().requires_grad_()
    w = torch.tensor(2 - 1j, requires_grad=True)
    z = x * 1
    c = z.mH
    c[0] = w * torch.tensor([1j, 2])
    assert c.grad_fn.name() == "ConjBackward0"
    (z * torch.tensor([1, 2j, 3])).sum().abs().backward()
    assert z.tolist() == [[1 - 2j, 3 + 4j, 5 - 1j], [4 + 2j, 2, -3 - 3j]]
    wanted = torch.tensor([[0, -1.1094004 - 1.6641006j, 2.496151 - 1.6641006j]] * 2)
    assert torch.allclose(x.grad, wanted)
    assert torch.allclose(w.grad, torch.tensor(2.2188008 + 0.27735007j))
    x.grad = None
    z = x * 1
    c = z.conj().imag
    c.mul_(3)
    z.imag.sum().backward()
    assert x.grad.tolist() == [[3j] * 3] * 2


def test_saved_values_and_leaves():
    x = complex_tensor().requires_grad_()
    z = x * 1
    c = z.conj()
    y = (c * c).sum().abs()
    z.mul_(2)
    with pytest.raises(RuntimeError, match="in place"):
        y.backward()
    with pytest.raises(RuntimeError, match="view of a leaf"):
        x.conj().mul_(2)
    with torch.no_grad():
        x.conj().mul_(2j)
    assert x[0, 0].item() == 4 - 2j


def test_in_transforms():
    def f(z):
        z = z * 1
        z.conj().mul_(2j)
        return z.abs().sum()

    z = complex_tensor()
    assert torch.allclose(torch.func.vmap(f)(z), 2 * z.abs().sum(1))
    assert torch.allclose(torch.func.grad(f)(z), 2 * z / z.abs())


def test_nothing_is_kept_of_those_that_are_gone():
    gc.collect()
    before = len(mutation.MIRRORS)
    z = complex_tensor()
    c = z.conj()
    d = c[0].conj()
    assert len(mutation.MIRRORS) == before + 3
    del c
    gc.collect()
    d[0] = 5j
    assert z[0, 0].item() == 5j
    del d
    gc.collect()
    assert len(mutation.MIRRORS) == before


def test_identities_of_tensors_without_axes():
    for x in (torch.tensor(1.0), torch.tensor(1.0j)):
        for name in ("mT", "T"):
            with pytest.warns(UserWarning, match="deprecated"):
                assert getattr(x, name).tolist() == x.tolist()
    with pytest.warns(UserWarning, match="deprecated"):
        assert torch.tensor(1j).mH.item() == torch.tensor(1j).adjoint().item() == -1j
    for name in ("mT", "mH"):
        with pytest.raises(RuntimeError):
            getattr(torch.ones(2), name)
