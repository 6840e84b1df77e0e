"""The standard's constants."""

from __future__ import annotations

import math

e = math.e
inf = math.inf
nan = math.nan
pi = math.pi
newaxis = None

__array_api_version__ = "2025.12"
