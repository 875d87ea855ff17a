"""Accuracy of semi-supervised classifiers from few labels; the command is in `__main__.py`."""
