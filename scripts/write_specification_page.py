"""Writes the page on the specification, item by item.

`PYTHONPATH=tests .venv/bin/python scripts/write_specification_page.py` plans the queries of `tests/specification_items.py` in a
local Spark session, and reads its plans.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import quick_spark
from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.message import Message
from pyspark.sql import SparkSession
from specification_items import EXPRESSIONS, NOT, PLANS, QUERIES, SAVED, plans_of
from substrait import algebra_pb2, extended_expression_pb2, plan_pb2, type_pb2
from substrait.extended_expression_pb2 import ExtendedExpression

from substrait_spark.algebra.message_walk import messages
from substrait_spark.extended.plans import plan_of
from substrait_spark.reading.plan import read_plan

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "specification.md"

FILES = {
    "algebra.proto": algebra_pb2,
    "type.proto": type_pb2,
    "plan.proto": plan_pb2,
    "extended_expression.proto": extended_expression_pb2,
}

HEAD = """\
# The specification, item by item

This page is generated (`make specification`): it has every message, field and enum value of Substrait 0.106's algebra, types, plan
and extended expressions, as the descriptors list them.

* **emitted** by a query, whose plan has the item: the queries are at the [end of the page](#queries);
* **read**, by `lower`, `engines.spark.execute` and the rest, from plans of others that have it, as those there;
* or *not*, for the reason given.

| | items | emitted | read | not |
|---|---|---|---|---|
{counts}
"""


class Item(NamedTuple):
    """An item by its name without the package, and what becomes of it: `emitted`, `read` or `not`, and by what, or why."""

    file: str
    name: str
    status: str
    because: str

    @property
    def message(self) -> str:
        """The top-level message, or enum, that it is part of."""
        return self.name.partition(".")[0]


def names(file: str) -> Iterator[str]:
    """The items of a file: messages, their fields and the values of their enums."""
    descriptor = FILES[file].DESCRIPTOR
    for message in descriptor.message_types_by_name.values():
        yield from _of_message(message)
    for enum in descriptor.enum_types_by_name.values():
        yield from _of_enum(enum)


def _of_message(message: Descriptor) -> Iterator[str]:
    yield _short(message.full_name)
    yield from (_short(field.full_name) for field in message.fields)
    for enum in message.enum_types:
        yield from _of_enum(enum)
    for inner in message.nested_types:
        yield from _of_message(inner)


def _of_enum(enum: EnumDescriptor) -> Iterator[str]:
    # Protobuf puts values beside their enum: here they are in it, as they read.
    yield from (f"{_short(enum.full_name)}.{value.name}" for value in enum.values)


def _short(name: str) -> str:
    return name.removeprefix("substrait.")


def found_in(root: Message) -> set[str]:
    """The items that a message and those in it have."""
    found: set[str] = set()
    for message in messages(root):
        found.add(_short(message.DESCRIPTOR.full_name))
        set_fields = {field.name for field, _ in message.ListFields()}
        for field in message.DESCRIPTOR.fields:
            # A number that is 0 leaves no trace, and neither does an enum's first value.
            if field.name not in set_fields:
                continue
            found.add(_short(field.full_name))
            if field.enum_type is not None:
                value = getattr(message, field.name)
                found.add(f"{_short(field.enum_type.full_name)}.{field.enum_type.values_by_number[value].name}")
    return found


def items(spark: SparkSession, folder: Path) -> list[Item]:
    """What becomes of every item. Raises AssertionError for one of which nothing is known, and for what is said in vain."""
    emitted: dict[str, str] = {}
    for name, plan in plans_of(spark, folder):
        for item in found_in(plan):
            emitted.setdefault(item, name)
    read: dict[str, str] = {}
    for name, make in PLANS.items():
        plan = make()
        as_plan = plan_of(plan) if isinstance(plan, ExtendedExpression) else plan
        if problems := read_plan(as_plan).problems:
            raise AssertionError(f"{name}: {problems}")
        for item in found_in(plan):
            read.setdefault(item, name)
    unsaid = dict(NOT)
    found = []
    for file in FILES:
        for name in names(file):
            if name in emitted or name in read:
                by = emitted.get(name) or read[name]
                found.append(Item(file, name, "emitted" if name in emitted else "read", by))
                continue
            pattern = next((pattern for pattern in NOT if fnmatch.fnmatchcase(name, pattern)), "")
            unsaid.pop(pattern, None)
            found.append(Item(file, name, "not", NOT.get(pattern, "")))
    said = {item.because for item in found}
    _require_none("nothing is known of", [item.name for item in found if not item.because])
    _require_none("emitted or read, though it is said not to be:", list(unsaid))
    idle = [name for name in (*QUERIES, *EXPRESSIONS, *PLANS) if name not in said]
    _require_none("in vain, since others have all that they have:", idle)
    return found


def _require_none(what: str, names: Sequence[str]) -> None:
    if names:
        raise AssertionError(f"{what} {', '.join(names)}")


def page(found: Sequence[Item]) -> str:
    """The page of all items."""
    counts = []
    for file in FILES:
        statuses = [item.status for item in found if item.file == file]
        numbers = [str(statuses.count(status)) for status in ("emitted", "read", "not")]
        counts.append(f"| {file} | {len(statuses)} | {' | '.join(numbers)} |")
    return "".join([HEAD.format(counts="\n".join(counts)), *_sections(found), *_queries()])


def _sections(found: Sequence[Item]) -> Iterator[str]:
    for file, of_file in groupby(found, lambda item: item.file):
        yield f"\n## {file}\n"
        for message, of_message in groupby(of_file, lambda item: item.message):
            yield f"\n### {message}\n\n| item | | |\n|---|---|---|\n"
            yield from (_row(item) for item in of_message)


def _row(item: Item) -> str:
    shown = item.name.removeprefix(f"{item.message}.")
    return f"| `{shown}` | {STATUSES[item.status]} | {item.because} |\n"


STATUSES = {"emitted": "**emitted**", "read": "read", "not": "*not*"}


def _queries() -> Iterator[str]:
    yield "\n## Queries\n"
    for name, query in QUERIES.items():
        yield f"\n**{name}**{query.shown}\n\n```sql\n{query.sql.strip()}\n```\n"
    for name, expressions in EXPRESSIONS.items():
        shown = "\n".join(f"{sql} AS {alias}" for alias, sql in expressions.items())
        yield f"\n**{name}** (`expressions_to_substrait`)\n\n```sql\n{shown}\n```\n"
    yield f"\n**{SAVED}** (`write_to_substrait(spark.table('named'), table='made', mode=…)`)\n"
    yield "\nPlans of others, in `tests/specification_items.py`: " + "; ".join(PLANS) + ".\n"


def main() -> None:
    import tempfile

    quick_spark.use()
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    for key, value in quick_spark.SETTINGS.items():
        builder = builder.config(key, value)
    with tempfile.TemporaryDirectory() as folder:
        spark = builder.config("spark.sql.warehouse.dir", f"{folder}/warehouse").getOrCreate()
        PAGE.write_text(page(items(spark, Path(folder))), "utf-8")
        spark.stop()


if __name__ == "__main__":
    main()
