"""Plans that were valid until something in them changed: whatever reads them answers, or says in an error of ours why not."""

from __future__ import annotations

import json
import random
import resource
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from substrait.algebra_pb2 import Expression, ReadRel, Rel
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan
from test_document import QUERIES, emitted, recorded

from substrait_spark import SubstraitSparkError, diff, explain, lower, to_dot, to_html, to_mermaid
from substrait_spark.algebra import types
from substrait_spark.algebra.expression import FieldReference, Literal, SortField
from substrait_spark.algebra.message_walk import messages
from substrait_spark.algebra.relation import (
    File,
    Generate,
    LocalFiles,
    NamedTable,
    Relation,
    Sample,
    Sort,
    SparkFiles,
)
from substrait_spark.algebra.type_messages import declared_types
from substrait_spark.algebra.write import Behavior, Ddl, Storage, Target, Write
from substrait_spark.catalyst.tree import Document
from substrait_spark.context import SWITCHES, Context, Settings
from substrait_spark.conversion import emit_text
from substrait_spark.dialects.file import load
from substrait_spark.engines import datafusion
from substrait_spark.engines.arrow.schema import arrow_schema
from substrait_spark.plan.message import build
from substrait_spark.plan.parameters import declare
from substrait_spark.plan.type_aliases import without_aliases
from substrait_spark.reading.literal import read_literal
from substrait_spark.testing import structural_problems
from substrait_spark.testing.conformance import departures

SECONDS = 2
MEMORY = 500_000
"""Kilobytes by which the process may grow over all mutants."""

PRODUCERS = Path(__file__).parent.parent / "producers"
CHANGES = 3
"""How many changes a mutant has at most."""


Planned = Plan | ExtendedExpression


class Valid(NamedTuple):
    """A valid plan, and rows for the tables that it reads; or valid expressions by themselves."""

    name: str
    plan: Planned
    tables: dict[str, pa.Table]


class Failure(NamedTuple):
    """What went wrong with a mutant: what was asked, and what came of it in place of an answer or an error of ours."""

    seed: int
    name: str
    asked: str
    outcome: str
    plan: Planned


def valid_plans() -> list[Valid]:
    """Plans of several producers, canonical and lowered."""
    found = [(path.stem, Plan.FromString(path.read_bytes())) for path in sorted(PRODUCERS.glob("*/*.plan"))]
    for name in QUERIES:
        for dialect in (None, "datafusion"):
            plan = emitted(recorded(name), dialect)
            assert plan is not None
            found.append((f"{name} {dialect}", plan))
    for name, plan in list(found):
        try:
            found.append((f"{name} lowered", lower(plan, "datafusion")))
        except SubstraitSparkError:
            continue
    return [Valid(name, plan, _tables(plan)) for name, plan in found]


def with_all_messages() -> list[Valid]:
    """Plans with what plans have by option, of other sources and types, and for writes; and expressions by themselves."""
    found: list[tuple[str, Plan]] = []
    for name in QUERIES:
        found += [(f"{name} {switch}", _emitted(name, Context(_with(switch)))) for switch in SWITCHES]
        plain, written, viewed = (
            _emitted(name, Context(Settings(load(None)), write_root=finish)) for finish in FINISHES
        )
        found += [
            (f"{name} written", written),
            (f"{name} viewed", viewed),
            (f"{name} parameters", _with_parameters(plain)),
        ]
    own = [(each.NAME, build(each, [f"c{n}" for n in range(len(each.types))])) for each in RELATIONS]
    expressions = [_expressions_of(plan) for _, plan in (*found, *own)]
    return [
        *(Valid(name, plan, _tables(plan)) for name, plan in found),
        *(Valid(name, plan, {}) for name, plan in own),
        *(Valid(f"expressions {n}", message, {}) for n, message in enumerate(expressions) if message.referred_expr),
    ]


def _with(switch: str) -> Settings:
    asked: dict[str, Any] = {switch: True}
    return Settings(load(None), inline_limit=100, **asked)


