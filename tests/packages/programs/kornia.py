"""kornia: filters, colours, geometry, augmentations, a warp fitted by gradients, feature response."""
# packages: kornia==0.9.0, kornia_rs==0.2.0
# needs: packaging
import kornia as K
import torch

torch.manual_seed(0)
image = torch.rand(2, 3, 24, 24)
for name, out in {
    "gray": K.color.rgb_to_grayscale(image),
    "hsv": K.color.rgb_to_hsv(image),
    "lab": K.color.rgb_to_lab(image),
    "blur": K.filters.gaussian_blur2d(image, (5, 5), (1.5, 1.5)),
    "sobel": K.filters.sobel(image),
    "canny": K.filters.canny(image)[0],
    "median": K.filters.median_blur(image, (3, 3)),
    "laplacian": K.filters.laplacian(image, 3),
    "dilation": K.morphology.dilation(image, torch.ones(3, 3)),
    "rotate": K.geometry.rotate(image, torch.tensor([30.0, -10.0])),
    "resize": K.geometry.resize(image, (12, 16)),
    "pyrdown": K.geometry.pyrdown(image),
    "equalize": K.enhance.adjust_gamma(image, 1.7),
    "harris": K.feature.harris_response(image),
    "contrast": K.enhance.adjust_contrast(image, 0.6),
}.items():
    print(name, tuple(out.shape), f"{out.mean().item():.6f}", f"{out.std().item():.6f}")
print(
    "ssim",
    f"{K.losses.ssim_loss(image, image.flip(-1), 5).item():.6f}",
    f"{K.losses.total_variation(image).sum().item():.4f}",
)
rotation = K.geometry.axis_angle_to_rotation_matrix(torch.tensor([[0.1, 0.2, 0.3]]))
print([f"{v:.6f}" for v in rotation.flatten().tolist()])
corners = torch.tensor([[[0.0, 0.0], [23.0, 0.0], [23.0, 23.0], [0.0, 23.0]]])
homography = K.geometry.get_perspective_transform(corners, corners + torch.randn(1, 4, 2))
print([f"{v:.5f}" for v in K.geometry.transform_points(homography, corners).flatten().tolist()])
angle = torch.zeros(1, requires_grad=True)
smooth = K.filters.gaussian_blur2d(image[:1], (7, 7), (2.0, 2.0))
target = K.geometry.rotate(smooth, torch.tensor([8.0]))
optimizer = torch.optim.Adam([angle], lr=1.0)
for _step in range(8):
    loss = (K.geometry.rotate(smooth, angle) - target).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("fitted", f"{loss.item():.4e}", f"{angle.item():.5f}")
torch.manual_seed(3)
augment = K.augmentation.AugmentationSequential(
    K.augmentation.RandomHorizontalFlip(p=0.5),
    K.augmentation.RandomAffine(15.0, p=1.0),
    K.augmentation.ColorJitter(0.2, 0.2, 0.0, 0.0, p=1.0),
    data_keys=["input"],
)
print("augmented", f"{augment(image).mean().item():.5f}")
