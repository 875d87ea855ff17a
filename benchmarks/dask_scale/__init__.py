"""Fits on a cluster of processes; the command is in `__main__.py`."""