def _emitted(name: str, context: Context) -> Plan:
    plan = emit_text(context, lambda: json.dumps(recorded(name)))
    assert plan is not None, context.problems
    return plan


def _written(relation: Relation, names: Sequence[str], document: Document) -> Relation:
    target = Target(("t",), Storage("csv", "file:///t", (("sep", "|"),), comment="c"), Behavior(True, (("k", "1"),)))
    return Write(relation, names, "CTAS", "ERROR", target)


def _viewed(relation: Relation, names: Sequence[str], document: Document) -> Relation:
    return Ddl(
        "VIEW", "CREATE", Target(("v",), behavior=Behavior(temporary="session")), names, relation.types, relation
    )


FINISHES = (None, _written, _viewed)


def _with_parameters(plan: Plan) -> Plan:
    """The plan with a parameter in the place of each number and text, which is bound to it."""
    values: dict[str, Literal] = {}
    for message in list(messages(plan)):
        if isinstance(message, Expression) and message.literal.WhichOneof("literal_type") in ("i32", "i64", "string"):
            value = read_literal(message.literal, declared_types(plan))
            values[f"p{len(values)}"] = value
            parameter = message.dynamic_parameter
            parameter.parameter_reference = len(values)
            types.write(value.type, parameter.type)
    declare(plan, [*values], values)
    return plan


def _expressions_of(plan: Plan) -> ExtendedExpression:
    """The expressions and measures of a plan's relations that are right above a table, which is then the schema."""
    found = ExtendedExpression(version=plan.version, extension_urns=plan.extension_urns, extensions=plan.extensions)
    for message in messages(plan):
        if isinstance(message, Rel) and message.WhichOneof("rel_type") in ("filter", "project", "aggregate"):
            relation = getattr(message, str(message.WhichOneof("rel_type")))
            if relation.input.HasField("read") and not found.referred_expr:
                found.base_schema.CopyFrom(relation.input.read.base_schema)
                for expression in [*getattr(relation, "expressions", ()), *_condition(relation)]:
                    found.referred_expr.add(expression=expression, output_names=["c"])
                for measure in getattr(relation, "measures", ()):
                    found.referred_expr.add(measure=measure.measure, output_names=["c"])
    return found


def _condition(relation: Any) -> list[Expression]:
    return [relation.condition] if relation.DESCRIPTOR.name == "FilterRel" else []


I64 = types.of("i64")
OWN_TYPES = (types.of("u!variant"), types.nullable(types.of("u!collated_string", "UTF8_LCASE")), I64)
OF_OWN_TYPES = NamedTable(["t"], ["c0", "c1", "c2"], OWN_TYPES)

RELATIONS: tuple[Relation, ...] = (
    Sort(OF_OWN_TYPES, [SortField(FieldReference(1, OWN_TYPES[1]), ascending=True, nulls_first=False)]),
    Generate(OF_OWN_TYPES, Literal((1, 2), types.of("list", I64)), outer=True, whole=True, with_position=True),
    Sample(OF_OWN_TYPES, 0.0, 0.5, replacement=False, seed=1),
    LocalFiles([File("file:///t.json", 1)], SparkFiles("json", (("mode", "FAILFAST"),)), ["a"], [types.nullable(I64)]),
)
"""What no recorded query has: types, extension relations and formats of ours."""


def _tables(plan: Plan) -> dict[str, pa.Table]:
    """Rows for each table of a plan, whose reads of files become reads of tables."""
    found: dict[str, pa.Table] = {}
    for read, whole in zip(_reads(plan), _reads(without_aliases(plan)), strict=True):
        if read.WhichOneof("read_type") in ("local_files", "named_table"):
            if read.HasField("local_files"):
                read.named_table.names.append("files")
            schema = arrow_schema(whole.base_schema)
            found[".".join(read.named_table.names)] = pa.table([_column(field.type) for field in schema], schema)
    return found


def _reads(plan: Plan) -> list[ReadRel]:
    return [message for message in messages(plan) if isinstance(message, ReadRel)]


