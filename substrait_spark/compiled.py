"""Whether modules of this package are compiled. Python runs compiled ones in place of their sources, so they must be made of these.

The distribution `substrait-spark-compiled` brings them, beside the digests of their sources.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

DIGESTS = "compiled.sha256"
"""A line for each compiled module, as `sha256sum` writes them."""


def is_compiled(package: Path) -> bool:
    """Whether the package has compiled modules. Raises ImportError where these were made of other sources than it has."""
    digests = package / DIGESTS
    if not digests.exists():
        return False
    for line in digests.read_text("utf-8").splitlines():
        digest, _, name = line.partition("  ")
        source = package / name
        if not source.exists() or sha256(source.read_bytes()).hexdigest() != digest:
            raise ImportError(
                f"substrait-spark-compiled was made of another {name} than this substrait-spark has. "
                "Install both of one version, or uninstall substrait-spark-compiled."
            )
    return True


IS_COMPILED = is_compiled(Path(__file__).parent)
