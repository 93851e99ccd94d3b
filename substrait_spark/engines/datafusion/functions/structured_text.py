"""Functions on JSON, which Python computes (engines/arrow/functions/)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ....algebra import types
from ....algebra.expression import Expression, Literal, ScalarFunction
from ....algebra.types import INTEGERS, Type
from ....dialects.rewrite import rewrites
from ....errors import NotInDialect, Unsupported
from ....lowering.builder import LoweringBuilder
from ...type_text import field_names
from ..defects.struct_names import Names, own_names, parts
from .by_value import by_value, require_zone
from .datetime_format import reading, require_written

PARTS = ("struct", "list", "map")

PATTERNS = {
    "date": "dateformat",
    "precision_timestamp": "timestampntzformat",
    "precision_timestamp_tz": "timestampformat",
}
"""The types of times, and the options in lower case with the patterns that they are read and written by."""

READ = (*INTEGERS, *PATTERNS, "boolean", "decimal", "fp32", "fp64", "string")
WRITTEN = (*INTEGERS, *PATTERNS, "binary", "boolean", "decimal", "fp64", "string")
KEYS = (*INTEGERS, "boolean", "string")
"""Types without parts that JSON is read as, those that are written, and those of the keys of maps."""

OF_TIMES = (*PATTERNS.values(), "timezone", "enabledatetimeparsingfallback")
"""Options that say nothing of other types than times."""

SWITCHES = {
    "allowsinglequotes": "single_quotes",
    "allowunquotedcontrolchars": "control_characters",
    "allownumericleadingzeros": "leading_zeros",
    "allownonnumericnumbers": "non_numeric_numbers",
    "allowbackslashescapinganycharacter": "any_escape",
}
"""Options by which more is read, in lower case, and what `engines/arrow/functions/jackson.py` calls them."""

READING = (*SWITCHES, *OF_TIMES, "columnnameofcorruptrecord", "mode")
WRITING = (*OF_TIMES, "ignorenullfields")
"""Options in lower case that are known, of from_json and of to_json."""


def from_json(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Without the null that says the type."""
    text, _, schema, zone, *pairs = call.children()
    options = _options(pairs, READING)
    _require(e, call.type, READ, ("string",))
    for kind, pattern in _patterns(call.type, options):
        if reading(pattern).offset is not None and kind == "precision_timestamp":
            raise NotInDialect(f"Spark reads no offset by the pattern {pattern!r} of a timestamp without a time zone")
    names = field_names(_text(schema))
    _require_distinct(call.type, tuple(names))
    mode = options.get("mode", "PERMISSIVE").upper()
    function = {"PERMISSIVE": "spark_from_json", "FAILFAST": "spark_from_json_or_fail"}.get(mode)
    if function is None:
        raise NotInDialect(f"the mode {mode} has no form")
    return e.call_as(call.type, f"arrow:{function}", text, schema, _zone(call.type, zone, options), *pairs)


def to_json(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    value, schema, zone, *pairs = call.children()
    options = _options(pairs, WRITING)
    _require(e, value.type, WRITTEN, KEYS)
    for kind, pattern in _patterns(value.type, options):
        require_written(pattern, kind)
    return e.call("arrow:spark_to_json", value, schema, _zone(value.type, zone, options), *pairs)


def _patterns(type: Type, options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The kinds of times in a type whose patterns are given, and these."""
    for kind, option in PATTERNS.items():
        if option in options and types.holds(type, (kind,)):
            yield kind, options[option]


def _zone(type: Type, given: Expression, options: Mapping[str, str]) -> Expression:
    """The time zone of instants. Raises NotInDialect where its rules are others than Java's."""
    if "timezone" in options:
        given = Literal(options["timezone"], given.type)
    if types.holds(type, ("precision_timestamp_tz",)):
        require_zone(_text(given))
    return given


def _require_distinct(type: Type, names: Names) -> None:
    """Refuse structs of which a name doesn't tell the field."""
    if type.kind == "struct":
        own = [name.lower() for name in own_names(type, names) if name]
        if len(set(own)) < len(type.parameters):
            raise NotInDialect("two fields of a struct have the same name, or one has none")
    if type.kind in PARTS:
        for part, inside in zip(type.parameters, parts(type, names), strict=True):
            _require_distinct(part, inside)


def by_lower_name(pairs: Sequence[str]) -> dict[str, str]:
    """Options by their names in lower case, of names and values that take turns."""
    return dict(zip(map(str.lower, pairs[::2]), pairs[1::2], strict=True))


def _options(pairs: Sequence[Expression], known: Sequence[str]) -> Mapping[str, str]:
    """The options of a call by their names in lower case. Raises NotInDialect for others than the known ones."""
    found = by_lower_name(list(map(_text, pairs)))
    unknown = sorted(set(found) - set(known))
    if unknown:
        raise NotInDialect(f"the option {unknown[0]} of JSON has no form")
    return found


def _text(value: Expression) -> str:
    if not isinstance(value, Literal):
        raise NotInDialect("an option or a schema is no literal")
    return str(value.value)


def _require(e: LoweringBuilder, type: Type, values: Sequence[str], keys: Sequence[str]) -> None:
    """Refuse types that JSON has no exact form of."""
    if type.kind == "map" and type.parameters[0].kind in ("struct", "list", "map"):
        # SELECT to_json(map(struct(x), 1)): Java's name of the row and its address in memory.
        raise Unsupported("Spark writes a key of JSON that is no plain value as what Java calls it in memory")
    if type.kind == "map" and type.parameters[0].kind not in keys:
        raise NotInDialect(f"the dialect {e.dialect.name} has no {type.parameters[0]} as keys of JSON")
    if type.kind not in (*values, *PARTS) or (type.kind in PATTERNS and type.parameters not in ((), (6,))):
        raise NotInDialect(
            f"the dialect {e.dialect.name} reads and writes no {types.required(type)} in JSON",
            "Read it as a string and cast that, or cast it to a string before it is written.",
        )
    for part in type.parameters if type.kind in PARTS else ():
        _require(e, part, values, keys)


BY_VALUE = ("get_json_object", "json_array_length", "json_object_keys", "json_tuple")

REWRITES = rewrites(
    {
        **{f"spark:{name}": by_value for name in BY_VALUE},
        "spark:from_json": from_json,
        "spark:to_json": to_json,
    }
)
