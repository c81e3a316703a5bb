"""nnAudio: STFT and its inverse, mel, MFCC, CQT and gammatone spectrograms, a trainable kernel."""
# packages: nnAudio==0.3.4
# needs: scipy
import torch
from nnAudio import features

torch.manual_seed(0)
t = torch.arange(8000) / 8000
sound = (
    torch.sin(2 * torch.pi * 440 * t)
    + 0.3 * torch.sin(2 * torch.pi * (200 * t + 300 * t**2))
    + 0.05 * torch.randn(8000)
)
sound = sound[None]
stft = features.STFT(n_fft=256, hop_length=64, sr=8000, output_format="Complex", iSTFT=True, verbose=False)
spectrum = stft(sound)
print(
    tuple(spectrum.shape),
    f"{spectrum.norm().item():.4f}",
    f"{(stft.inverse(spectrum, onesided=True, length=8000) - sound).abs().mean().item():.5f}",
)
for layer in (
    features.MelSpectrogram(sr=8000, n_fft=512, hop_length=128, n_mels=32, verbose=False),
    features.MFCC(sr=8000, n_mfcc=12, n_fft=512, hop_length=128, n_mels=32, verbose=False),
    features.CQT1992v2(sr=8000, hop_length=128, fmin=110, n_bins=36, verbose=False),
    features.Gammatonegram(sr=8000, n_fft=512, n_bins=24, hop_length=128, verbose=False),
):
    out = layer(sound)
    print(type(layer).__name__, tuple(out.shape), f"{out.mean().item():.6f}", f"{out.std().item():.6f}")
layer = features.MelSpectrogram(
    sr=8000, n_fft=256, hop_length=128, n_mels=16, trainable_mel=True, trainable_STFT=True, verbose=False
)
optimizer = torch.optim.SGD(layer.parameters(), lr=1e-4)
for step in range(3):
    loss = layer(sound).log1p().var()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
