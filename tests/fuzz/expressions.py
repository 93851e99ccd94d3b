"""Random expressions of a wanted type, as Spark SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from .tables import COLUMNS


class Column(NamedTuple):
    """A column that an expression may use."""

    name: str
    type: str


class Signature(NamedTuple):
    """A form of SQL with places for operands: `("int", "length({string})")`."""

    type: str
    template: str


TYPES = tuple(COLUMNS)
INTEGERS = ("tinyint", "smallint", "int", "bigint")
NUMBERS = (*INTEGERS, "float", "double", "decimal(10,2)", "decimal(20,4)")
TIMES = ("date", "timestamp", "timestamp_ntz")
ATOMS = ("boolean", *NUMBERS, "string", "binary", *TIMES)

LITERALS = {
    "boolean": ["true", "false"],
    "tinyint": ["0Y", "1Y", "-128Y"],
    "smallint": ["0S", "7S", "32767S"],
    "int": ["0", "1", "2", "-1", "10", "2147483647"],
    "bigint": ["0L", "1L", "-3L", "9223372036854775807L"],
    "float": ["0F", "1.5F", "float('NaN')"],
    "double": ["0D", "-0.0D", "1.5D", "double('NaN')", "double('Infinity')", "1e300D"],
    "decimal(10,2)": ["CAST(0 AS DECIMAL(10,2))", "CAST(1.25 AS DECIMAL(10,2))"],
    "decimal(20,4)": ["CAST(3.1415 AS DECIMAL(20,4))"],
    "string": ["''", "'a'", "'A b'", "'é'", "'%'", "'12'"],
    "binary": ["X''", "X'61'", "X'00FF'"],
    "date": ["DATE'2024-02-29'", "DATE'1500-01-01'"],
    "timestamp": ["TIMESTAMP'2024-03-10 02:30:00'", "TIMESTAMP'1969-12-31 23:59:59.999999'"],
    "timestamp_ntz": ["TIMESTAMP_NTZ'2024-11-03 01:30:00'"],
    "array<int>": ["array(1, 2)", "CAST(array() AS ARRAY<INT>)"],
    "array<string>": ["array('a', NULL)"],
    "array<double>": ["array(1.5D, double('NaN'))"],
    "array<array<int>>": ["array(array(1), NULL)"],
    "map<string,int>": ["map('a', 1)"],
    "struct<x:int,y:string>": ["named_struct('x', 1, 'y', 'a')"],
}

FIXED = """
boolean = ({boolean} AND {boolean}) | ({boolean} OR {boolean}) | (NOT {boolean}) | ({string} LIKE 'a%')
boolean = ({string} LIKE '%_b') | startswith({string}, {string}) | contains({string}, 'a') | isnan({double})
boolean = ({string} RLIKE '^[a-z]+$') | array_contains({array<int>}, 1) | exists({array<int>}, x -> x > 1)
boolean = exists({array<string>}, s -> {boolean of s string}) | forall({array<int>}, x -> {boolean of x int})
tinyint = try_add({tinyint}, 1Y)
smallint = try_add({smallint}, 1S) | CAST({tinyint} AS SMALLINT)
int = try_add({int}, {int}) | try_subtract({int}, {int}) | try_multiply({int}, 3) | ({int} + 1) | (- {int}) | ({int} % 7)
int = length({string}) | ({int} & 12) | ({int} | {int}) | abs({int}) | pmod({int}, 5) | CAST({smallint} AS INT)
int = year({date}) | month({date}) | dayofmonth({date}) | dayofweek({date}) | datediff({date}, {date}) | quarter({date})
int = hour({timestamp}) | minute({timestamp}) | second({timestamp_ntz}) | weekofyear({date}) | dayofyear({date})
int = size({array<int>}) | {struct<x:int,y:string>}.x | try_element_at({array<int>}, 1) | instr({string}, 'a')
int = locate('b', {string}) | ascii({string}) | array_position({array<int>}, 1) | levenshtein({string}, {string})
int = aggregate(transform({array<double>}, d -> {int of d double}), 0, (a, x) -> a + x % 100)
int = aggregate(filter({array<int>}, x -> x IS NOT NULL AND x < 100), 0, (a, x) -> a + x) | bit_count({bigint})
bigint = try_add({bigint}, {bigint}) | try_multiply({bigint}, 2L) | try_divide({bigint}, 2L) | CAST({int} AS BIGINT)
bigint = ({int} * 3L) | CAST({int} AS BIGINT) * {int} | unix_micros({timestamp}) | ({int} DIV 3) | floor({decimal(10,2)})
bigint = unix_date({date}) + 1L | crc32({string}) | try_subtract({bigint}, {int})
float = ({float} + {float}) | CAST({int} AS FLOAT) | (- {float})
double = ({double} + {double}) | ({double} * {double}) | ({double} - 1D) | try_divide({double}, {double}) | sqrt({double})
double = ({int} / 4) | CAST({int} AS DOUBLE) | abs({double}) | nanvl({double}, 0D) | CAST({float} AS DOUBLE) | signum({double})
double = try_divide({int}, {int}) | round({double}) | radians({double}) | CAST({decimal(10,2)} AS DOUBLE) | (- {double})
decimal(10,2) = try_cast({int} AS DECIMAL(10,2)) | try_cast({decimal(10,2)} + {decimal(10,2)} AS DECIMAL(10,2)) | abs({decimal(10,2)})
decimal(10,2) = try_cast({decimal(20,4)} AS DECIMAL(10,2)) | try_cast({string} AS DECIMAL(10,2)) | (- {decimal(10,2)})
decimal(20,4) = try_cast({decimal(10,2)} * {decimal(10,2)} AS DECIMAL(20,4)) | CAST({decimal(10,2)} AS DECIMAL(20,4))
decimal(20,4) = try_cast({decimal(10,2)} / 3 AS DECIMAL(20,4)) | try_cast(round({decimal(20,4)}, 1) AS DECIMAL(20,4))
string = upper({string}) | lower({string}) | trim({string}) | concat({string}, {string}) | substring({string}, 1, 2) | reverse({string})
string = substring({string}, -2) | replace({string}, 'a', 'bb') | lpad({string}, 5, '*') | rpad({string}, 3, 'xy') | initcap({string})
string = concat_ws('-', {string}, {string}) | CAST({int} AS STRING) | CAST({date} AS STRING) | split_part({string}, ',', 1)
string = CAST({boolean} AS STRING) | CAST({bigint} AS STRING) | date_format({date}, 'yyyy-MM-dd') | {struct<x:int,y:string>}.y
string = regexp_replace({string}, '[a-c]', '_') | regexp_extract({string}, '([a-z])', 1) | md5({string}) | hex({string}) | left({string}, 2)
string = array_join({array<string>}, ',') | translate({string}, 'ab', 'x') | CAST({decimal(10,2)} AS STRING) | repeat({string}, 2)
string = substring_index({string}, ',', 1) | CAST({timestamp} AS STRING) | nullif({string}, '') | date_format({timestamp}, 'HH:mm')
binary = CAST({string} AS BINARY) | concat({binary}, {binary}) | unhex(hex({string}))
date = date_add({date}, 1) | date_sub({date}, 30) | CAST({timestamp} AS DATE) | last_day({date}) | trunc({date}, 'MONTH') | add_months({date}, 1)
date = try_cast({string} AS DATE) | make_date(2024, 2, 28) | CAST({timestamp_ntz} AS DATE) | next_day({date}, 'MO')
timestamp = CAST({date} AS TIMESTAMP) | date_trunc('HOUR', {timestamp}) | ({timestamp} + INTERVAL '1' HOUR) | CAST({timestamp_ntz} AS TIMESTAMP)
timestamp_ntz = CAST({date} AS TIMESTAMP_NTZ) | CAST({timestamp} AS TIMESTAMP_NTZ) | ({timestamp_ntz} - INTERVAL '1' DAY)
array<int> = array({int}, {int}) | filter({array<int>}, x -> x > 0) | transform({array<int>}, x -> x % 5) | array_distinct({array<int>})
array<int> = sort_array({array<int>}) | reverse({array<int>}) | slice({array<int>}, 1, 2) | array_compact({array<int>}) | array_union({array<int>}, {array<int>})
array<int> = transform({array<int>}, x -> {int of x int}) | transform({array<string>}, s -> {int of s string})
array<int> = filter({array<int>}, x -> {boolean of x int}) | zip_with({array<int>}, {array<int>}, (x, y) -> {int of x int} % 9 + y % 9)
array<string> = transform({array<int>}, x -> {string of x int}) | filter({array<string>}, s -> {boolean of s string})
array<double> = transform({array<double>}, d -> {double of d double}) | transform({array<int>}, x -> {double of x int})
array<array<int>> = transform({array<int>}, x -> {array<int> of x int}) | filter({array<array<int>>}, a -> {boolean of a array<int>})
array<string> = split({string}, ',') | array({string}, {string}) | transform({array<string>}, s -> upper(s)) | sort_array({array<string>})
struct<x:int,y:string> = named_struct('x', {int}, 'y', {string})
"""
"""Functions and operators by the type of their result, with places for expressions."""

OF_ANY_TYPE = """
coalesce({T}, {T}) | if({boolean}, {T}, {T}) | CASE WHEN {boolean} THEN {T} WHEN {boolean} THEN {T} END
CASE WHEN {boolean} THEN {T} ELSE {T} END
"""
OF_ORDERED_TYPES = "greatest({T}, {T}) | least({T}, {T}) | nullif({T}, {T})"
COMPARISONS = "({T} = {T}) | ({T} <=> {T}) | ({T} < {T}) | ({T} >= {T}) | ({T} <> {T}) | ({T} IN ({T}, {T})) | ({T} BETWEEN {T} AND {T})"
TESTS = "({T} IS NULL) | ({T} IS NOT NULL)"


def _forms(text: str) -> list[str]:
    """The alternatives of a table, which stand between bars that are no operators of SQL."""
    depth, found, start = 0, [], 0
    for n, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and (text.startswith(" | ", n) or character == "\n"):
            found.append(text[start:n])
            start = n + (1 if character == "\n" else 3)
    return [form.strip() for form in [*found, text[start:]] if form.strip()]


def _signatures() -> dict[str, list[Signature]]:
    found: dict[str, list[Signature]] = {type: [] for type in TYPES}
    for line in FIXED.strip().splitlines():
        type, forms = line.split(" = ", 1)
        found[type] += [Signature(type, form) for form in _forms(forms)]
    for type in TYPES:
        found[type] += [Signature(type, form.replace("{T}", f"{{{type}}}")) for form in _forms(OF_ANY_TYPE)]
        found["boolean"] += [Signature("boolean", form.replace("{T}", f"{{{type}}}")) for form in _forms(TESTS)]
    for type in ATOMS:
        found["boolean"] += [Signature("boolean", form.replace("{T}", f"{{{type}}}")) for form in _forms(COMPARISONS)]
        found[type] += [Signature(type, form.replace("{T}", f"{{{type}}}")) for form in _forms(OF_ORDERED_TYPES)]
    return found


SIGNATURES = _signatures()
"""Every form by the type of its result. `function_forms` adds to them."""

TYPE = f"({'|'.join(map(re.escape, TYPES))})"
PLACE = re.compile(rf"\{{{TYPE}(?: of (\w+) {TYPE})?\}}")
"""A place for an expression of a type; in a lambda, one that may use the lambda's parameter of a name and a type."""


@st.composite
def expression(draw: st.DrawFn, type: str, columns: Sequence[Column], depth: int = 2) -> str:
    """An expression of a type over columns."""
    usable = [column.name for column in columns if column.type == type]
    kinds = ["column"] * (3 if usable else 0) + ["literal"] + ["call"] * (3 if depth else 0) + ["null"] * (not usable)
    kind = draw(st.sampled_from(kinds))
    if kind == "column":
        return draw(st.sampled_from(usable))
    if kind == "literal":
        return draw(st.sampled_from(LITERALS[type]))
    if kind == "null":
        return f"CAST(NULL AS {type})"
    signature = draw(st.sampled_from(SIGNATURES[type]))
    return PLACE.sub(
        lambda place: draw(expression(place[1], _columns_in(place, columns), depth - 1)), signature.template
    )


def _columns_in(place: re.Match[str], columns: Sequence[Column]) -> Sequence[Column]:
    """What an expression in a place may use: a lambda's parameter hides a column of its name."""
    _, parameter, type = place.groups()
    if parameter is None:
        return columns
    return [*(column for column in columns if column.name != parameter), Column(parameter, type)]
