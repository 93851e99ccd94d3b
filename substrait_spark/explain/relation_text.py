"""The parts of each kind of relation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from substrait.algebra_pb2 import Rel

from ..algebra.extension_messages import (
    unpacked_format,
    unpacked_table,
)
from ..algebra.trampoline import Steps, done, in_turn
from ..algebra.types import Type
from ..algebra.write import CLAUSES
from ..errors.quotation import identifier, quoted
from .any_text import any_text
from .columns import INPUTS, UNNAMED, ColumnNames, Item, Name, Origin, Source, emit, inputs, schema_names, sources
from .common_text import common
from .declarations import Declarations
from .derived import Derived
from .document import Column, Part, Relation
from .expression_text import ExpressionText, Scope
from .literal_text import LiteralText
from .parts import advanced, column_text, fields, list_part, part
from .path_text import PathText
from .text import Text, joined, plain
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
            left = part("", view.untaken())
            return Relation("EmptyRelation", (left,) if left.items else (), (), (), (), (), None, passes_columns=False)
        below = inputs(rel)
        message = View(view.take(kind))
        for field in INPUTS.get(kind, ()):
            message.take(field)
        scope = self._scope(below, outer)
        self._lend(message, kind, below, scope)
        trees = yield in_turn(self.of(input, outer) for input in below)
        parts = yield getattr(self, f"_{kind}", self._plain)(message, scope, rel)
        shared = common(message, verbose=self._verbose)
        parts += [*shared.parts, *advanced(message), part("", (message.untaken(), view.untaken()))]
        columns = self._columns(rel)
        return Relation(
            type(message.message).__name__.removesuffix("Rel"),
            tuple(part for part in parts if part.items or part.opening),
            columns,
            self._sources(rel, below),
            tuple(trees),
            tuple(scope.queries),
            shared.anchor,
            passes_columns=len(trees) == 1 and columns is not None and columns == trees[0].columns,
        )

    def _sources(self, rel: Rel, below: Sequence[Rel]) -> tuple[Source, ...]:
        """Where each output column comes from."""
        direct = self._direct(rel, below)
        types = self._derived.columns(rel)
        width = len(direct) if types is None else max(len(types), len(direct))
        return tuple(
            direct[ordinal] if 0 <= ordinal < len(direct) else Item("more", ordinal) for ordinal in emit(rel, width)
        )

    def _direct(self, rel: Rel, below: Sequence[Rel]) -> Sequence[Source]:
        """Where each column comes from that there is before emit."""
        return sources(rel, [len(self._scope([input], None).columns) for input in below])

    def _scope(self, below: Sequence[Rel], outer: Scope | None) -> Scope:
        names: list[Name] = []
        types: list[Type | None] = []
        for input in below:
            derived = self._derived.columns(input)
            own = self._names.of(input)
            width = len(own) if derived is None else len(derived)
            names += [own[index] if index < len(own) else UNNAMED for index in range(width)]
            types += [None] * width if derived is None else derived
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
        return tuple(_column(type, name or UNNAMED) for type, name in pairs)

    def _output(self, rel: Rel, scope: Scope) -> Scope:
        """A scope whose references are to the relation's own columns, before emit."""
        below = [self._scope([input], None) for input in inputs(rel)]
        names: list[Name] = []
        types: list[Type | None] = []
        for source in self._direct(rel, inputs(rel)):
            column: tuple[Name, Type | None] = (UNNAMED, None)
            if isinstance(source, Origin):
                side = below[source.input]
                column = (side.columns[source.ordinal], side.types[source.ordinal])
            names.append(column[0])
            types.append(column[1])
        return scope.over(names, types)

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
        parts.append((yield self.schema(schema, shown=selected in ("projection", "emit"), columns=self._columns(rel))))
        for field in ("filter", "best_effort_filter"):
            parts.append((yield self._expression(field, message.take(field), over)))
        mask = message.take("projection")
        if mask is not None:
            parts.append(part("projection", (yield self._paths.mask(mask))))
        return parts

    def schema(self, message: Any, *, shown: bool, columns: tuple[Column, ...] | None) -> Steps[Part]:
        """A schema, where the relation's columns don't show it already."""
        if message is None:
            return part("schema", "none")
        view = View(message)
        struct = View(view.take("struct") or message.struct)
        names = iter(view.take_all("names"))
        items = yield self._types.fields(struct.take_all("types"), names)
        marks = self._types.marks(struct)
        left = [identifier(name) for name in names]
        rest: list[Text] = [] if not left else [f" names beyond [{', '.join(left)}]"]
        rest += [marks, struct.untaken(), view.untaken()]
        told = columns is not None and list(map(plain, items)) == [plain(column_text(column, -1)) for column in columns]
        if told and not shown and not any(rest):
            return part("", "")
        return Part("schema", (("[", joined(", ", items), "]", *rest),))

    def _source(self, message: View, scope: Scope) -> Steps[list[Part]]:
        kind = message.chosen("read_type")
        if kind is None:
            return [part("", "of nothing")]
        view = View(message.take(kind))
        parts: list[Part] = []
        if kind == "named_table":
            parts.append(part("", ".".join(map(identifier, view.take_all("names"))) or "unnamed table"))
        elif kind == "virtual_table":
            over = scope.over((), ())
            rows = yield in_turn(self.expressions.row(row, over) for row in view.take_all("expressions"))
            parts.append(list_part("rows", tuple(rows), empty=True))
        elif kind == "local_files":
            parts.append(list_part("files", tuple(map(self._file, view.take_all("items"))), empty=True))
        elif kind == "iceberg_table":
            parts.append(part("iceberg", self._iceberg(view)))
        else:
            parts.append(part("extension_table", _table(view.take("detail"))))
        parts += advanced(view) if kind in ("named_table", "local_files") else []
        return [*parts, part("", view.untaken())]

    def _file(self, message: Any) -> Text:
        view = View(message)
        path, format = view.chosen("path_type"), view.chosen("file_format")
        shown: list[Text] = [quoted(view.take(path)) if path is not None else "no path"]
        if path not in (None, "uri_file"):
            shown.append(f" {path}")
        if format == "extension":
            extension = view.take(format)
            ours = unpacked_format(extension)
            said = any_text(extension) if ours is None else ("substrait_spark.SparkFiles ", fields(ours))
            shown.append((" format ", said))
        elif format is not None:
            options = plain(fields(view.take(format)))
            shown.append(f" {format}" + ("" if options == "{}" else f" {options}"))
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
            return part("", missing)
        opening, items, closing = yield self.expressions.conjunction(expression, scope)
        return Part(label, items, opening, closing, over_output=over_output)

    def _project(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return [list_part("", (yield self.expressions.all(message.take_all("expressions"), scope)), empty=True)]

    def _sort(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return [list_part("by", (yield self.expressions.sorts(message.take_all("sorts"), scope)), empty=True)]

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
        return [*sorts, offset, count, part("mode", mode)]

    def _aggregate(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        keys = yield self.expressions.all(message.take_all("grouping_expressions"), scope)
        sets = [self._grouping_set(grouping) for grouping in message.take_all("groupings")]
        every = f"[{', '.join(map(str, range(len(keys))))}]"
        told = [plain(grouping_set) for grouping_set in sets] == ([every] if keys else [])
        measures = yield in_turn(self._measure(measure, scope) for measure in message.take_all("measures"))
        return [
            list_part("by", keys),
            part("", "") if told else list_part("sets", tuple(sets), empty=True),
            list_part("measures", tuple(measures)),
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
        return [list_part("", tuple(fields), empty=True)]

    def _window(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        calls: list[Text] = []
        for call in message.take_all("window_functions"):
            view = View(call)
            shown = yield self.expressions.call(view, scope)
            calls.append((shown, " over (", (yield self.expressions.frame(view, scope)), ")", view.untaken()))
        keys = yield self.expressions.all(message.take_all("partition_expressions"), scope)
        sorts = yield self.expressions.sorts(message.take_all("sorts"), scope)
        return [
            list_part("", tuple(calls), empty=True),
            list_part("partition by", keys),
            list_part("order by", sorts),
        ]

    def _join(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return [
            part("", message.take_enum("type")),
            (yield self._expression("on", message.take("expression"), scope, missing="no condition")),
            (yield self._post_join_filter(message, scope, rel)),
        ]

    def _post_join_filter(self, message: View, scope: Scope, rel: Rel) -> Steps[Part]:
        own = self._output(rel, scope)
        return self._expression("post_join_filter", message.take("post_join_filter"), own, over_output=True)

    _lateral_join = _join
    _nested_loop_join = _join

    def _hash_join(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        parts = [part("", message.take_enum("type"))]
        left = self._scope(inputs(rel)[:1], scope.outer)
        right = self._scope(inputs(rel)[1:], scope.outer)
        keys = yield in_turn(self._key(View(key), left, right) for key in message.take_all("keys"))
        parts.append(list_part("on", tuple(keys), empty=True))
        parts.append((yield self._expression("residual", message.take("residual_expression"), scope)))
        if message.has_field("build_input"):
            parts.append(part("build_input", _stated(message.take_enum("build_input"))))
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

    _merge_join = _hash_join

    def _set(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return done([part("", message.take_enum("op"))])

    def _reference(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        return done([part("", f"relation {message.take('subtree_ordinal') or 0}")])

    def _exchange(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        parts: list[Part] = []
        kind = message.chosen("exchange_kind")
        if kind is not None:
            parts.append((yield self._exchange_kind(kind, View(message.take(kind)), scope)))
        count = message.take("partition_count")
        if count is not None:
            parts.append(part("partition_count", str(count)))
        targets = tuple(map(self._target, message.take_all("targets")))
        return [*parts, list_part("targets", targets)]

    def _exchange_kind(self, kind: str, view: View, scope: Scope) -> Steps[Part]:
        fields = view.take_all("fields")
        shown: list[Text] = yield in_turn(self.expressions.reference(field, scope) for field in fields)
        expression = view.take("expression")
        if expression is not None:
            shown.append((yield self.expressions.of(expression, scope)))
        shown += [flag for flag in ("exact", "constrained_to_count") if view.take(flag)]
        return part(kind, (joined(", ", shown), view.untaken()))

    def _target(self, message: Any) -> Text:
        view = View(message)
        kind = view.chosen("target_type")
        value: Any = view.take(kind) if kind is not None else None
        shown = any_text(value) if kind == "extended" else quoted(value) if kind == "uri" else "nowhere"
        ids = ", ".join(map(str, view.take_all("partition_id")))
        return (f"[{ids}] to ", shown, view.untaken())

    # ---- writes

    def _write(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        parts = [part("", message.take_enum("op")), *self._object(message)]
        parts.append(part("create_mode", _stated(message.take_enum("create_mode"))))
        parts.append(part("output", message.take_enum("output")))
        parts.append((yield self.schema(message.take("table_schema"), shown=True, columns=None)))
        return parts

    def _ddl(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        parts = [part("", f"{message.take_enum('op')} {message.take_enum('object')}"), *self._object(message)]
        parts.append((yield self.schema(message.take("table_schema"), shown=True, columns=None)))
        defaults = message.take("table_defaults")
        if defaults is not None:
            parts.append(part("defaults", (yield self._literals.struct(defaults))))
        return parts

    def _object(self, message: View) -> list[Part]:
        kind = message.chosen("write_type")
        if kind is None:
            return [part("", "of nothing")]
        view = View(message.take(kind))
        if kind in ("named_table", "named_object"):
            name = ".".join(map(identifier, view.take_all("names"))) or "unnamed"
            return [part("", name), *advanced(view), part("", view.untaken())]
        detail = view.take("detail")
        return [part(kind, any_text(detail) if detail is not None else "of nothing"), part("", view.untaken())]

    def _update(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        parts: list[Part] = []
        kind = message.chosen("update_type")
        if kind is not None:
            view = View(message.take(kind))
            parts.append(part("", ".".join(map(identifier, view.take_all("names"))) or "unnamed table"))
            parts += [*advanced(view), part("", view.untaken())]
        schema = message.take("table_schema")
        names = tuple(schema_names(schema)) if schema is not None else ()
        over = scope.over(names, self._derived.schema(schema) if schema is not None else ())
        parts.append(list_part("set", (yield self._changes(message, names, over)), empty=True))
        parts.append((yield self._expression("where", message.take("condition"), over)))
        parts.append((yield self.schema(schema, shown=True, columns=None)))
        return parts

    def _changes(self, message: View, names: Sequence[Name], scope: Scope) -> Steps[tuple[Text, ...]]:
        """The values that columns get: `$0:k = 5::i32`."""
        changes: list[Text] = []
        for change in message.take_all("transformations"):
            view = View(change)
            target = view.take("column_target") or 0
            name = f":{identifier(names[target].name or '')}" if 0 <= target < len(names) else ""
            value = view.take("transformation")
            shown = (yield self.expressions.of(value, scope)) if value is not None else "nothing"
            changes.append((f"${target}{name} = ", shown, view.untaken()))
        return tuple(changes)

    # ---- extensions

    def _extension_single(self, message: View, scope: Scope, rel: Rel) -> Steps[list[Part]]:
        detail = message.take("detail")
        if detail is None:
            return [part("", "of nothing")]
        unpacked = self._derived.detail(detail)
        if unpacked is None:
            return [part("", any_text(detail))]
        name = type(unpacked).__name__
        rule = _EXTENSIONS.get(name)
        return (
            [part(f"substrait_spark.{name}", fields(unpacked))]
            if rule is None
            else (yield rule(self, View(unpacked), scope))
        )

    def _generate(self, view: View, scope: Scope) -> Steps[list[Part]]:
        shown = yield self._expression("rows", view.take("rows"), scope, missing="no rows")
        flags = [part("", flag) for flag in ("outer", "whole_elements", "with_position") if view.take(flag)]
        return [part("", "substrait_spark.Generate"), shown, *flags, part("", view.untaken())]

    def _flat_map(self, view: View, scope: Scope) -> Steps[list[Part]]:
        call = view.take("call")
        shown: Text = "no_function"
        if call is not None:
            inner = View(call)
            shown = ((yield self.expressions.call(inner, scope)), inner.untaken())
        keys = yield self.expressions.all(view.take_all("keys"), scope)
        others = yield self.expressions.all(view.take_all("other_keys"), scope)
        return [
            part(f"substrait_spark.{type(view.message).__name__}", shown),
            list_part("by", keys),
            list_part("and by", others),
            part("", view.untaken()),
        ]

    def _merge(self, message: View, scope: Scope) -> Steps[list[Part]]:
        table, schema = message.take("named_table"), message.take("table_schema")
        view = View(table) if table is not None else None
        name = ".".join(map(identifier, view.take_all("names"))) if view is not None else ""
        parts = [part("substrait_spark.Merge into", name or "unnamed table")]
        if view is not None:
            parts += [*advanced(view), part("", view.untaken())]
        names = tuple(schema_names(schema)) if schema is not None else ()
        types = self._derived.schema(schema) if schema is not None else ()
        over = scope.over([*names, *scope.columns], [*types, *scope.types])
        parts.append((yield self._expression("on", message.take("condition"), over)))
        for group in CLAUSES:
            for clause in message.take_all(group):
                each = View(clause)
                condition = each.take("condition")
                parts.append(part("when", group))
                parts.append((yield self._expression("and", condition, over)))
                changes = yield self._changes(each, names, over)
                does = part("then", "delete") if each.take("delete") else list_part("then set", changes, empty=True)
                parts += [does, part("", each.untaken())]
        parts.append(part("", "matches_once" if message.take("matches_once") else ""))
        parts.append((yield self.schema(schema, shown=True, columns=None)))
        return [*parts, part("", message.untaken())]

    _extension_multi = _extension_single
    _extension_leaf = _extension_single


_EXTENSIONS: dict[str, Callable[[RelationText, View, Scope], Steps[list[Part]]]] = {
    "FlatMap": RelationText._flat_map,
    "FlatMapCoGroups": RelationText._flat_map,
    "Generate": RelationText._generate,
    "Merge": RelationText._merge,
}
"""Extension relations that hold expressions, by the names of their messages. Of others, the fields are shown."""


def _stated(name: str) -> str:
    return "" if name == "UNSPECIFIED" else name


def _column(type: Type | None, name: Name) -> Column:
    return Column(name.name, "unknown" if type is None else type_with_names(type, name.inner))


def _table(detail: Any) -> Text:
    """The detail of an extension table."""
    if detail is None:
        return "of nothing"
    ours = unpacked_table(detail)
    if ours is None or ours.SerializeToString() != detail.value:
        return any_text(detail)
    return (f"substrait_spark.{type(ours).__name__} ", fields(ours))
