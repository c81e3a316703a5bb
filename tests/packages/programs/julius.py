"""julius: resampling, filters, bands and convolutions by FFT, with gradients."""
# packages: julius==0.2.8
import julius
import torch

torch.manual_seed(0)
x = torch.randn(2, 2000, requires_grad=True)
for name, y in {
    "resampled": julius.resample_frac(x, 4, 5),
    "low": julius.lowpass_filter(x, 0.1),
    "high": julius.highpass_filter(x, 0.2),
    "band": julius.bandpass_filter(x, 0.1, 0.3),
    "bands": julius.split_bands(x, 8000, n_bands=4),
    "convolved": julius.fft_conv1d(x[:, None], torch.hann_window(101)[None, None] / 50),
}.items():
    (g,) = torch.autograd.grad(y.sin().sum(), x, retain_graph=True)
    print(name, tuple(y.shape), f"{y.abs().sum().item():.3f} {g.norm().item():.5f}")
print(f"{julius.bands.SplitBands(8000, n_bands=3)(x).sum(0).sub(x).abs().max().item():.1f}")
