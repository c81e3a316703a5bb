import retrograde as rg


@rg.jit
def f(x):
    y = rg.log(x - 1.0)  # begins here
    return rg.sum(y * y)
print(rg.value_and_grad(f)(rg.asarray([0.5, 3.0])))
