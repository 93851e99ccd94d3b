"""Class files that are kept: they are what the Spark that runs makes of the source, and are taken for nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from substrait_spark import df_to_substrait
from substrait_spark.catalyst import kept_classes as module
from substrait_spark.catalyst.compiler import classes_of
from substrait_spark.catalyst.kept_classes import PLACEHOLDER, MadeOf, archives, kept_classes, made_here
from substrait_spark.catalyst.reader import READERS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGE = PLACEHOLDER.replace("0", "a")
KEPT = [made_of for _, made_of in archives(READERS.name)]


@pytest.mark.smoke
def test_classes_are_kept_as_spark_makes_them(spark: SparkSession) -> None:
    gateway = spark._sc._gateway
    kept = kept_classes(READERS.name, made_here(gateway, READERS.source), PLACEHOLDER)

    assert kept, "PlanReader.java or Spark's release has changed: run `make classes`."
    assert kept == classes_of(gateway, READERS.source)


def test_no_plan_differs_by_who_compiled_the_reader(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plans = []
    for folder in (module.FOLDER, tmp_path):
        monkeypatch.setattr(module, "FOLDER", folder)
        READERS.forget()
        plans.append(df_to_substrait(spark.range(10).selectExpr("id + 1 AS n").where("n > 3")))
    READERS.forget()

    assert plans[0] == plans[1]


@pytest.mark.parametrize("made_of", KEPT, ids=lambda made_of: min(made_of.spark))
def test_classes_are_taken_in_a_package_of_their_own(made_of: MadeOf) -> None:
    taken = kept_classes(READERS.name, made_of, PACKAGE)

    assert f"{PACKAGE}.{READERS.name}" in taken
    assert all(PACKAGE.encode() in content and PLACEHOLDER.encode() not in content for content in taken.values())


@pytest.mark.parametrize(
    "here",
    [
        pytest.param(replace(KEPT[0], source="f" * 64), id="another source"),
        pytest.param(replace(KEPT[0], spark=dict.fromkeys(KEPT[0].spark, "f" * 40)), id="a vendor's build"),
        pytest.param(replace(KEPT[0], spark={"3.5.0": "f" * 40}), id="another release"),
        pytest.param(replace(KEPT[0], java=11), id="an older Java"),
    ],
)
def test_classes_are_taken_for_nothing_else(here: MadeOf) -> None:
    assert kept_classes(READERS.name, here, PACKAGE) == {}
    assert kept_classes(READERS.name, replace(KEPT[0], java=21), PACKAGE)
