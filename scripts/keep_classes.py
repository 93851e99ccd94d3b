"""Keeps the class files of what every conversion waits for, as the Spark that is here compiles it: `substrait_spark/catalyst/classes`.

`make classes` runs it in an environment of each release of Spark that is tested. Releases that compile a source alike share an
archive, which has the name of the first one. Archives of earlier sources go.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from pyspark.sql import SparkSession

from substrait_spark.catalyst.compiler import classes_of
from substrait_spark.catalyst.kept_classes import FOLDER, MADE_OF, MadeOf, archives, classes_in, made_here
from substrait_spark.catalyst.reader import READERS

NO_DATE = (1980, 1, 1, 0, 0, 0)
"""The date of all files, so that the bytes of an archive tell of nothing but its content."""


def keep(name: str, here: MadeOf, classes: Mapping[str, bytes]) -> None:
    """Keep classes for what is here, beside what else compiles them alike."""
    releases = dict(here.spark)
    path = FOLDER / f"{name}-{min(releases)}.zip"
    for known, made_of in archives(name):
        if made_of.source != here.source:
            known.unlink()
        elif classes_in(known) == classes and made_of.java == here.java:
            path, releases = known, dict(made_of.spark) | releases
    _write(path, replace(here, spark=dict(sorted(releases.items()))), classes)


def _write(path: Path, made_of: MadeOf, classes: Mapping[str, bytes]) -> None:
    path.parent.mkdir(exist_ok=True)
    files = {MADE_OF: json.dumps(asdict(made_of)).encode(), **dict(sorted(classes.items()))}
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in files.items():
            archive.writestr(zipfile.ZipInfo(file, NO_DATE), content, zipfile.ZIP_DEFLATED, 9)


def main() -> None:
    gateway = SparkSession.builder.master("local[1]").getOrCreate()._sc._gateway
    keep(READERS.name, made_here(gateway, READERS.source), classes_of(gateway, READERS.source))


if __name__ == "__main__":
    main()
