"""The methods that GKM is measured against."""

from .transductive_svc import TransductiveSVC

__all__ = ["TransductiveSVC"]
