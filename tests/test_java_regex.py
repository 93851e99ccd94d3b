"""Java's regular expressions in Rust's syntax: the same matches, on random patterns and texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from releases import later

from substrait_spark.engines import datafusion
from substrait_spark.engines.datafusion.functions import java_regex
from substrait_spark.engines.datafusion.functions.java_regex import Refused

PATTERNS = 60
TEXTS = 50
CHARACTERS = "aaabbbA1   \n\n\r\ré😀._%-\u2028\u0085x,,\\$\u0130\u017fK\u212aks\t\u0301\u0661\x0b"
LITERALS: list[str] = [*'aaabbA1x -_%,é😀\n\rksK&#~"]}:=<>/@!']
ESCAPES = (
    r"\d \w \s \D \W \S \. \\ \$ \n \r \t \- \% \x41 \u00e9 \x{1F600} \Qa.b\E \p{Alpha} \P{Punct} \012 \/ \#".split()
)
MEMBERS = [*r"a b a-c A-Z 0-9 \d \w \s \S _ . $ \- \] é \r * ( | % \n-\r 😀 k \\ ,".split(), "\n", " "]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "{0,2}", "{1,}", "*?", "+?", "{2,3}?"]
REPLACEMENTS = ["", "X", "<$0>", "$1", "[$1]", "$2-$1", r"\$", "a$1b$2", "$10", "é😀", "$1$0", "%"]


class Patterns:
    """Random patterns, most of which can be translated."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self) -> str:
        return "".join(self.random.choices(CHARACTERS, k=self.random.choice([0, 1, 1, 2, 3, 4, 5, 6, 8, 12])))

    def pattern(self) -> str:
        start = self.random.choice(["", "", "", "", "^", "(?i)", "(?s)"])
        end = self.random.choice(["", "", "", "$", r"\Z", r"\z"])
        return start + self.choice(2) + end

    def choice(self, depth: int) -> str:
        return "|".join(self.sequence(depth) for _ in range(self.random.choice([1, 1, 1, 1, 2, 3])))

    def sequence(self, depth: int) -> str:
        return "".join(self.item(depth) for _ in range(self.random.choice([1, 1, 2, 2, 3, 4])))

    def item(self, depth: int) -> str:
        quantified = self.random.random() > 0.55
        return self.atom(depth) + (self.random.choice(QUANTIFIERS) if quantified else "")

    def atom(self, depth: int) -> str:
        kind = self.random.random()
        if kind < 0.4:
            return self.random.choice(LITERALS)
        if kind < 0.5:
            return "."
        if kind < 0.7:
            return self.random.choice(ESCAPES)
        if kind < 0.85 or not depth:
            members = "".join(self.random.choices(MEMBERS, k=self.random.choice([1, 1, 2, 3])))
            return f"[{self.random.choice(['', '', '^'])}{members}]"
        return self.random.choice(["(", "(", "(?:"]) + self.choice(depth - 1) + ")"


