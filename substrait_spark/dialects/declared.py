"""What to suggest where a dialect file or a rewrite names a function that its extension file doesn't declare."""

from __future__ import annotations

from collections.abc import Sequence

from ..extensions import registry
from ..extensions.yaml_schema import nearest


def instead(kind: str, alias: str, name: str, signatures: Sequence[str] = ()) -> str:
    """A suggestion: other signatures of that name, a function of another kind, or a similar name."""
    if signatures:
        return f"; there is {', '.join(f'{name}:{signature}' for signature in signatures)}"
    for other, section in registry.KINDS.items():
        if other != kind and registry.implementations(other, alias, name):
            return f"; {name} is one for supported_{section}"
    near = nearest(name, [str(f["name"]) for f in registry.load(alias).get(registry.KINDS[kind]) or ()])
    return f"; is {near} meant?" if near else ""
