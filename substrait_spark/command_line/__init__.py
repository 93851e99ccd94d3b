"""The command `substrait-spark`: make, read, compare, check and run plans from a shell."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command with the process's arguments, and exit with 0, 1 or 2."""
    try:
        import click as _  # noqa: F401
    except ModuleNotFoundError:
        sys.stderr.write("The command needs the package click: pip install click.\n")
        sys.exit(2)
    from .commands import group
    from .outcome import run

    sys.exit(run(group))
