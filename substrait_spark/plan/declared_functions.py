"""Tells which functions a plan declares."""

from __future__ import annotations

from substrait.plan_pb2 import Plan


def declared_functions(plan: Plan) -> dict[int, tuple[str, str]]:
    """The URN of its extension file and the simple name of each function, by its anchor."""
    urns = {entry.extension_urn_anchor: entry.urn for entry in plan.extension_urns}
    functions = [entry.extension_function for entry in plan.extensions if entry.HasField("extension_function")]
    return {
        each.function_anchor: (urns.get(each.extension_urn_reference, ""), each.name.partition(":")[0])
        for each in functions
    }
