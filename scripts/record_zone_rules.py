"""Records the rules of time zones as the session's Java has them: `substrait_spark/engines/arrow/zone_rules.parquet`.

    .venv/bin/python scripts/record_zone_rules.py

The regions are those that `zones.yaml` of DataFusion lists, since its plans ask for no others. Run it with the Java whose release of the
tz database is in that file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from substrait_spark.engines.arrow import zone_rules
from substrait_spark.engines.datafusion.functions.time_zone import settled_regions

FILE = Path(zone_rules.__file__).with_name(zone_rules.FILE)
END = int(datetime(zone_rules.LISTED_UNTIL, 1, 1, tzinfo=timezone.utc).timestamp())


def main() -> None:
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    java = spark.sparkContext._jvm.java  # type: ignore[union-attr]
    names = defaultdict(list)
    for region in sorted(settled_regions()):
        rules = java.time.ZoneId.of(region).getRules()
        before = rules.getOffset(java.time.Instant.MIN).getTotalSeconds()
        names[before, tuple(transitions(rules, java.time.Instant.MIN))].append(region)
    spark.stop()
    rows = [
        {"regions": regions, "instants": [at for at, _ in changes], "offsets": [before, *(to for _, to in changes)]}
        for (before, changes), regions in names.items()
    ]
    pq.write_table(pa.Table.from_pylist(rows, zone_rules.SCHEMA), FILE, compression="zstd")
    print(f"{len(rows)} rules of {sum(map(len, names.values()))} regions, in {FILE.stat().st_size:,} bytes")


def transitions(rules: Any, start: Any) -> Iterator[tuple[int, int]]:
    """The changes of the offset, in seconds since 1970, and the offsets that they lead to, in seconds."""
    change = rules.nextTransition(start)
    while change is not None and change.getInstant().getEpochSecond() < END:
        yield change.getInstant().getEpochSecond(), change.getOffsetAfter().getTotalSeconds()
        change = rules.nextTransition(change.getInstant())


if __name__ == "__main__":
    main()