def _column(kind: pa.DataType) -> pa.Array:
    if pa.types.is_nested(kind):
        return pa.nulls(2, kind)
    texts = pa.types.is_string(kind) or pa.types.is_binary(kind)
    between = pa.int32() if pa.types.is_date(kind) else pa.string() if pa.types.is_decimal(kind) else kind
    return pa.array(["a", "b"] if texts else [0, 1]).cast(between).cast(kind)


# ---- changes

_NUMBERS = (0, 1, -1, 2, 7, 99, 127, 128, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63))
_TEXTS = ("", "x", "a b", "\x1b[2J\n", "\u202e", "x" * 2000, "lt:any_any", "sum", "file:///etc/passwd", "add:i64_i64")
_BYTES = (b"", b"\0", b"\xff" * 16, b"x" * 300)


def mutant(valid: Planned, others: list[Valid], chance: random.Random) -> Planned | None:
    """A plan with some changes; None where it is none any more."""
    plan = type(valid).FromString(valid.SerializeToString())
    for _ in range(chance.randint(1, CHANGES)):
        if chance.random() < 0.1:
            changed = _with_other_bytes(plan, chance)
            if changed is None:
                return None
            plan = changed
            continue
        found = [message for message in messages(plan) if message.DESCRIPTOR.fields]
        chance.choice(_CHANGES)(chance.choice(found), others, chance)
    try:
        return type(valid).FromString(plan.SerializeToString())
    except DecodeError:
        return None


def _with_other_bytes(plan: Planned, chance: random.Random) -> Planned | None:
    content = bytearray(plan.SerializeToString())
    place = chance.randrange(len(content) + 1)
    width = chance.choice((0, 1, 1, 4))
    content[place : place + width] = chance.randbytes(chance.choice((0, 1, 1, 4)))
    try:
        return type(plan).FromString(bytes(content))
    except DecodeError:
        return None


def _clear(message: Message, others: list[Valid], chance: random.Random) -> None:
    populated = [field.name for field, _ in message.ListFields()]
    if populated:
        message.ClearField(chance.choice(populated))


def _set(message: Message, others: list[Valid], chance: random.Random) -> None:
    fields: list[Any] = [field for field in message.DESCRIPTOR.fields if field.message_type is None]
    if not fields:
        return
    field = chance.choice(fields)
    value = _value(field, chance)
    if field.is_repeated:
        values = getattr(message, field.name)
        if len(values) and chance.random() < 0.7:
            values[chance.randrange(len(values))] = value
        else:
            values.append(value)
    else:
        setattr(message, field.name, value)


def _value(field: Any, chance: random.Random) -> Any:
    if field.type == FieldDescriptor.TYPE_BOOL:
        return chance.random() < 0.5
    if field.type == FieldDescriptor.TYPE_STRING:
        return chance.choice(_TEXTS)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return chance.choice(_BYTES)
    if field.type in (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT):
        return chance.choice((0.0, -0.0, float("nan"), float("inf"), 1e300))
    if field.enum_type is not None:
        return chance.choice([*(value.number for value in field.enum_type.values), 99])
    wide = field.type in (FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_SINT64)
    signed = field.type not in (FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_UINT64)
    bits = 64 if wide else 32
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if signed else (0, 2**bits)
    return chance.choice([number for number in _NUMBERS if low <= number < high])


def _begin(message: Message, others: list[Valid], chance: random.Random) -> None:
    """Populate a field with an empty message."""
    fields: list[Any] = [field for field in message.DESCRIPTOR.fields if field.message_type is not None]
    if fields:
        field = chance.choice(fields)
        inner = getattr(message, field.name)
        (inner.add() if field.is_repeated else inner).SetInParent()


def _graft(message: Message, others: list[Valid], chance: random.Random) -> None:
    """Put a message of the same kind in the place of another."""
    same = [
        other
        for other in messages(chance.choice(others).plan)
        if other.DESCRIPTOR.full_name == message.DESCRIPTOR.full_name
    ]
    if same and not isinstance(message, Planned):
        message.CopyFrom(chance.choice(same))


