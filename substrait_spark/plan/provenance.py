"""What a plan was made of: Spark's version, the stage, and the settings that say what queries mean."""

from __future__ import annotations

from substrait.plan_pb2 import Plan

from ..algebra.extension_messages import Provenance, SparkOption
from ..catalyst.tree import Document


def note_provenance(plan: Plan, document: Document, stage: str) -> None:
    """Note in a plan what it was made of, as an optimization: readers may pass over it, and its rows are the same.

    Settings are those of the reader's list (`Walk.CONFIGURATION` in PlanReader.java), none of which is a secret, as far as the
    Spark has them.
    """
    settings = [SparkOption(name=name, value=value) for name, value in sorted(document.configuration.items()) if value]
    provenance = Provenance(spark_version=document.spark, stage=stage, settings=settings)
    plan.advanced_extensions.optimization.add().Pack(provenance)
