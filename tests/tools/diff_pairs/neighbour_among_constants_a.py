import torch

torch.manual_seed(22)
a = torch.randn(5, 2, requires_grad=True)
b = torch.randn(6, 2)
gamma = 0.5
D = ((a[:, None] - b[None]) ** 2).sum(-1)
R = [[torch.tensor(1e6)] * 7 for _ in range(6)]
R[0][0] = torch.tensor(0.0)
for i in range(1, 6):
    for j in range(1, 7):
        prev = torch.stack([R[i - 1][j], R[i][j - 1], R[i - 1][j - 1]])  # parts
        R[i][j] = D[i - 1, j - 1] - gamma * torch.logsumexp(-prev / gamma, 0)
R[5][6].backward()
print(a.grad)
