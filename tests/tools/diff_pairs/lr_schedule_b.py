import torch

torch.manual_seed(0)
m = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
sch = torch.optim.lr_scheduler.StepLR(opt, 1, gamma=0.5)
x = torch.randn(4, 3)
for _ in range(3):
    opt.zero_grad()
    m(x).pow(2).mean().backward()
    opt.step()  # parts
