"""Catalyst's functions by their names in `functions.yaml`."""

from __future__ import annotations

from ..arrow.function import Compute, PythonFunction, Signature


def _evaluated(signature: Signature) -> Compute:
    # Imported where a plan calls it: it brings all of `engines.spark`.
    from .evaluation import evaluated

    return evaluated(signature)


def _aggregated(signature: Signature) -> Compute:
    from .evaluation import aggregated

    return aggregated(signature)


FUNCTIONS = {
    "catalyst_evaluate": PythonFunction(_evaluated, constants=1),
    "catalyst_aggregate": PythonFunction(_aggregated, constants=2),
}
