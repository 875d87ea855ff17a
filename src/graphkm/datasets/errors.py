"""What can go wrong between a public home and a data set in memory."""

from __future__ import annotations


class DatasetError(OSError):
    """A data set could not be had: no file, no network, or no place to write to."""


class DamagedFileError(DatasetError):
    """A file is not what it should be: cut short, altered, or something else altogether."""
