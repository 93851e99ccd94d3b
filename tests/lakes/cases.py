"""Tables of Iceberg and Delta, what is read of each, what its plan becomes, and what DataFusion makes of that.

docs/reference/sources.md shows them: the tests see to it that they are so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pyspark.sql import SparkSession

from .beyond_statements import add_columns_with_defaults, create_with_identity, delete_by_equality

ICEBERG, SNAPSHOT, DELTA = "`IcebergTable`", "`IcebergTable` with a snapshot", "`DeltaTable`"
FILES, NAME, ROWS, REFUSED = "`LocalFiles`", "`NamedTable`", "rows", "refused"


class Read(NamedTuple):
    """A query of the table `{t}`; `{v}` is the number of its first version or snapshot, `{f}` a Delta table's folder.

    `{p}` is a folder of Parquet files with columns k and v.
    """

    sql: str
    becomes: str
    says: str = ""
    """What DataFusion refuses it with before any row, or what the library does where the plan itself is refused."""
    reads: str = "auto"
    stages: tuple[str, ...] = ("optimized", "analyzed")


class Case(NamedTuple):
    """A table, made by statements and by functions of a session and its name, and what is read of it."""

    name: str
    statements: tuple[str | Callable[[SparkSession, str], None], ...]
    reads: tuple[Read, ...]


ROWS_OF_ALL = """SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'abc', TIMESTAMP'2024-01-15 10:00:00', 1.5D, 10L),
    (2, 'abd', TIMESTAMP'2024-02-15 10:00:00', double('NaN'), NULL), (3, '', NULL, -0.0D, -1L), (NULL, NULL, TIMESTAMP'9999-12-31 10:00:00', NULL, 2L),
    (5, 'ü', TIMESTAMP'0001-01-02 10:00:00', 1e308D, 9223372036854775807L), (5, 'ü', TIMESTAMP'2024-02-15 10:00:00', 0.0D, 3L)"""

COLUMNS = "(k INT, s STRING, at TIMESTAMP, d DOUBLE, l BIGINT)"

SCALARS = """(bo BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, e DECIMAL(9,2), g DECIMAL(38,10), s STRING, x BINARY, day DATE,
    at TIMESTAMP, local TIMESTAMP_NTZ, a ARRAY<INT>, n STRUCT<u: INT, v: STRUCT<w: STRING, a: ARRAY<STRING>>>)"""

SCALAR_ROWS = """SELECT /*+ COALESCE(1) */ * FROM VALUES
    (true, 1, 2L, 1.5F, 2.5D, 1.25BD, 12345678901234567890.0123456789BD, 'a', X'00FF', DATE'2024-01-31', TIMESTAMP'2024-03-10 10:30:00.123456',
     TIMESTAMP_NTZ'2024-03-10 02:30:00.123456', array(1, NULL), named_struct('u', 1, 'v', named_struct('w', 'x', 'a', array('', NULL)))),
    (NULL, NULL, NULL, float('NaN'), double('-Infinity'), NULL, NULL, '', X'', DATE'0001-01-01', NULL, TIMESTAMP_NTZ'0001-01-01 00:00:00',
     array(), NULL),
    (false, -2147483648, 9223372036854775807L, -0.0F, -0.0D, -9999999.99BD, -1e-10BD, 'ü', NULL, DATE'9999-12-31', NULL,
     TIMESTAMP_NTZ'9999-12-31 23:59:59.999999', NULL, named_struct('u', NULL, 'v', NULL))"""

NESTED = (
    "(k INT, b ARRAY<STRUCT<u: INT, v: ARRAY<INT>>>, m MAP<STRING, STRUCT<u: INT, v: STRING>>, l ARRAY<ARRAY<INT>>)"
)

NESTED_ROWS = """SELECT /*+ COALESCE(1) */ * FROM VALUES
    (1, array(NULL, named_struct('u', 1, 'v', array(2))), map('k', named_struct('u', 1, 'v', NULL)), array(array(1), NULL)),
    (2, array(), map(), array()), (3, NULL, NULL, NULL)"""

FILES_OF_ROWS = tuple(
    f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ CAST(k AS INT), s, CAST(day AS DATE), f FROM VALUES {rows} AS v(k, s, day, f)"
    for rows in (
        "(1, 'a', '2024-01-01', 1.0D), (NULL, NULL, NULL, NULL), (3, '', '1969-12-31', double('NaN'))",
        "(-2147483648, repeat('x', 40) || 'a', '0001-01-01', -0.0D), (2147483647, repeat('x', 40) || 'b', '9999-12-31', 0.0D)",
        "(5, 'ü', '1970-01-01', 2.0D), (6, '\U0001f600', '1971-01-01', double('NaN')), (7, \"o'clock\", '2024-02-29', 3.0D)",
        "(NULL, 'only', '2024-01-31', NULL)",
    )
)
"""Statements that each make a file of columns k, s, day and f."""

FILTERED = (
    "SELECT * FROM {t} WHERE k = 5",
    "SELECT s FROM {t} WHERE 3 < k",
    "SELECT k FROM {t} WHERE k <= 1 AND f < 2",
    "SELECT s, f FROM {t} WHERE k IN (-2147483648, 6, 8) AND s <> 'a'",
    "SELECT k FROM {t} WHERE s = repeat('x', 40) || 'b'",
    "SELECT k, day FROM {t} WHERE s > 'x'",
    "SELECT k FROM {t} WHERE s IN ('ü', 'only', \"o'clock\")",
    "SELECT k, s FROM {t} WHERE day < DATE'1971-01-01'",
    "SELECT k, s FROM {t} WHERE day >= DATE'2024-01-31'",
    "SELECT k FROM {t} WHERE day = DATE'2024-02-29' OR k = 1",
    "SELECT f FROM {t} WHERE f > 1 AND day > DATE'1970-01-01'",
    "SELECT a.k FROM {t} a JOIN {t} b ON a.k = b.k AND a.s = 'a' AND b.k < 100",
)
"""Queries whose filters leave out files."""

RENAMED = "the column {} is another now or has another name"
"""Of a snapshot, whose filters Iceberg's reader in Spark takes for those of the table's columns now: it has other rows, or fails."""

MERGE_ON_READ = (
    "'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.merge.mode'='merge-on-read'"
)

ICEBERG_CASES = (
    Case(
        "types",
        (f"CREATE TABLE {{t}} {SCALARS} USING iceberg", f"INSERT INTO {{t}} {SCALAR_ROWS}"),
        (
            Read("SELECT * FROM {t}", ICEBERG),
            Read("SELECT n.v.w, a FROM {t} WHERE i > 0 OR i IS NULL", ICEBERG),
            Read("SELECT s, f FROM {t} WHERE f > 1 AND d <> 7", ICEBERG),
        ),
    ),
    Case(
        "lists of structs, and maps",
        (f"CREATE TABLE {{t}} {NESTED} USING iceberg", f"INSERT INTO {{t}} {NESTED_ROWS}"),
        (
            Read("SELECT b.v FROM {t}", ICEBERG, "pyiceberg makes empty ones of those that are null"),
            Read("SELECT m FROM {t}", ICEBERG, "pyiceberg makes empty ones of those that are null"),
            Read("SELECT k FROM {t}", ICEBERG, stages=("optimized",)),
        ),
    ),
    Case(
        "a table without a row",
        (f"CREATE TABLE {{t}} {COLUMNS} USING iceberg",),
        (Read("SELECT k, s FROM {t}", ICEBERG),),
    ),
    Case(
        "partitions: bucket, truncate, months, and others later",
        (
            f"CREATE TABLE {{t}} {COLUMNS} USING iceberg PARTITIONED BY (bucket(4, k), truncate(2, s), months(at))",
            f"INSERT INTO {{t}} {ROWS_OF_ALL}",
            "ALTER TABLE {t} DROP PARTITION FIELD truncate(2, s)",
            "ALTER TABLE {t} ADD PARTITION FIELD l",
            "INSERT INTO {t} VALUES (7, 'abc', TIMESTAMP'2024-01-20 00:00:00', 3.0, 4)",
        ),
        (
            Read("SELECT * FROM {t}", ICEBERG),
            Read("SELECT k, l FROM {t} WHERE s = 'abc' AND at > TIMESTAMP'2024-01-01 00:00:00'", ICEBERG),
            Read("SELECT k FROM {t} WHERE l = 4", ICEBERG),
            Read("SELECT k FROM {t} WHERE l IN (4, 10) OR s = 'abd' OR k IS NULL", ICEBERG),
            Read(
                "SELECT k FROM {t} WHERE ice.system.bucket(4, k) = 1",
                REFUSED,
                "can't be read from a plan",
                stages=("optimized",),
            ),
        ),
    ),
    Case(
        "columns renamed, swapped, dropped and added again, moved, widened",
        (
            "CREATE TABLE {t} (k INT, a STRING, b STRING, c STRING, n STRUCT<p: INT, q: INT>, f FLOAT, e DECIMAL(5,2)) USING iceberg",
            "INSERT INTO {t} VALUES (1, 'a1', 'b1', 'c1', named_struct('p', 1, 'q', 2), 1.1F, 1.25), (2, 'a2', NULL, 'c2', NULL, NULL, NULL)",
            "ALTER TABLE {t} CREATE TAG first",
            "ALTER TABLE {t} CREATE BRANCH other",
            "ALTER TABLE {t} RENAME COLUMN a TO x",
            "ALTER TABLE {t} RENAME COLUMN b TO a",
            "ALTER TABLE {t} RENAME COLUMN x TO b",
            "ALTER TABLE {t} DROP COLUMN c",
            "ALTER TABLE {t} ADD COLUMN c STRING",
            "ALTER TABLE {t} ALTER COLUMN c FIRST",
            "ALTER TABLE {t} ALTER COLUMN k TYPE BIGINT",
            "ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE",
            "ALTER TABLE {t} ALTER COLUMN e TYPE DECIMAL(7,2)",
            "ALTER TABLE {t} RENAME COLUMN n.p TO r",
            "ALTER TABLE {t} ADD COLUMN n.p STRING",
        ),
        (
            Read("SELECT * FROM {t}", ICEBERG),
            Read("SELECT n.p, n.r, b FROM {t} WHERE n.r = 1 AND b = 'a1'", ICEBERG),
            Read("SELECT * FROM {t} VERSION AS OF {v}", SNAPSHOT),
            Read("SELECT * FROM {t} VERSION AS OF 'first'", SNAPSHOT),
            Read("SELECT * FROM {t} VERSION AS OF 'other'", ICEBERG),
            Read("SELECT n.p, a FROM {t} VERSION AS OF {v} WHERE k = 1", SNAPSHOT, stages=("optimized",)),
            Read("SELECT a.a, b.f FROM {t} a JOIN {t} VERSION AS OF {v} b ON a.k = b.k", ICEBERG),
            Read("SELECT a.k, b.k FROM {t} a JOIN {t} VERSION AS OF {v} b ON a.b = b.a", REFUSED, RENAMED.format("a")),
            Read("SELECT k FROM {t} VERSION AS OF {v} WHERE c = 'c1'", REFUSED, RENAMED.format("c")),
        ),
    ),
    Case(
        "columns changed, and rows written after that",
        (
            "CREATE TABLE {t} (k INT, a STRING, n STRUCT<p: INT, q: INT>) USING iceberg",
            "INSERT INTO {t} VALUES (1, 'a1', named_struct('p', 1, 'q', 2))",
            "ALTER TABLE {t} CREATE BRANCH other",
            "ALTER TABLE {t} RENAME COLUMN a TO b",
            "ALTER TABLE {t} DROP COLUMN n.p",
            "ALTER TABLE {t} ADD COLUMNS (a INT AFTER k, n.p STRING FIRST)",
            "INSERT INTO {t} VALUES (2, 7, 'b2', named_struct('p', 'p2', 'q', 3))",
        ),
        (
            Read("SELECT * FROM {t}", ICEBERG),
            Read("SELECT n.p FROM {t} WHERE n.q > 0", ICEBERG),
            Read("SELECT * FROM {t} VERSION AS OF {v}", SNAPSHOT),
            Read("SELECT k FROM {t}.branch_other", SNAPSHOT, stages=("optimized",)),
            Read("SELECT a FROM {t}.branch_other", REFUSED, "columns that the snapshot doesn't have"),
        ),
    ),
    Case(
        "partitions by a column whose name is another's now",
        (
            "CREATE TABLE {t} (k INT, s STRING, o STRING, p STRING NOT NULL) USING iceberg PARTITIONED BY (truncate(1, s), bucket(2, p))",
            "INSERT INTO {t} VALUES (1, 'a', 'x', 'p'), (2, 'b', 'y', 'p'), (3, NULL, 'a', 'q'), (4, 'a', 'b', 'q')",
            "ALTER TABLE {t} RENAME COLUMN s TO q",
            "ALTER TABLE {t} RENAME COLUMN o TO s",
            "ALTER TABLE {t} RENAME COLUMN q TO o",
            "ALTER TABLE {t} RENAME COLUMN p TO r",
        ),
        (
            Read("SELECT * FROM {t} WHERE s = 'a' OR o = 'a'", ICEBERG),
            Read("SELECT s, o FROM {t} VERSION AS OF {v} WHERE k < 4", SNAPSHOT, stages=("optimized",)),
            Read("SELECT k FROM {t} VERSION AS OF {v} WHERE s = 'a'", REFUSED, RENAMED.format("s")),
            Read("SELECT k FROM {t} VERSION AS OF {v} WHERE o IS NULL", REFUSED, RENAMED.format("o")),
            Read("SELECT max(s) FROM {t} VERSION AS OF {v}", REFUSED, RENAMED.format("s"), stages=("analyzed",)),
            Read("SELECT k, p FROM {t} VERSION AS OF {v}", REFUSED, RENAMED.format("p")),
        ),
    ),
    Case(
        "branches and tags",
        (
            "CREATE TABLE {t} (k INT) USING iceberg",
            "INSERT INTO {t} VALUES (1)",
            "ALTER TABLE {t} CREATE BRANCH other",
            "INSERT INTO {t}.branch_other VALUES (2)",
            "ALTER TABLE {t} CREATE TAG one",
            "INSERT INTO {t} VALUES (3)",
        ),
        (
            Read("SELECT * FROM {t}", ICEBERG),
            Read("SELECT * FROM {t} VERSION AS OF 'other'", SNAPSHOT),
            Read("SELECT * FROM {t}.branch_other", SNAPSHOT),
            Read("SELECT * FROM {t}.tag_one", SNAPSHOT),
            Read("SELECT * FROM {t} TIMESTAMP AS OF '2999-01-01'", SNAPSHOT),
            Read("SELECT snapshot_id FROM {t}.snapshots", REFUSED, "can't be read from a plan"),
            Read("SELECT * FROM {t}.changes", REFUSED, "can't be read from a plan"),
            Read("SELECT _file, k FROM {t}", REFUSED, "the column _file is metadata", stages=("optimized",)),
        ),
    ),
    Case(
        "rows deleted and updated, merge on read",
        (
            f"CREATE TABLE {{t}} (k INT, s STRING) USING iceberg TBLPROPERTIES ('format-version'='2', {MERGE_ON_READ})",
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), 's' || id FROM range(10)",
            "DELETE FROM {t} WHERE k = 3",
            "UPDATE {t} SET s = 'new' WHERE k = 4",
        ),
        (
            Read("SELECT * FROM {t}", ICEBERG),
            Read("SELECT count(*), max(k) FROM {t}", ICEBERG),
            Read("SELECT s FROM {t} WHERE k BETWEEN 2 AND 5", ICEBERG),
            Read("SELECT count(*) FROM {t} VERSION AS OF {v}", ROWS),
        ),
    ),
    Case(
        "files that filters leave out",
        (
            "CREATE TABLE {t} (k INT, s STRING, day DATE, f DOUBLE) USING iceberg TBLPROPERTIES ('format-version'='2')",
            *FILES_OF_ROWS[:2],
            "ALTER TABLE {t} ALTER COLUMN k TYPE BIGINT",
            f"ALTER TABLE {{t}} SET TBLPROPERTIES ({MERGE_ON_READ})",
            *FILES_OF_ROWS[2:],
            "DELETE FROM {t} WHERE k = 7",
        ),
        tuple(Read(sql, ICEBERG) for sql in FILTERED),
    ),
    Case(
        "partitions that filters leave out",
        (
            "CREATE TABLE {t} (k INT, s STRING, day DATE, f DOUBLE) USING iceberg PARTITIONED BY (bucket(3, k), truncate(1, s))",
            *FILES_OF_ROWS[:2],
            "ALTER TABLE {t} DROP PARTITION FIELD truncate(1, s)",
            "ALTER TABLE {t} ADD PARTITION FIELD months(day)",
            *FILES_OF_ROWS[2:3],
            "ALTER TABLE {t} RENAME COLUMN k TO kk",
            "ALTER TABLE {t} RENAME COLUMN s TO k",
            "ALTER TABLE {t} RENAME COLUMN kk TO s",
            "ALTER TABLE {t} ADD PARTITION FIELD k",
            "INSERT INTO {t} VALUES (NULL, 'only', DATE'2024-01-31', NULL)",
        ),
        (
            Read("SELECT * FROM {t} WHERE k = 'only'", ICEBERG),
            Read("SELECT s FROM {t} WHERE k > 'w' AND s > 0", ICEBERG),
            Read("SELECT k FROM {t} WHERE s IN (1, 5) OR k = ''", ICEBERG),
            Read("SELECT k, s FROM {t} WHERE s = -2147483648", ICEBERG),
            Read("SELECT k, s FROM {t} WHERE day < DATE'1971-02-01'", ICEBERG),
        ),
    ),
    Case(
        "rows deleted by what they are equal to",
        (
            "CREATE TABLE {t} (k INT, s STRING) USING iceberg TBLPROPERTIES ('format-version'='2')",
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, NULL), (3, 'c'), (NULL, 'd')",
            delete_by_equality,
        ),
        (
            Read("SELECT * FROM {t}", ICEBERG, "does not yet support equality deletes"),
            Read("SELECT count(*) FROM {t}", ICEBERG, "does not yet support equality deletes"),
            Read("SELECT s FROM {t} VERSION AS OF {v} WHERE k = 2 OR k IS NULL", SNAPSHOT),
        ),
    ),
    Case(
        "columns with default values of format version 3",
        (
            "CREATE TABLE {t} (k INT, s STRING) USING iceberg TBLPROPERTIES ('format-version'='3')",
            "INSERT INTO {t} VALUES (1, 'a'), (2, NULL)",
            add_columns_with_defaults,
            "INSERT INTO {t} VALUES (3, 'c', 7, NULL)",
        ),
        (
            Read("SELECT * FROM {t}", ICEBERG),
            Read("SELECT c, x FROM {t} WHERE k < 3", ICEBERG, stages=("optimized",)),
            Read("SELECT k FROM {t} WHERE k < 3", ICEBERG),
            Read("SELECT * FROM {t} VERSION AS OF {v}", SNAPSHOT),
            Read("SELECT count(c), max(c) FROM {t}", ICEBERG, stages=("optimized",)),
            Read("SELECT k FROM {t} WHERE c + 0 = 5", REFUSED, "the column c has a default value"),
            Read("SELECT k FROM {t} WHERE x = 'ü' OR k = 1", REFUSED, "the column x has a default value"),
        ),
    ),
    Case(
        "joined with others",
        (
            "CREATE TABLE {t} (k INT, s STRING) USING iceberg",
            "INSERT INTO {t} VALUES (1, 'a'), (2, NULL), (2, 'b'), (NULL, 'c'), (70, 'd')",
            "CREATE TABLE spark_catalog.default.other (k INT, d DOUBLE) USING delta",
            "INSERT INTO spark_catalog.default.other VALUES (2, double('NaN')), (70, -0.0), (NULL, 1.0)",
        ),
        (
            Read("SELECT * FROM {t} a JOIN parquet.`{p}` b ON a.k = b.k", ICEBERG),
            Read(
                "SELECT a.s, b.v, c.d FROM {t} a FULL JOIN parquet.`{p}` b ON a.k = b.k FULL JOIN spark_catalog.default.other c ON c.k = a.k",
                ICEBERG,
            ),
            Read("SELECT * FROM {t} WHERE k NOT IN (SELECT k FROM parquet.`{p}`)", ICEBERG),
        ),
    ),
    Case(
        "deletion vectors of format version 3",
        (
            f"CREATE TABLE {{t}} (k INT, s STRING) USING iceberg TBLPROPERTIES ('format-version'='3', {MERGE_ON_READ})",
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), 's' || id FROM range(10)",
            "DELETE FROM {t} WHERE k IN (0, 3)",
        ),
        (Read("SELECT * FROM {t}", ICEBERG),),
    ),
    Case(
        "rows deleted, updated and merged, copy on write",
        (
            "CREATE TABLE {t} (k INT, s STRING) USING iceberg",
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), 's' || id FROM range(10)",
            "DELETE FROM {t} WHERE k = 3",
            "UPDATE {t} SET s = NULL WHERE k = 4",
            "MERGE INTO {t} USING (SELECT 5 AS k) v ON v.k = {t}.k WHEN MATCHED THEN DELETE",
        ),
        (
            Read("SELECT * FROM {t}", ICEBERG),
            Read("SELECT count(*), max(k), min(k), count(s) FROM {t}", ROWS),
            Read("SELECT k FROM {t} ORDER BY k LIMIT 3", ICEBERG),
        ),
    ),
)

DELTA_CASES = (
    Case(
        "types",
        (f"CREATE TABLE {{t}} {SCALARS} USING delta", f"INSERT INTO {{t}} {SCALAR_ROWS}"),
        (Read("SELECT * FROM {t}", FILES, reads="files"), Read("SELECT n.v.w, a FROM {t} WHERE i > 0", NAME)),
    ),
    Case(
        "lists of structs, and maps",
        (f"CREATE TABLE {{t}} {NESTED} USING delta", f"INSERT INTO {{t}} {NESTED_ROWS}"),
        (Read("SELECT * FROM {t}", NAME), Read("SELECT b.v, m['k'].u FROM {t}", NAME)),
    ),
    Case(
        "versions",
        (
            "CREATE TABLE {t} (k INT, s STRING) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed'='true')",
            "INSERT INTO {t} VALUES (1, 'a'), (2, NULL)",
            "INSERT INTO {t} VALUES (3, 'c')",
            "DELETE FROM {t} WHERE k = 1",
        ),
        (
            Read("SELECT * FROM {t}", NAME),
            Read("SELECT * FROM {t}", FILES, reads="files"),
            Read("SELECT * FROM {t} VERSION AS OF 1", FILES),
            Read("SELECT * FROM {t} VERSION AS OF 3", FILES),
            Read("SELECT a.k FROM {t} a JOIN {t} VERSION AS OF 1 b ON a.k = b.k", NAME),
            Read("SELECT count(*) FROM {t} VERSION AS OF 2", ROWS),
            Read("SELECT * FROM table_changes('{t}', 1)", REFUSED, "can't be read from a plan"),
        ),
    ),
    Case(
        "partitions and constraints",
        (
            "CREATE TABLE {t} (k INT, s STRING, day DATE, id BIGINT) USING delta PARTITIONED BY (s, day)",
            "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (k > 0)",
            "INSERT INTO {t} VALUES (1, 'a b', DATE'2024-01-01', 1), (2, NULL, NULL, 2), (3, 'ü', DATE'0001-01-01', NULL)",
        ),
        (
            Read("SELECT * FROM {t}", FILES, reads="files"),
            Read("SELECT k FROM {t} WHERE s = 'a b'", FILES, reads="files"),
            Read("SELECT k FROM {t} VERSION AS OF 2 WHERE day < DATE'2024-01-02'", FILES),
        ),
    ),
    Case(
        "files that filters leave out",
        (
            "CREATE TABLE {t} (k INT, s STRING, day DATE, f DOUBLE) USING delta",
            *FILES_OF_ROWS,
            "DELETE FROM {t} WHERE k = 7",
        ),
        tuple(Read(sql, NAME) for sql in FILTERED),
    ),
    Case(
        "partitions that filters leave out",
        (
            "CREATE TABLE {t} (k INT, s STRING, day DATE, f DOUBLE) USING delta PARTITIONED BY (s, day)",
            *FILES_OF_ROWS,
        ),
        tuple(Read(sql, NAME) for sql in FILTERED),
    ),
    Case(
        "deletion vectors",
        (
            "CREATE TABLE {t} (k INT, s STRING, at TIMESTAMP) USING delta PARTITIONED BY (s) TBLPROPERTIES ('delta.enableDeletionVectors'='true')",
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), 'a b', TIMESTAMP'2024-01-31 10:00:00' FROM range(10)",
            "INSERT INTO {t} VALUES (100, NULL, NULL), (101, 'ü', TIMESTAMP'2024-03-10 10:30:00.123456')",
            "DELETE FROM {t} WHERE k IN (3, 100)",
        ),
        (
            Read("SELECT * FROM {t}", DELTA, reads="files"),
            Read("SELECT * FROM {t}", NAME),
            Read("SELECT k FROM {t} WHERE s = 'a b' AND k > 4", DELTA, reads="files"),
            Read("SELECT * FROM {t} VERSION AS OF 2", FILES),
            Read("SELECT * FROM {t} VERSION AS OF 3", DELTA, reads="tables"),
            Read("SELECT count(*) FROM {t} VERSION AS OF 3 WHERE k > 1", DELTA),
        ),
    ),
    Case(
        "times beyond nanoseconds, in files with deletion vectors",
        (
            "CREATE TABLE {t} (k INT, at TIMESTAMP) USING delta TBLPROPERTIES ('delta.enableDeletionVectors'='true')",
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, TIMESTAMP'9999-12-31 10:00:00'), (2, TIMESTAMP'2024-01-01 00:00:00'), (3, NULL)",
            "DELETE FROM {t} WHERE k = 3",
        ),
        (
            Read("SELECT * FROM {t}", DELTA, "has times in Parquet's old form", reads="files"),
            Read("SELECT k FROM {t}", DELTA, reads="files"),
        ),
    ),
    Case(
        "columns mapped by name, renamed, dropped and added again",
        (
            "CREATE TABLE {t} (k INT, `a b` STRING, n STRUCT<p: INT, q: INT>, c INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode'='name')",
            "INSERT INTO {t} VALUES (1, 'x', named_struct('p', 1, 'q', 2), 5)",
            "ALTER TABLE {t} RENAME COLUMN k TO kk",
            "ALTER TABLE {t} RENAME COLUMN n.p TO r",
            "ALTER TABLE {t} DROP COLUMN c",
            "ALTER TABLE {t} ADD COLUMN c INT",
            "INSERT INTO {t} VALUES (2, NULL, named_struct('r', 3, 'q', 4), 6)",
        ),
        (
            Read("SELECT * FROM {t}", DELTA, reads="files"),
            Read("SELECT n.r, c FROM {t} WHERE `a b` = 'x'", DELTA, reads="files"),
            Read("SELECT * FROM {t} VERSION AS OF 1", DELTA),
            Read("SELECT kk FROM {t}", NAME),
        ),
    ),
    Case(
        "columns mapped by number",
        (
            "CREATE TABLE {t} (k INT, s STRING) USING delta TBLPROPERTIES ('delta.columnMapping.mode'='id')",
            "INSERT INTO {t} VALUES (1, 'x'), (2, NULL)",
        ),
        (Read("SELECT * FROM {t}", DELTA, reads="files"),),
    ),
    Case(
        "widened columns",
        (
            "CREATE TABLE {t} (k SMALLINT, s STRING) USING delta TBLPROPERTIES ('delta.enableTypeWidening'='true')",
            "INSERT INTO {t} VALUES (1, 'x')",
            "ALTER TABLE {t} ALTER COLUMN k TYPE INT",
            "INSERT INTO {t} VALUES (70000, 'y')",
        ),
        (Read("SELECT * FROM {t}", DELTA, "can't be read by deltalake", reads="files"),),
    ),
    Case(
        "a shallow clone",
        (
            "CREATE TABLE {t}_source (k INT, s STRING) USING delta",
            "INSERT INTO {t}_source VALUES (1, 'x'), (2, NULL)",
            "CREATE TABLE {t} SHALLOW CLONE {t}_source",
            "INSERT INTO {t} VALUES (3, 'y')",
        ),
        (Read("SELECT * FROM {t}", FILES, reads="files"), Read("SELECT * FROM {t}", NAME)),
    ),
    Case(
        "columns that number rows or are computed",
        (create_with_identity, "INSERT INTO {t} (k) VALUES (10), (20)", "INSERT INTO {t} (k) VALUES (NULL)"),
        (
            Read("SELECT * FROM {t}", FILES, reads="files"),
            Read("SELECT id FROM {t} WHERE g > 11 OR k IS NULL", NAME),
            Read("SELECT * FROM {t} VERSION AS OF 1", DELTA, reads="tables"),
        ),
    ),
    Case(
        "by its path",
        (
            "CREATE TABLE {t} (k INT, s STRING) USING delta TBLPROPERTIES ('delta.enableDeletionVectors'='true')",
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, NULL), (3, 'c')",
            "DELETE FROM {t} WHERE k = 1",
        ),
        (
            Read("SELECT * FROM delta.`{f}`", DELTA),
            Read("SELECT * FROM delta.`{f}` VERSION AS OF 1", FILES),
            Read("SELECT * FROM delta.`{f}` VERSION AS OF 1", DELTA, reads="tables"),
            Read("SELECT * FROM delta.`{f}@v1` WHERE s = 'a'", FILES),
            Read("SELECT a.k, b.v FROM delta.`{f}` a JOIN parquet.`{p}` b ON a.k = b.k", DELTA),
            Read("SELECT b.k, a.s FROM delta.`{f}` a RIGHT JOIN {t} b ON a.k = b.k AND a.s = 'c'", DELTA),
        ),
    ),
    Case(
        "clustered by columns",
        ("CREATE TABLE {t} (k INT, s STRING) USING delta CLUSTER BY (k)", "INSERT INTO {t} VALUES (1, 'a'), (2, NULL)"),
        (Read("SELECT * FROM {t}", FILES, reads="files"),),
    ),
)
