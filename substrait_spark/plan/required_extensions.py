"""Tells what of a plan is not in the specification: functions, types and messages that a reader must know besides."""

from __future__ import annotations

from substrait.plan_pb2 import Plan

SPECIFIED = "extension:io.substrait:"
"""How the names of the specification's own extension files begin."""


def beyond_specification(plan: Plan) -> tuple[str, ...]:
    """The functions, types and variations of a plan that no file of the specification declares, and its extension messages.

    As phrases for a list: each extension file's URN with what is called of it, then the messages' types.
    """
    urns = {urn.extension_urn_anchor: urn.urn for urn in plan.extension_urns}
    needed: dict[str, dict[str, None]] = {}
    for extension in plan.extensions:
        kind = extension.WhichOneof("mapping_type")
        if kind is None:
            continue
        declared = getattr(extension, kind)
        urn = urns.get(declared.extension_urn_reference, "")
        if not urn.startswith(SPECIFIED):
            needed.setdefault(urn, {})[declared.name.partition(":")[0]] = None
    phrases = [f"{', '.join(sorted(names))} of {urn}" for urn, names in sorted(needed.items())]
    return (*phrases, *(f"the message {url.rpartition('/')[2]}" for url in plan.expected_type_urls))