def _reorder(message: Message, others: list[Valid], chance: random.Random) -> None:
    """Leave out an entry of a repeated field, or repeat it somewhere else."""
    fields: list[Any] = [field for field, _ in message.ListFields() if field.is_repeated]
    if not fields:
        return
    values = getattr(message, chance.choice(fields).name)
    entry = values[chance.randrange(len(values))]
    kept = type(entry).FromString(entry.SerializeToString()) if isinstance(entry, Message) else entry
    if chance.random() < 0.5:
        del values[chance.randrange(len(values))]
    else:
        values.insert(chance.randrange(len(values) + 1), kept)


_CHANGES: tuple[Callable[[Message, list[Valid], random.Random], None], ...] = (_clear, _set, _begin, _graft, _reorder)


# ---- what is asked of them

DIALECT = load("datafusion")
PYARROW = load("pyarrow")

ASKED: dict[str, Callable[[Any, Valid], Any]] = {
    "explain": lambda plan, valid: explain(plan, verbose=True),
    "diff": lambda plan, valid: diff(valid.plan, plan),
    "to_html": lambda plan, valid: to_html(plan),
    "to_mermaid": lambda plan, valid: to_mermaid(plan),
    "to_dot": lambda plan, valid: to_dot(plan),
    "structural_problems": lambda plan, valid: structural_problems(plan),
    "departures": lambda plan, valid: departures(plan, DIALECT),
    "lower": lambda plan, valid: lower(plan, DIALECT),
    "execute": lambda plan, valid: datafusion.execute(plan, tables=valid.tables, files_under=[]),
}


EXPRESSIONS_ASKED: dict[str, Callable[[Any, Valid], Any]] = {
    **{asked: ASKED[asked] for asked in ("explain", "diff", "to_html", "to_mermaid", "to_dot", "structural_problems")},
    "lower": lambda message, valid: lower(message, PYARROW),
}
"""What is asked of expressions by themselves."""


def asked_of(plan: Planned) -> dict[str, Callable[[Any, Valid], Any]]:
    """What is asked of a plan, or of expressions."""
    return ASKED if isinstance(plan, Plan) else EXPRESSIONS_ASKED


def of_seed(seed: int, valid: list[Valid]) -> tuple[Valid, Planned | None]:
    """A valid plan, and the mutant of it that a seed makes."""
    chance = random.Random(seed)
    chosen = chance.choice(valid)
    return chosen, mutant(chosen.plan, valid, chance)


CORPORA: dict[str, Callable[[], list[Valid]]] = {
    "producers": cache(valid_plans),
    "all messages": cache(with_all_messages),
}
"""The plans that mutants are made of: a seed makes one of each corpus."""


def failures(first: int, count: int, corpora: Sequence[str] = tuple(CORPORA)) -> Iterator[Failure]:
    """What goes wrong with the mutants of so many seeds."""
    for seed in range(first, first + count):
        for corpus in corpora:
            chosen, plan = of_seed(seed, CORPORA[corpus]())
            if plan is None:
                continue
            for asked in asked_of(plan):
                outcome = _outcome(asked, plan, chosen)
                if outcome:
                    yield Failure(seed, chosen.name, asked, outcome, plan)


def _outcome(asked: str, plan: Any, valid: Valid) -> str:
    """What is wrong with an answer; nothing where it is one in time."""
    started, used = time.monotonic(), time.process_time()
    try:
        asked_of(plan)[asked](plan, valid)
    except SubstraitSparkError:
        pass
    except Exception as error:  # noqa: BLE001 - these are what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:150]} ({Path(where.filename).name}:{where.lineno})"
    # What others do on the machine at the time counts for nothing.
    taken = min(time.monotonic() - started, time.process_time() - used)
    return f"took {taken:.1f} s" if taken > SECONDS else ""


def grown() -> int:
    """How much memory the process has needed at most, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
