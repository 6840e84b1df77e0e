"""Structure features, exact storage estimates and the choice behind ``format="auto"``."""

from spformats.advisor.bytes import estimate_bytes
from spformats.advisor.features import Features, features
from spformats.advisor.recommend import Recommendation, recommend

__all__ = ["Features", "Recommendation", "estimate_bytes", "features", "recommend"]
