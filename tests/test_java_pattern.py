"""Java's regular expressions as those of the package `regex`: the same matches, on random patterns and texts."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from substrait_spark.engines.arrow.functions import patterns
from substrait_spark.engines.datafusion.functions.java_pattern import translated
from substrait_spark.engines.datafusion.functions.java_regex import Refused

PATTERNS = 200
TEXTS = 8
CHARACTERS = "aaabbbcA1  _-,\r\né\u0301\u2028😀"
ATOMS = [*r"a b c . [ab] [^a] [a-c&] \w \d é - \p{L} \P{Lu} \p{Nd}".split(), " "]
PLACES = ["^", "$", *r"\A \Z \z \b \B".split()]
GROUPS = ["(", "(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"]
QUANTIFIERS = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "*?", "+?", "??", "*+", "++", "?+"]


class Patterns:
    """Random patterns, with all that Rust's engine hasn't."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def known(self) -> str:
        """One that can be translated."""
        while True:
            found = self.choice(2) + self.random.choice(["", "", "", r"\1", r"(\1)"])
            try:
                translated(found)
            except Refused:
                continue
            return found

    def text(self) -> str:
        return "".join(self.random.choices(CHARACTERS, k=self.random.randint(0, 8)))

    def choice(self, depth: int) -> str:
        return "|".join(self.sequence(depth) for _ in range(self.random.choice([1, 1, 2])))

    def sequence(self, depth: int) -> str:
        return "".join(self.item(depth) for _ in range(self.random.randint(1, 3)))

    def item(self, depth: int) -> str:
        kind = self.random.random()
        if kind < 0.1:
            return self.random.choice(PLACES)
        if kind < 0.6 or not depth:
            return self.random.choice(ATOMS) + self.random.choice(QUANTIFIERS)
        group = self.random.choice(GROUPS)
        quantifier = "" if "=" in group or "!" in group else self.random.choice(QUANTIFIERS)
        return group + self.choice(depth - 1) + ")" + quantifier


USES: dict[str, Callable[[str, str], Any]] = {
    "t RLIKE p": patterns.rlike,
    "regexp_count(t, p)": patterns.count,
    "regexp_extract(t, p, 0)": lambda text, pattern: patterns.extract(text, pattern, 0),
    "regexp_extract_all(t, p, 0)": lambda text, pattern: patterns.extract_all(text, pattern, 0),
    "regexp_replace(t, p, '<$0>')": lambda text, pattern: patterns.replace(text, pattern, "<$0>", 1),
    "regexp_replace(t, p, 'x', 3)": lambda text, pattern: patterns.replace(text, pattern, "x", 3),
    "split(t, p)": lambda text, pattern: patterns.split(text, pattern, -1),
    "split(t, p, 2)": lambda text, pattern: patterns.split(text, pattern, 2),
}


def test_same_matches(spark: SparkSession) -> None:
    made = Patterns(20240229)
    rows = [(made.text(), pattern) for pattern in (made.known() for _ in range(PATTERNS)) for _ in range(TEXTS)]
    df = spark.createDataFrame(rows, "t STRING, p STRING").selectExpr("t", "p", *USES)
    computed = 0
    for row in df.collect():
        for (use, ours), expected in zip(USES.items(), row[2:], strict=True):
            try:
                found = ours(row.t, row.p)
            except NotImplementedError:  # what hangs on Java's release, or on halves of characters
                continue
            computed += 1
            assert found == expected, f"{use} of {row.t!r} and {row.p!r}"
    assert computed > len(rows) * len(USES) * 0.7


@pytest.mark.parametrize(
    "pattern",
    [
        "(?m)^a", "[a&&[b]]", "[[a]]", "(a*)*", "a{0}", r"\Ga", r"a\R", r"\X", r"\b{g}", r"(a|(b))*\2", r"\1(a)", r"(a\1)",
        r"(?i)(a)\1", "(?<=a*)b", "(?<=a?+)b", "(?!(a))b", "(?<=(a))b", "(a|ab){2}+", r"\p{IsGreek}", "(?<n>a", r"\k<n>",
        "(?=a", "(?x)a",
    ],
)  # fmt: skip
def test_refused(pattern: str) -> None:
    with pytest.raises(Refused):
        translated(pattern)


def test_words_hang_on_the_java_version() -> None:
    """Before 19, letters beyond ASCII were in words, too: where that makes a difference, it is said."""
    assert patterns.rlike("é foo", r"\bfoo\b")
    with pytest.raises(NotImplementedError, match="Java version"):
        patterns.rlike("éfoo", r"\bfoo\b")
