"""auraloss: nine losses of sound in time and frequency, with gradients."""
# packages: auraloss==0.4.0
# needs: numpy
import auraloss
import torch

torch.manual_seed(0)
target = torch.randn(2, 1, 4096)
for loss in (
    auraloss.time.ESRLoss(),
    auraloss.time.SISDRLoss(),
    auraloss.time.SNRLoss(),
    auraloss.time.DCLoss(),
    auraloss.time.LogCoshLoss(),
    auraloss.time.SDSDRLoss(),
    auraloss.freq.STFTLoss(),
    auraloss.freq.MultiResolutionSTFTLoss(fft_sizes=[512, 256], hop_sizes=[128, 64], win_lengths=[512, 256]),
    auraloss.freq.STFTLoss(w_sc=1.0, w_log_mag=1.0, w_lin_mag=1.0, w_phs=0.0),
):
    x = (target + 0.3 * torch.randn_like(target)).requires_grad_()
    value = loss(x, target)
    value.backward()
    print(type(loss).__name__, f"{value.item():.5f} {x.grad.norm().item():.6f}")