def sql(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def searched(pattern: str, replacement: str, group: int) -> str:
    return f"regexp_like(t, {sql(java_regex.search(pattern))}, 's')"


def counted(pattern: str, replacement: str, group: int) -> str:
    return f"regexp_count(t, {sql(java_regex.every(pattern))})"


def located(pattern: str, replacement: str, group: int) -> str:
    return f"regexp_instr(t, {sql(java_regex.every(pattern))})"


def extracted(pattern: str, replacement: str, group: int) -> str:
    return f"coalesce(array_element(regexp_match(t, {sql(java_regex.extraction(pattern, group))}), 1), '')"


def replaced(pattern: str, replacement: str, group: int) -> str:
    found, text = java_regex.replacement(pattern, replacement)
    return f"regexp_replace(t, {sql(found)}, {sql(text)}, 'g')"


def divided(pattern: str, replacement: str, group: int) -> str:
    found, separator = java_regex.splitter(pattern)
    text = "t" if found is None else f"regexp_replace(t, {sql(found)}, {sql(separator)}, 'g')"
    return f"CASE WHEN t = '' THEN make_array('') ELSE string_to_array({text}, {sql(separator)}) END"


USES: dict[str, Callable[[str, str, int], str]] = {
    "t RLIKE p": searched,
    "regexp_count(t, p)": counted,
    "regexp_instr(t, p)": located,
    "regexp_extract(t, p, g)": extracted,
    "regexp_replace(t, p, r)": replaced,
    "split(t, p)": divided,
}
"""Spark's functions, and what DataFusion computes for them."""


@pytest.mark.parametrize(
    "use",
    # Before, characters beyond 16 bits count as two.
    [later("4.0", use) if use.startswith("regexp_instr") else use for use in USES],
)
def test_same_matches(spark: SparkSession, use: str) -> None:
    """Patterns are a column in Spark and literals in DataFusion, as the library writes them."""
    patterns = Patterns(20240229)
    texts = list(dict.fromkeys(patterns.text() for _ in range(2 * TEXTS)))[:TEXTS]
    calls = dict(list(translated(patterns, USES[use]))[:PATTERNS])
    assert len(calls) == PATTERNS
    ctx = datafusion.context()
    ctx.register_record_batches("texts", [[pa.record_batch({"t": pa.array(texts, pa.string())})]])
    spark.createDataFrame([(t,) for t in texts], "t STRING").createOrReplaceTempView("texts")
    columns = spark.createDataFrame(list(calls), "p STRING, r STRING, g INT")
    columns.createOrReplaceTempView("patterns")
    rows = spark.sql(f"SELECT p, r, g, t, {use} AS result FROM patterns CROSS JOIN texts").collect()
    assert len(rows) == PATTERNS * len(texts)
    actual = {key: dict(zip(texts, column(ctx, call), strict=True)) for key, call in calls.items()}
    wrong = [(row, got) for row in rows if (got := actual[row.p, row.r, row.g][row.t]) != row.result]
    assert not wrong, "\n".join(f"{row} but {got!r}" for row, got in wrong[:5])


def translated(
    patterns: Patterns, translate: Callable[[str, str, int], str]
) -> Iterator[tuple[tuple[str, str, int], str]]:
    """Distinct patterns with a replacement and a group, and what stands for them."""
    seen = set()
    for _ in range(100 * PATTERNS):
        key = (patterns.pattern(), patterns.random.choice(REPLACEMENTS), patterns.random.choice([0, 1, 1, 2]))
        if key[0] in seen:
            continue
        seen.add(key[0])
        try:
            yield key, translate(*key)
        except Refused:
            continue


def column(ctx: object, call: str) -> list[object]:
    batches = ctx.sql(f"SELECT {call} AS result FROM texts").collect()  # type: ignore[attr-defined]
    return [value for batch in batches for value in batch.column(0).to_pylist()]


REFUSED = {
    "search": [
        "(?=a)", "(?<!a)b", "(?>a)", r"(a)\1", "a*+", r"\bfoo", r"\p{L}", "[a&&[b]]", "[[a]]", "(a*)*", "a{0}", "(?m)^a",
        "a^b", "(^a)", "a$b", "[a", "(a", "a)", "a{2,1}", "*a", "\\", r"\x{110000}", r"\ud800", "(?i)\\p{Alpha}",
        "(a{20}){21}", "(" * 60 + "a" + ")" * 60, "x\r$", "[\ud800]",
    ],
    "every": ["a*", "", "^", "a?|b", "^a|b", "\n$"],
    "splitter": ["", "a|b", "(a)", "ab*c", "^,", "a+a*"],
}  # fmt: skip
"""Patterns that are no patterns, that mean something else in Rust, or whose matches Rust finds in another way."""


@pytest.mark.parametrize(("use", "pattern"), [(use, each) for use, listed in REFUSED.items() for each in listed])
def test_refused(use: str, pattern: str) -> None:
    with pytest.raises(Refused):
        getattr(java_regex, use)(pattern)


@pytest.mark.parametrize("replacement", ["$", "$2", "${name}", "$a", "\\", r"\\"])
def test_refused_replacement(replacement: str) -> None:
    with pytest.raises(Refused):
        java_regex.replacement("(a)", replacement)


@pytest.mark.parametrize(("pattern", "group"), [("(a)", 2), ("a", -1), ("(a)+", 1), ("((a)|b)*", 2)])
def test_refused_group(pattern: str, group: int) -> None:
    with pytest.raises(Refused):
        java_regex.extraction(pattern, group)
