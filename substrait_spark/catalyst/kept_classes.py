"""Class files of Java sources of ours, as Spark's own compiler makes them: kept, so that a session's first plan needn't wait for it.

`make classes` writes them, a test compares them with what the Spark that runs makes of the source.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("classes")

PLACEHOLDER = f"substrait_spark_{'0' * 32}"
"""The package that kept classes are in: each JVM has one of its own, whose name is as long."""

MADE_OF = "made_of.json"


@dataclass(frozen=True)
class MadeOf:
    """What class files are made of. Where any of it differs, the source is compiled in place of taking them."""

    source: str
    """The SHA-256 of the Java source."""
    spark: Mapping[str, str]
    """Releases of Spark that compile it so, and the revision that each is built from, which no vendor's own build shares."""
    java: int
    """The version of the Java among whose classes the compiler found what the source calls: later ones have that, too."""

    def serves(self, here: MadeOf) -> bool:
        """Whether the Spark that is here would compile the source that is here so."""
        same = self.source == here.source and here.spark.items() <= self.spark.items()
        return same and self.java <= here.java


def made_here(gateway: Any, source: str) -> MadeOf:
    """What class files of a source would be made of in the JVM behind a gateway."""
    spark = java_class(gateway, "org.apache.spark.SparkBuildInfo")
    java = str(gateway.jvm.System.getProperty("java.specification.version"))
    return MadeOf(
        hashlib.sha256(source.encode()).hexdigest(),
        {str(spark.spark_version()): str(spark.spark_revision())},
        int(java.removeprefix("1.")),
    )


def java_class(gateway: Any, name: str) -> Any:
    """A class that the JVM has. By `gateway.jvm`, py4j would look for each part of the name in all archives."""
    from py4j.java_gateway import JavaClass

    return JavaClass(name, gateway._gateway_client)


def archives(name: str) -> Iterator[tuple[Path, MadeOf]]:
    """The archives of a source, and what the classes of each are made of."""
    for path in sorted(FOLDER.glob(f"{name}-*.zip")):
        with zipfile.ZipFile(path) as archive:
            yield path, MadeOf(**json.loads(archive.read(MADE_OF)))


def classes_in(path: Path) -> dict[str, bytes]:
    """The classes of an archive by their names, in PLACEHOLDER."""
    with zipfile.ZipFile(path) as archive:
        return {file: archive.read(file) for file in archive.namelist() if file != MADE_OF}


def kept_classes(name: str, here: MadeOf, package: str) -> dict[str, bytes]:
    """The classes of a source by their names, in a package; none where they aren't kept for what is here."""
    for path, made_of in archives(name):
        if made_of.serves(here):
            classes = classes_in(path).items()
            return {file.replace(PLACEHOLDER, package): in_package(content, package) for file, content in classes}
    return {}


def in_package(content: bytes, package: str) -> bytes:
    """A class file in another package. Its name must be as long as PLACEHOLDER: lengths stand before names."""
    return content.replace(PLACEHOLDER.encode(), package.encode())
