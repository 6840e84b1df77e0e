"""Test matrices, one generator a file, built directly in the format that suits them."""

from spformats.gallery.advection_diffusion2d import advection_diffusion2d
from spformats.gallery.banded import banded
from spformats.gallery.block_band import block_band
from spformats.gallery.dense_spd import dense_spd
from spformats.gallery.elasticity import elasticity
from spformats.gallery.laplace1d import laplace1d
from spformats.gallery.poisson2d import poisson2d
from spformats.gallery.poisson3d import poisson3d
from spformats.gallery.power_law import power_law
from spformats.gallery.stencil import stencil
from spformats.gallery.stencil27 import stencil27
from spformats.gallery.structured import structured

__all__ = [
    "advection_diffusion2d",
    "banded",
    "block_band",
    "dense_spd",
    "elasticity",
    "laplace1d",
    "poisson2d",
    "poisson3d",
    "power_law",
    "stencil",
    "stencil27",
    "structured",
]
