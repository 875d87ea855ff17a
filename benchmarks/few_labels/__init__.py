"""Accuracy of semi-supervised classifiers from few labels; the command is ../few_labels.py."""
