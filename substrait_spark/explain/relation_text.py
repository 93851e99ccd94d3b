"""The parts of each kind of relation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from google.protobuf.message import Message
from substrait.algebra_pb2 import Rel

from ..algebra.extension_messages import Generate, Sample
from ..algebra.types import Type
from ..trampoline import Steps, done, in_turn
from .any_text import any_text
from .columns import INPUTS, ColumnNames, Name, inputs, schema_names
from .declarations import Declarations
from .derived import Derived
from .document import Column, Part, Relation
from .expression_text import ExpressionText, Scope
from .literal_text import LiteralText
from .path_text import PathText
from .text import Text, identifier, joined, pieces, plain, quoted
from .type_text import TypeText, type_with_names
from .view import View, scalar


class RelationText:
    """Lays relations out as trees of `Relation`."""

    def __init__(self, declarations: Declarations, derived: Derived, names: ColumnNames, *, verbose: bool) -> None:
        self._types = TypeText(declarations)
        self._literals = LiteralText(declarations, self._types)
        self._paths = PathText(self._literals)
        self._derived = derived
        self._names = names
        self._verbose = verbose
        self._declarations = declarations
        self.expressions = ExpressionText(
            declarations, self._types, self._literals, derived, verbose=verbose, query=self._query
        )

    def _query(self, rel: Rel, scope: Scope) -> Steps[Relation]:
        """A relation inside an expression."""
        yield self._names.add(rel)
        query: Relation = yield self.of(rel, scope)
        return query

    def of(self, rel: Rel, outer: Scope | None) -> Steps[Relation]:
        """A relation and what is below it; `outer` is where the query stands that it belongs to."""
        view = View(rel)
        kind = view.chosen("rel_type")
        if kind is None:
            return Relation("EmptyRelation", (Part("", (view.untaken(),)),), (), (), (), None, passes_columns=False)
        below = inputs(rel)
        message = View(view.take(kind))
        for field in INPUTS.get(kind, ()):
            message.take(field)
        scope = self._scope(below, outer)
        self._lend(message, kind, below, scope)
        trees = yield in_turn(self.of(input, outer) for input in below)
        parts = yield getattr(self, f"_{kind}", self._plain)(message, scope, rel)
        common, emitted = yield self._common(message)
        parts = [*parts, *common, *self._advanced(message, "advanced_extension")]
        parts.append(_part("", (message.untaken(), view.untaken())))
        columns = self._columns(rel)
        passes = len(trees) == 1 and emitted is None and columns is not None and columns == trees[0].columns
        return Relation(
            type(message.message).__name__.removesuffix("Rel"),
            tuple(part for part in parts if part.items or part.is_list),
            columns,
            tuple(trees),
            tuple(scope.queries),
            emitted,
            passes,
        )

    def _scope(self, below: Sequence[Rel], outer: Scope | None) -> Scope:
        names: list[Name] = []
        types: list[Type | None] = []
        for input in below:
            found = self._derived.columns(input)
            own = self._names.of(input)
            width = len(own) if found is None else len(found)
            names += [own[index] if index < len(own) else Name(None) for index in range(width)]
            types += [None] * width if found is None else found
        return Scope(names, types, outer)

    def _lend(self, message: View, kind: str, below: Sequence[Rel], scope: Scope) -> None:
        """Where a relation has an anchor, those inside it can refer to its rows: a lateral join's are the left's."""
        common = getattr(message.message, "common", None)
        if common is not None and common.HasField("rel_anchor"):
            lent = self._scope(below[:1], None) if kind == "lateral_join" else scope
            self.expressions.bound[common.rel_anchor] = (lent.columns, lent.types)

    def _columns(self, rel: Rel) -> tuple[Column, ...] | None:
        types, names = self._derived.columns(rel), self._names.of(rel)
        if types is None:
            return None
        pairs = zip_longest(types, names[: len(types)], fillvalue=None)
        return tuple(_column(type, name or Name(None)) for type, name in pairs)

    def _output(self, rel: Rel, scope: Scope) -> Scope:
        """A scope whose references are to the relation's own columns, before emit."""
        return scope

    # ---- what all relations have

    def _common(self, message: View) -> Steps[tuple[list[Part], tuple[int, ...] | None]]:
        common = message.take("common")
        if common is None:
            return [], None
        view = View(common)
        parts: list[Part] = []
        emitted = None
        kind = view.chosen("emit_kind")
        if kind is not None:
            chosen = View(view.take(kind))
            if kind == "emit":
                emitted = tuple(chosen.take_all("output_mapping"))
                parts.append(Part("emit", tuple(map(str, emitted)), is_list=True))
            elif self._verbose:
                parts.append(_part("direct"))
            parts.append(Part("", (chosen.untaken(),)) if chosen.untaken() else _part(""))
        anchor = view.take("rel_anchor")
        if anchor is not None:
            parts.append(_part("anchor", f"@{anchor}"))
        hint = view.take("hint")
        if hint is not None and self._verbose:
            parts.append(_part("hint", self._hint(hint)))
        parts += self._advanced(view, "advanced_extension")
        if view.untaken():
            parts.append(_part("", view.untaken()))
        return parts, emitted
        yield

    def _hint(self, message: Any) -> Text:
        view = View(message)
        shown: list[Text] = []
        if (alias := view.take("alias")) is not None:
            shown.append(f"alias {quoted(alias)}")
        if names := view.take_all("output_names"):
            shown.append(f"output_names [{', '.join(map(identifier, names))}]")
        for field in ("stats", "constraint"):
            inner = view.take(field)
            if inner is not None:
                shown.append((f"{field} ", self._fields(inner)))
        for field in ("saved_computations", "loaded_computations"):
            shown += [(f"{field} ", self._fields(inner)) for inner in view.take_all(field)]
        shown += [part_text(part) for part in self._advanced(view, "advanced_extension")]
        return ("{", joined(", ", shown), view.untaken(), "}")

    def _fields(self, message: Message) -> Text:
        """A small message as `{field: value}`."""
        view = View(message)
        shown: list[Text] = []
        for field in message.DESCRIPTOR.fields:
            if field.enum_type is not None and getattr(message, field.name):
                shown.append(f"{field.name}: {view.take_enum(field.name)}")
            elif field.message_type is None and (value := view.take(field.name)) is not None:
                shown.append(f"{field.name}: {scalar(value)}")
        shown += [part_text(part) for part in self._advanced(view, "advanced_extension")]
        return ("{", joined(", ", shown), view.untaken(), "}")

    def _advanced(self, view: View, field: str) -> list[Part]:
        message = view.take(field)
        return [] if message is None else [_part(field, advanced(message))]

    # ---- relations

    def _plain(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        """A relation with nothing of its own, or of a kind that a later release of the specification may bring."""
        return done([])

    def _read(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        schema = message.take("base_schema")
        names = tuple(schema_names(schema)) if schema is not None else ()
        types = self._derived.schema(schema) if schema is not None else ()
        over = scope.over(names, types)
        parts = yield self._source(message, over)
        selected = "projection" if rel.read.HasField("projection") else rel.read.common.WhichOneof("emit_kind")
        parts.append((yield self._schema(schema, shown=selected in ("projection", "emit"), columns=self._columns(rel))))
        for field in ("filter", "best_effort_filter"):
            parts.append((yield self._expression(field, message.take(field), over)))
        mask = message.take("projection")
        if mask is not None:
            parts.append(_part("projection", (yield self._paths.mask(mask))))
        return parts

    def _schema(
        self, message: Any, *, shown: bool, columns: tuple[Column, ...] | None, label: str = "schema"
    ) -> Steps[Part]:
        """A schema, where the relation's columns don't show it already."""
        if message is None:
            return _part(label, "none") if label == "schema" else _part("")
        view = View(message)
        struct = View(view.take("struct") or message.struct)
        names = iter(view.take_all("names"))
        items = yield self._types.fields(struct.take_all("types"), names)
        marks = self._types.marks(struct)
        left = [identifier(name) for name in names]
        rest: list[Text] = [] if not left else [f" names beyond [{', '.join(left)}]"]
        rest += [marks, struct.untaken(), view.untaken()]
        told = columns is not None and [plain(item) for item in items] == [plain(column_text(c)) for c in columns]
        if told and not shown and not any(rest):
            return _part("")
        return Part(label, (("[", joined(", ", items), "]", *rest),))

    def _source(self, message: View, scope: Scope) -> Steps[list[Part]]:
        kind = message.chosen("read_type")
        if kind is None:
            return [_part("", "of nothing")]
        view = View(message.take(kind))
        parts: list[Part] = []
        if kind == "named_table":
            parts.append(_part("", ".".join(map(identifier, view.take_all("names"))) or "unnamed table"))
        elif kind == "virtual_table":
            over = scope.over((), ())
            rows = yield in_turn(self.expressions.row(row, over) for row in view.take_all("expressions"))
            parts.append(Part("rows", tuple(rows), is_list=True))
        elif kind == "local_files":
            parts.append(Part("files", tuple(map(self._file, view.take_all("items"))), is_list=True))
        elif kind == "iceberg_table":
            parts.append(_part("iceberg", self._iceberg(view)))
        else:
            detail = view.take("detail")
            parts.append(_part("extension_table", any_text(detail) if detail is not None else "of nothing"))
        parts += self._advanced(view, "advanced_extension") if kind in ("named_table", "local_files") else []
        return [*parts, _part("", view.untaken())]

    def _file(self, message: Any) -> Text:
        view = View(message)
        path, format = view.chosen("path_type"), view.chosen("file_format")
        shown: list[Text] = [quoted(view.take(path)) if path is not None else "no path"]
        if path not in (None, "uri_file"):
            shown.append(f" {path}")
        if format == "extension":
            shown.append((" format ", any_text(view.take(format))))
        elif format is not None:
            fields = self._fields(view.take(format))
            text = plain(fields)
            shown.append(f" {format}" + ("" if text == "{}" else f" {text}"))
        for field in ("partition_index", "start", "length"):
            value = view.take(field)
            shown.append("" if value is None else f" {field} {value}")
        return (*shown, view.untaken())

    def _iceberg(self, view: View) -> Text:
        kind = view.chosen("table_type")
        if kind is None:
            return "of nothing"
        inner = View(view.take(kind))
        shown = quoted(inner.take("metadata_uri") or "")
        snapshot = inner.chosen("snapshot")
        if snapshot is not None:
            shown += f" {snapshot} {scalar(inner.take(snapshot))}"
        return (shown, inner.untaken())

    def _filter(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return [(yield self._expression("", message.take("condition"), scope, missing="no condition"))]

    def _expression(
        self, label: str, expression: Any, scope: Scope, *, missing: str = "", over_output: bool = False
    ) -> Steps[Part]:
        if expression is None:
            return _part("", missing)
        return Part(label, ((yield self.expressions.of(expression, scope)),), over_output=over_output)

    def _project(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return [Part("", (yield self.expressions.all(message.take_all("expressions"), scope)), is_list=True)]

    def _sort(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return [Part("by", (yield self.expressions.sorts(message.take_all("sorts"), scope)), is_list=True)]

    def _fetch(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return [
            (yield self._expression("offset", message.take("offset_expr"), scope)),
            (yield self._expression("count", message.take("count_expr"), scope)),
        ]

    def _top_n(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        sorts = yield self._sort(message, scope, rel)
        offset = yield self._expression("offset", message.take("offset"), scope)
        count = yield self._expression("count", message.take("count"), scope)
        mode = message.take_enum("mode")
        return [*sorts, offset, count, _part("mode", mode)]

    def _aggregate(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        keys = yield self.expressions.all(message.take_all("grouping_expressions"), scope)
        sets = [self._grouping_set(grouping) for grouping in message.take_all("groupings")]
        every = f"[{', '.join(map(str, range(len(keys))))}]"
        told = [plain(found) for found in sets] == ([every] if keys else [])
        measures = yield in_turn(self._measure(measure, scope) for measure in message.take_all("measures"))
        return [
            Part("by", keys, is_list=bool(keys)),
            _part("") if told else Part("sets", tuple(sets), is_list=True),
            Part("measures", tuple(measures), is_list=bool(measures)),
        ]

    def _grouping_set(self, message: Any) -> Text:
        view = View(message)
        return (f"[{', '.join(map(str, view.take_all('expression_references')))}]", view.untaken())

    def _measure(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        call = view.take("measure")
        shown: Text = "no_function"
        if call is not None:
            inner = View(call)
            shown = ((yield self.expressions.call(inner, scope)), inner.untaken())
        condition = view.take("filter")
        where = (" filter ", (yield self.expressions.of(condition, scope))) if condition is not None else ""
        return (shown, where, view.untaken())

    def _expand(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        fields: list[Text] = []
        for field in message.take_all("fields"):
            view = View(field)
            kind = view.chosen("field_type")
            shown: Text = "empty_field"
            if kind == "consistent_field":
                shown = yield self.expressions.of(view.take(kind), scope)
            elif kind == "switching_field":
                inner = View(view.take(kind))
                duplicates = yield self.expressions.all(inner.take_all("duplicates"), scope)
                shown = ("switch(", joined(", ", duplicates), ")", inner.untaken())
            fields.append((shown, view.untaken()))
        return [Part("", tuple(fields), is_list=True)]

    def _window(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        calls: list[Text] = []
        for call in message.take_all("window_functions"):
            view = View(call)
            shown = yield self.expressions.call(view, scope)
            calls.append((shown, " over (", (yield self.expressions.frame(view, scope)), ")", view.untaken()))
        keys = yield self.expressions.all(message.take_all("partition_expressions"), scope)
        sorts = yield self.expressions.sorts(message.take_all("sorts"), scope)
        return [
            Part("", tuple(calls), is_list=True),
            Part("partition by", keys, is_list=bool(keys)),
            Part("order by", sorts, is_list=bool(sorts)),
        ]

    def _join(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return [
            _part("", message.take_enum("type")),
            (yield self._expression("on", message.take("expression"), scope, missing="no condition")),
            (yield self._post_join_filter(message, scope, rel)),
        ]

    def _post_join_filter(self, message: View, scope: Scope, rel: Rel) -> Steps[Part]:
        own = self._output(rel, scope)
        return self._expression("post_join_filter", message.take("post_join_filter"), own, over_output=True)

    _lateral_join = _join
    _nested_loop_join = _join

    def _hash_join(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        parts = [_part("", message.take_enum("type"))]
        left = self._scope(inputs(rel)[:1], scope.outer)
        right = self._scope(inputs(rel)[1:], scope.outer)
        keys = yield in_turn(self._key(View(key), left, right) for key in message.take_all("keys"))
        parts.append(Part("on", tuple(keys), is_list=True))
        parts.append((yield self._expression("residual", message.take("residual_expression"), scope)))
        parts.append((yield self._post_join_filter(message, scope, rel)))
        return parts

    def _key(self, view: View, left: Scope, right: Scope) -> Steps[Text]:
        sides: list[Text] = []
        for field, scope in (("left", left), ("right", right)):
            reference = view.take(field)
            known = reference is not None
            sides.append(
                (f"{field}.", (yield self.expressions.reference(reference, scope))) if known else f"no {field}"
            )
        comparison = view.take("comparison")
        how = ""
        if comparison is not None:
            inner = View(comparison)
            kind = inner.chosen("inner_type")
            how = " UNSPECIFIED " if kind is None else f" {inner.take_enum(kind)} " if kind == "simple" else ""
            if kind == "custom_function_reference":
                how = f" {self._declarations.function(inner.take(kind))} "
            rest = inner.untaken()
        return (sides[0], how or " UNSPECIFIED ", sides[1], rest if comparison is not None else "", view.untaken())

    def _merge_join(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return self._hash_join(message, scope, rel)

    def _set(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return done([_part("", message.take_enum("op"))])

    def _reference(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return done([_part("", f"relation {message.take('subtree_ordinal') or 0}")])

    def _exchange(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        parts: list[Part] = []
        kind = message.chosen("exchange_kind")
        if kind is not None:
            parts.append((yield self._exchange_kind(kind, View(message.take(kind)), scope)))
        count = message.take("partition_count")
        if count is not None:
            parts.append(_part("partition_count", str(count)))
        targets = tuple(map(self._target, message.take_all("targets")))
        return [*parts, Part("targets", targets, is_list=bool(targets))]

    def _exchange_kind(self, kind: str, view: View, scope: Scope) -> Steps[Part]:
        fields = view.take_all("fields")
        shown: list[Text] = yield in_turn(self.expressions.reference(field, scope) for field in fields)
        expression = view.take("expression")
        if expression is not None:
            shown.append((yield self.expressions.of(expression, scope)))
        shown += [flag for flag in ("exact", "constrained_to_count") if view.take(flag)]
        return _part(kind, (joined(", ", shown), view.untaken()))

    def _target(self, message: Any) -> Text:
        view = View(message)
        kind = view.chosen("target_type")
        value: Any = view.take(kind) if kind is not None else None
        shown = any_text(value) if kind == "extended" else quoted(value) if kind == "uri" else "nowhere"
        ids = ", ".join(map(str, view.take_all("partition_id")))
        return (f"[{ids}] to ", shown, view.untaken())

    # ---- writes

    def _write(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        parts = [_part("", message.take_enum("op")), *self._object(message)]
        parts.append(_part("create_mode", _stated(message.take_enum("create_mode"))))
        parts.append(_part("output", message.take_enum("output")))
        parts.append((yield self._schema(message.take("table_schema"), shown=True, columns=None)))
        return parts

    def _ddl(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        parts = [_part("", f"{message.take_enum('op')} {message.take_enum('object')}"), *self._object(message)]
        parts.append((yield self._schema(message.take("table_schema"), shown=True, columns=None)))
        defaults = message.take("table_defaults")
        if defaults is not None:
            parts.append(_part("defaults", (yield self._literals.struct(defaults))))
        return parts

    def _object(self, message: View) -> list[Part]:
        kind = message.chosen("write_type")
        if kind is None:
            return [_part("", "of nothing")]
        view = View(message.take(kind))
        if kind in ("named_table", "named_object"):
            name = ".".join(map(identifier, view.take_all("names"))) or "unnamed"
            return [_part("", name), *self._advanced(view, "advanced_extension"), _part("", view.untaken())]
        detail = view.take("detail")
        return [_part(kind, any_text(detail) if detail is not None else "of nothing"), _part("", view.untaken())]

    def _update(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        parts: list[Part] = []
        kind = message.chosen("update_type")
        if kind is not None:
            view = View(message.take(kind))
            parts.append(_part("", ".".join(map(identifier, view.take_all("names"))) or "unnamed table"))
            parts += [*self._advanced(view, "advanced_extension"), _part("", view.untaken())]
        schema = message.take("table_schema")
        names = tuple(schema_names(schema)) if schema is not None else ()
        over = scope.over(names, self._derived.schema(schema) if schema is not None else ())
        changes: list[Text] = []
        for change in message.take_all("transformations"):
            view = View(change)
            target = view.take("column_target") or 0
            name = f":{identifier(names[target].name or '')}" if 0 <= target < len(names) else ""
            value = view.take("transformation")
            shown = (yield self.expressions.of(value, over)) if value is not None else "nothing"
            changes.append((f"${target}{name} = ", shown, view.untaken()))
        parts.append(Part("set", tuple(changes), is_list=True))
        parts.append((yield self._expression("where", message.take("condition"), over)))
        parts.append((yield self._schema(schema, shown=True, columns=None)))
        return parts

    # ---- extensions

    def _extension_single(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        detail = message.take("detail")
        if detail is None:
            return [_part("", "of nothing")]
        unpacked = self._derived.detail(detail)
        if isinstance(unpacked, Generate):
            view = View(unpacked)
            shown = yield self._expression("rows", view.take("rows"), scope, missing="no rows")
            flags = [_part(flag) for flag in ("outer", "whole_elements", "with_position") if view.take(flag)]
            return [_part("substrait_spark.Generate"), shown, *flags, _part("", view.untaken())]
        if isinstance(unpacked, Sample):
            return [_part("substrait_spark.Sample", self._fields(unpacked))]
        return [_part("", any_text(detail))]

    _extension_multi = _extension_single
    _extension_leaf = _extension_single


def _part(label: str, item: Text = "") -> Part:
    """A part of one item; none where both are empty."""
    if any(pieces(item)):
        return Part(label, (item,))
    return Part("", (label,)) if label else Part("", ())


def _stated(name: str) -> str:
    return "" if name == "UNSPECIFIED" else name


def _column(type: Type | None, name: Name) -> Column:
    return Column(name.name, "unknown" if type is None else type_with_names(type, name.inner))


def column_text(column: Column, ordinal: int = 0) -> Text:
    return (f"${ordinal}" if column.name is None else identifier(column.name), ": ", column.type)


def part_text(part: Part) -> Text:
    """A part as it stands in the line."""
    items: Text = ("[", joined(", ", part.items), "]") if part.is_list else joined(" ", part.items)
    return (part.label, " " if part.label and (part.items or part.is_list) else "", items)


def advanced(message: Any) -> Text:
    """An advanced extension's text."""
    view = View(message)
    shown: list[Text] = [("optimization ", any_text(each)) for each in view.take_all("optimization")]
    enhancement = view.take("enhancement")
    if enhancement is not None:
        shown.append(("enhancement ", any_text(enhancement)))
    return ("{", joined(", ", shown), view.untaken(), "}")
