"""Kernels and operators that plug into spformats; installed as the package ``spformats_plugins``."""
