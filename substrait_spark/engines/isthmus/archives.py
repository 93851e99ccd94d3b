"""The archives of Isthmus: where they are, and bringing them from Maven Central by Ivy, which PySpark has with it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import tempfile
from pathlib import Path

from ...connect.jvm import java
from ...errors import SubstraitSparkError

GROUP, NAME, RELEASE = "io.substrait", "isthmus", "0.89.1"
"""What Maven calls Isthmus, and the release whose SQL was compared."""

VARIABLE = "SUBSTRAIT_SPARK_ISTHMUS"
"""Names the folder of the archives, where it is another than the one in the user's cache."""

MISSING = (
    "There are no archives of Isthmus {release} in {folder}. Bring them from Maven Central by "
    "`substrait_spark.engines.isthmus.fetch()`, once on a machine; or have Maven copy {group}:{name}:{release} with what it "
    "depends on into a folder (`mvn dependency:copy-dependencies`), and name it by the environment variable {variable}."
)


def folder() -> Path:
    """The folder that the archives are in, or belong in."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "substrait-spark" / f"{NAME}-{RELEASE}"


def archives() -> Path:
    """The folder of the archives. Raises SubstraitSparkError where they are missing."""
    found = folder()
    if not (found / f"{NAME}-{RELEASE}.jar").is_file():
        raise SubstraitSparkError(
            MISSING.format(folder=found, group=GROUP, name=NAME, release=RELEASE, variable=VARIABLE)
        )
    return found


def fetch() -> Path:
    """Bring the archives of Isthmus, some 34 MB, from Maven Central, unless they are there. Returns their folder.

    Ivy brings them, as it brings what `spark.jars.packages` names; it keeps them under `~/.ivy2` too. Raises SubstraitSparkError where
    there is no PySpark or no Java, or Ivy fails.
    """
    wanted = folder()
    if (wanted / f"{NAME}-{RELEASE}.jar").is_file():
        return wanted
    wanted.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=wanted.parent) as made:
        command = [
            *(java(), "-cp", str(_spark_jars() / "*"), "org.apache.ivy.Main"),
            *("-dependency", GROUP, NAME, RELEASE, "-confs", "default"),
            *("-retrieve", f"{made}/[artifact]-[revision].[ext]"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode or not (Path(made) / f"{NAME}-{RELEASE}.jar").is_file():
            told = "\n".join((done.stdout + done.stderr).strip().splitlines()[-10:])
            raise SubstraitSparkError(f"Ivy can't bring {GROUP}:{NAME}:{RELEASE} from Maven Central:\n{told}")
        wanted.mkdir(exist_ok=True)
        # Isthmus's own last: where it is, all others are.
        for archive in sorted(Path(made).glob("*.jar"), key=lambda each: each.name == f"{NAME}-{RELEASE}.jar"):
            archive.replace(wanted / archive.name)
    return wanted


def _spark_jars() -> Path:
    home = os.environ.get("SPARK_HOME")
    found = None if home else importlib.util.find_spec("pyspark")
    jars = Path(home) / "jars" if home else Path(found.origin).parent / "jars" if found and found.origin else None
    if jars is None or not any(jars.glob("ivy-*.jar")):
        raise SubstraitSparkError(
            "Ivy is missing, which comes with Spark's jars: pip install pyspark, or set SPARK_HOME."
        )
    return jars
