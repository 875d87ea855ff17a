"""How sure a field must be before it is taken; the command is ../choosing.py."""
