"""The same query gives the same bytes in another process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tpc_data
from pyspark.sql import SparkSession

from substrait_spark import check, df_to_substrait

EXPORT = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
import tpc_data
from pyspark.sql import SparkSession
from test_determinism import digests

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.session.timeZone", "America/Los_Angeles").getOrCreate()
directory = Path(sys.argv[1])
tpc_data.register(spark, directory)
spark.range(100).selectExpr("id AS ids_start_elsewhere").collect()
print("\\n".join(digests(spark, directory)))
spark.stop()
"""


def digests(spark: SparkSession, directory: Path) -> list[str]:
    """A line for each TPC-H query and dialect: what its plan hashes to."""
    found = []
    for number, query in reversed(tpc_data.queries(directory).items()):
        for dialect in (None, "datafusion"):
            df = spark.sql(query)
            if check(df, dialect=dialect):
                plan = df_to_substrait(df, dialect=dialect).SerializeToString()
                found.append(f"{number} {dialect} {hashlib.sha256(plan).hexdigest()}")
    return sorted(found)


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_another_process(spark: SparkSession, tpch: Path, tmp_path: Path, hash_seed: str) -> None:
    here = Path(__file__).parent
    ran = subprocess.run(
        [sys.executable, "-c", EXPORT, str(tpch), str(here), str(here.parent / "examples")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    expected = digests(spark, tpch)
    assert len(expected) > 30
    assert ran.stdout.splitlines() == expected
