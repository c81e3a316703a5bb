"""PennyLane: variational circuits on default.qubit, gradients by backprop and parameter shift, a torch layer trained."""
# packages: pennylane==0.45.1, autoray==0.11.0, pennylane-lightning==0.45.0
# needs: scipy, networkx, rustworkx, autograd, appdirs, cachetools, requests, typing_extensions, packaging
# needs: diastatic-malt, tomlkit
import pennylane as qml
import torch

torch.manual_seed(0)
device = qml.device("default.qubit", wires=3)


def body(weights, x):
    qml.AngleEmbedding(x, wires=range(3))
    qml.StronglyEntanglingLayers(weights, wires=range(3))


@qml.qnode(device, interface="torch", diff_method="backprop")
def circuit(weights, x):
    body(weights, x)
    return qml.expval(qml.PauliZ(0) @ qml.PauliZ(1))


@qml.qnode(device, interface="torch", diff_method="parameter-shift")
def shifted(weights, x):
    body(weights, x)
    return qml.expval(qml.PauliZ(0) @ qml.PauliZ(1))


weights = (torch.rand(2, 3, 3, dtype=torch.float64) * 3).requires_grad_()
x = torch.tensor([0.1, 0.5, -0.3], dtype=torch.float64, requires_grad=True)
for name, f in (("backprop", circuit), ("shift", shifted)):
    value = f(weights, x)
    grads = torch.autograd.grad(value, (weights, x))
    print(name, f"{value.item():.8f}", f"{grads[0].norm().item():.8f}", [f"{v:.7f}" for v in grads[1].tolist()])
hessian = torch.autograd.functional.hessian(lambda v: circuit(weights.detach(), v), x.detach())
print([f"{v:.7f}" for v in hessian.flatten().tolist()])
optimizer = torch.optim.Adam([weights], lr=0.1)
for step in range(6):
    loss = circuit(weights, x.detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.8f}")


@qml.qnode(device, interface="torch")
def layer(inputs, weights):
    body(weights, inputs)
    return [qml.expval(qml.PauliZ(i)) for i in range(3)]


torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(4, 3), qml.qnn.TorchLayer(layer, {"weights": (1, 3, 3)}), torch.nn.Linear(3, 2))
data, labels = torch.randn(6, 4), torch.tensor([0, 1, 0, 1, 1, 0])
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
for _ in range(4):
    loss = torch.nn.functional.cross_entropy(net(data), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.6f}")
