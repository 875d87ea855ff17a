"""Models corrected over a graph; the command is ../fields.py."""
