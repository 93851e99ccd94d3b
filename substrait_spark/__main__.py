"""`python -m substrait_spark` is the command `substrait-spark`."""

from __future__ import annotations

from .command_line import main

main()
