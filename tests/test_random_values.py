"""Functions of texts and numbers over random ones, in letters of many alphabets: DataFusion has Spark's values."""

from __future__ import annotations

import random
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from rows import assert_same_rows

ALPHABETS = (
    *(
        "0123456789",
        "abcXYZ",
        "aàáâä",
        "ÀÉÎß\u017f\u0131İi",
        "漢字かな",
        "😀🧑‍🚀",
        " \t\n\u00a0\u3000",
        "-+.,:;/\\%&?=#@!$()[]{}<>'\"|^~`_*",
    ),
    *("\x00\x1f\x7f\x85\u200b", "\u0300\u0301\u0328", "АБвг", "אבג", "ﬁﬀ", "Ǆǅǆ", "٠١٢", "Ⅷ", "\U0001d7d8\U0001d400"),
)
URLS = (
    ("http", "https", "ftp", "file", "HTTP", "", "mailto"),
    ("://", ":", "//", ""),
    ("", "user@", "u:p@", "u:p:q@"),
    ("example.com", "EX.am", "[::1]", "1.2.3.4", "a_b.com", "é.fr", ""),
    ("", ":80", ":", ":x"),
    ("", "/", "/a/b", "/a b", "/%20", "//x", "/a;b=c", "/é"),
    ("", "?", "?a=1&b=2", "?a=&b", "?q=%zz", "?x=a+b", "?a=1#2"),
    ("", "#f", "#", "#a b"),
)
NUMERALS = "1e5|-0|+7|.5|5.|1,234.50|$12.3|  3 |0x1F|NaN|1d||<5>|5-|(4)|ﬀ|\u01311|12345678901234567890123|-9223372036854775808".split(
    "|"
)
BASES = (0, 1, 2, 3, 5, -1, -2, 10, 16, 36, 37, -16, 100, 2**31 - 1, -(2**31))
DOUBLES = (0.0, -0.0, float("nan"), float("inf"), 2.5, 0.125, 1e-5, 123456789.987654321, None)

OF_TEXTS = (
    "mask(s); mask(s, 'Q', 'q', '#', '*'); soundex(s); levenshtein(s, t); levenshtein(s, t, 3); luhn_check(m); luhn_check(s); "
    "jaro_winkler_similarity(s, t); upper(s); lower(s); initcap(s); trim(s); ltrim(t, s); rtrim(t, s); length(s); bit_length(s); "
    "ascii(s); base64(encode(s, 'utf-8')); hex(s); unhex(m); try_to_binary(s, 'base64'); try_to_binary(m, 'hex'); encode(s, 'UTF-16'); "
    "decode(encode(s, 'UTF-16LE'), 'UTF-16LE'); url_encode(s); try_url_decode(u); substring_index(u, '/', k); "
    "split(s, '\\\\s+', 3); split_part(u, '/', nullif(k, 0)); str_to_map(u, '&', '='); repeat(t, k % 5); lpad(s, k % 20, t); "
    "rpad(s, k % 20, t); overlay(s, t, k % 9); translate(s, t, reverse(t)); reverse(s); instr(s, t); locate(t, s, k); substr(s, k); "
    "substr(s, k % 7, k % 5); left(s, k % 9); right(s, k % 9); find_in_set(t, s); replace(s, t, '~'); contains(s, t); startswith(s, t); "
    "endswith(s, t); s LIKE concat('%', replace(replace(t, '\\\\', ''), '%', '_'), '%'); s < t; greatest(s, t, u); array_sort(array(s, t, u)); "
    "regexp_replace(s, '(\\\\w)(\\\\W)', '$2$1'); regexp_extract_all(s, '\\\\p{L}+', 0); regexp_count(s, '\\\\s'); rlike(s, '(?i)[À-ÿ]'); "
    "btrim(s); elt(k % 4, s, t, u); concat_ws(t, s, u); crc32(b); md5(b); sha1(b); sha2(b, 384); array_join(split(s, ''), '.', 'x')"
).split("; ")
OF_URLS = [f"try_parse_url(u, '{part}')" for part in "HOST PATH QUERY REF PROTOCOL FILE AUTHORITY USERINFO".split()]
OF_NUMBERS = (
    "conv(m, 10, 16); conv(m, 16, 10); conv(s, k, 10); conv(m, 10, k); conv(m, 36, -2); format_number(dc, 2); format_number(l, 0); "
    "to_char(dc, '999,999,990.9999'); to_char(dc, '$99,999,999,999.99S'); try_to_number(m, '999,999.99'); try_to_number(m, 'S$999999999.99'); "
    "hash(s, l, x, dc, b); xxhash64(s, l, x, dc, b); bround(x, 2); round(x, 1); round(dc, 2); bround(dc, -2); ceil(x); floor(dc, 1); "
    "char(l); bin(l); try_cast(m AS DECIMAL(10,2)); try_cast(m AS INT); try_cast(m AS DOUBLE); try_cast(m AS BIGINT); try_cast(m AS BOOLEAN); "
    "try_cast(x AS INT); cast(dc AS STRING); shiftleft(l, k); shiftrightunsigned(l, k); width_bucket(x, -10, 10, 5); "
    "pmod(l, nullif(k, 0)); try_mod(l, k); try_divide(l, k); l div nullif(k, 0); sequence(cast(k % 5 AS BIGINT), k % 7)"
).split("; ")


def _text(draw: random.Random, length: int) -> str:
    letters = "".join(draw.choices(ALPHABETS, k=draw.randint(1, 3)))
    return "".join(draw.choices(letters, k=draw.randrange(length)))


def _numeral(draw: random.Random) -> str:
    return draw.choice([str(draw.randint(-(10**6), 10**6)), f"{draw.uniform(-1e4, 1e4):.3f}", draw.choice(NUMERALS)])


@pytest.fixture(scope="module")
def values(shared_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = tmp_path_factory.mktemp("random") / "values.parquet"
    draw = random.Random(20261130)
    rows = range(1500)
    columns = {
        "s": [_text(draw, 12) if draw.random() > 0.03 else None for _ in rows],
        "t": [_text(draw, 6) for _ in rows],
        "u": ["".join(map(draw.choice, URLS)) for _ in rows],
        "m": [_numeral(draw) for _ in rows],
        "k": pa.array([draw.choice(BASES) for _ in rows], pa.int32()),
        "l": [draw.choice([draw.randint(-(10**6), 10**6), draw.randint(-(2**63), 2**63 - 1), 0]) for _ in rows],
        "x": [draw.choice([draw.uniform(-1e3, 1e3), draw.uniform(-1e12, 1e12), *DOUBLES]) for _ in rows],
        "dc": pa.array([Decimal(draw.randint(-(10**12), 10**12)).scaleb(-4) for _ in rows], pa.decimal128(16, 4)),
        "b": [draw.randbytes(draw.randrange(9)) for _ in rows],
    }
    pq.write_table(pa.table({"i": rows, **columns}), path)
    return shared_session.read.parquet(str(path))


@pytest.mark.parametrize(
    "calls", [OF_TEXTS[:30], OF_TEXTS[30:], OF_URLS, OF_NUMBERS], ids=["texts", "more texts", "urls", "numbers"]
)
def test_values_of_random_arguments(spark: SparkSession, values: DataFrame, calls: list[str]) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    assert_same_rows(values.selectExpr("i", *(f"{call} AS v{n}" for n, call in enumerate(calls))))
