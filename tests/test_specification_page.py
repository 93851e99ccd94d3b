"""The page on the specification, item by item, says what plans have and what is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
import write_specification_page as written
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from pyspark.sql import SparkSession

from substrait_spark import support


@pytest.mark.skipif(
    not support.spark_version().startswith(".".join(pyspark.__version__.split(".")[:2])),
    reason="plans of another release of Spark have other forms",
)
def test_page_is_up_to_date(spark: SparkSession, tmp_path: Path) -> None:
    """Every claim is made anew: what is emitted by planning the queries, what is read by reading the plans of others."""
    assert written.PAGE.read_text("utf-8") == written.page(written.items(spark, tmp_path)), "run make specification"


@pytest.mark.parametrize("file", written.FILES)
def test_no_item_is_missing(file: str) -> None:
    described = FileDescriptorProto.FromString(written.FILES[file].DESCRIPTOR.serialized_pb)
    expected = [name for message in described.message_type for name in _items(message, "")]
    expected += [f"{enum.name}.{value.name}" for enum in described.enum_type for value in enum.value]
    assert sorted(written.names(file)) == sorted(expected)
    section = written.PAGE.read_text("utf-8").partition(f"\n## {file}\n")[2].partition("\n## ")[0]
    assert sum(line.startswith("| `") for line in section.splitlines()) == len(expected)


def _items(message: DescriptorProto, around: str) -> Iterator[str]:
    name = f"{around}{message.name}"
    yield name
    yield from (f"{name}.{field.name}" for field in message.field)
    yield from (f"{name}.{enum.name}.{value.name}" for enum in message.enum_type for value in enum.value)
    for inner in message.nested_type:
        yield from _items(inner, f"{name}.")
