"""Drawing graphs with Graphviz."""

from __future__ import annotations

import shutil
import subprocess

from ..errors import SubstraitSparkError


def svg(dot: str) -> str:
    """A graph as SVG. Raises `SubstraitSparkError` where Graphviz isn't installed, or can't draw it."""
    program = shutil.which("dot")
    if program is None:
        raise SubstraitSparkError(
            "Drawing a plan as SVG takes Graphviz, whose program `dot` is not on the PATH. Install it (`apt install"
            " graphviz`, `brew install graphviz`, `conda install graphviz`), or draw `to_mermaid(plan)` elsewhere."
        )
    drawn = subprocess.run(  # noqa: S603 - Graphviz, and nothing but a graph of our own
        [program, "-Tsvg"], input=dot, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if drawn.returncode:
        raise SubstraitSparkError(f"Graphviz could not draw the plan: {drawn.stderr.strip()}")
    return drawn.stdout
