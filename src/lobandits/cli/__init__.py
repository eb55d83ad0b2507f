"""The command ``lob``: one file for each command, which parses, calls and prints.

Commands import what they need when they run, so that ``lob --help`` answers at once.
"""

from lobandits.cli.app import main

__all__ = ["main"]
