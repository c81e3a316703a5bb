import retrograde as rg


def energy(x):
    inner = rg.sum(x * x, axis=-1)
    return rg.sum(inner**0.25)  # begins here


print(rg.grad(energy)(rg.asarray([[1.0, 2.0], [0.0, 0.0]])))
