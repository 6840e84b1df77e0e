"""Sharpen a blurred image with PyLops: the blur is a CDS matrix seen as a PyLops operator.

    python examples/deblur_pylops.py --size 128

A Gaussian blur couples each pixel with its neighbours, so as a matrix it has a few full diagonals, which CDS stores
without indices. The image comes back from `pylops.cgls` on the blur stacked with a Laplacian that keeps noise down.
"""

import argparse
import sys

import numpy as np
import pylops
import scipy.sparse as sp

import spformats as sf


def blur_matrix(size, radius, width):
    """Gaussian blur of a size × size image, dark beyond its edges, as a CDS matrix of (2 radius + 1)² diagonals."""
    offsets = np.arange(-radius, radius + 1)
    weights = np.exp(-(offsets**2) / (2 * width**2))
    line = sp.diags_array(weights / weights.sum(), offsets=offsets, shape=(size, size))
    return sf.asarray(sp.kron(line, line), format="cds")


def picture(size):
    """A disc, a bar and a ramp."""
    y, x = np.mgrid[0 : 1 : size * 1j, 0 : 1 : size * 1j]
    image = np.where((x - 0.3) ** 2 + (y - 0.35) ** 2 < 0.03, 1.0, 0.0)
    image[(abs(x - 0.72) < 0.05) & (abs(y - 0.5) < 0.3)] = 0.8
    return image + np.where((y > 0.75) & (x < 0.6), x, 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=128, help="pixels along one side (default 128)")
    parser.add_argument("--radius", type=int, default=4, help="radius of the blur in pixels (default 4)")
    parser.add_argument("--iterations", type=int, default=100, help="iterations of cgls (default 100)")
    options = parser.parse_args()

    shape = (options.size, options.size)
    A = blur_matrix(options.size, options.radius, options.radius / 2)
    Blur = A.to_pylops(dims=shape, dimsd=shape)
    print(f"blur: {A!r}, {A.nbytes / 1e6:.1f} MB; CSR would take {A.asformat('csr').nbytes / 1e6:.1f} MB")
    pylops.utils.dottest(Blur, raiseerror=True)

    image = picture(options.size)
    seen = Blur @ image + 1e-3 * np.random.default_rng(0).standard_normal(shape)
    Smooth = 0.003 * pylops.Laplacian(shape, edge=False)
    data = np.concatenate([seen.ravel(), np.zeros(image.size)])
    restored = pylops.cgls(pylops.VStack([Blur, Smooth]), data, niter=options.iterations, tol=0, rtol=1e-5)[0].reshape(
        shape
    )

    before, after = (np.linalg.norm(found - image) / np.linalg.norm(image) for found in (seen, restored))
    print(f"error of the blurred image {before:.3f}, of the restored one {after:.3f}")
    return 0 if after < 0.65 * before else 1


if __name__ == "__main__":
    sys.exit(main())
