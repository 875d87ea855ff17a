"""What a fit said of its labelled rows without having seen their labels."""

from ..semi.held import Held, held_of

__all__ = ["Held", "held_of"]
