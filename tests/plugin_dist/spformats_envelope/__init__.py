"""Envelope storage for spformats: a format, and a NumPy kernel for it."""

from spformats_envelope import kernel
from spformats_envelope.format import Envelope

__all__ = ["Envelope", "kernel"]
