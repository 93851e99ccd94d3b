"""The text of expressions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from substrait.algebra_pb2 import Expression, Rel

from ..algebra.trampoline import Steps, done, in_turn
from ..algebra.types import Type
from ..errors.quotation import identifier
from .columns import Name
from .declarations import Declarations
from .derived import Derived
from .document import Relation
from .literal_text import LiteralText
from .path_text import PathText
from .text import Reference, Text, joined, listed, outwards, plain
from .type_text import TypeText
from .view import View, unknown


@dataclass
class Scope:
    """What the expressions of a relation can refer to, and the queries found in them so far."""

    columns: Sequence[Name]
    types: Sequence[Type | None]
    outer: Scope | None = None
    queries: list[Relation] = dataclasses.field(default_factory=list)

    def over(self, columns: Sequence[Name], types: Sequence[Type | None]) -> Scope:
        """The same place, with references to other columns."""
        return Scope(columns, types, self.outer, self.queries)


class ExpressionText:
    """Shows expressions as calls: `add($0:a, 1::i64)`."""

    def __init__(
        self,
        declarations: Declarations,
        types: TypeText,
        literals: LiteralText,
        derived: Derived,
        *,
        verbose: bool,
        query: Callable[[Rel, Scope], Steps[Relation]],
    ) -> None:
        self._declarations = declarations
        self._types = types
        self._literals = literals
        self._derived = derived
        self._paths = PathText(literals)
        self._verbose = verbose
        self._query = query
        self.bound: dict[int, tuple[Sequence[Name], Sequence[Type | None]]] = {}
        """The columns that relations with an anchor lend to those inside them."""

    def of(self, message: Expression, scope: Scope) -> Steps[Text]:
        """An expression's text."""
        view = View(message)
        kind = view.chosen("rex_type")
        if kind is None:
            return ("empty_expression", view.untaken())
        inner = yield getattr(self, f"_{kind}", self._unnamed)(view.take(kind), scope)
        return (inner, view.untaken())

    def all(self, messages: Sequence[Expression], scope: Scope) -> Steps[tuple[Text, ...]]:
        """The texts of several expressions."""
        return tuple((yield in_turn(self.of(message, scope) for message in messages)))

    def conjunction(self, message: Expression, scope: Scope) -> Steps[tuple[str, tuple[Text, ...], str]]:
        """An expression in parts: of a call of `and` each argument, and what stands before and after them."""
        outer = View(message)
        called = outer.chosen("rex_type") == "scalar_function"
        if not called or self._declarations.function(message.scalar_function.function_reference) != "and":
            return "", ((yield self.of(message, scope)),), ""
        view = View(outer.take("scalar_function"))
        opening, arguments, closing = yield self._call_parts(view, scope)
        return plain(opening), tuple(arguments), plain((closing, view.untaken(), outer.untaken()))

    def _maybe(self, message: Expression | None, scope: Scope, before: str = "", after: str = "") -> Steps[Text]:
        """The text of an expression that may not be there, between what goes with it."""
        return "" if message is None else (before, (yield self.of(message, scope)), after)

    # ---- leaves

    def _literal(self, message: Expression.Literal, scope: Scope) -> Steps[Text]:
        return self._literals.of(message)

    def _detached_expression_ordinal(self, ordinal: int, scope: Scope) -> Steps[Text]:
        return done(f"detached {ordinal}")

    def _dynamic_parameter(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        type = view.take("type")
        shown = ("::", (yield self._types.of(type))) if type is not None else ""
        return (f"?{view.take('parameter_reference') or 0}", shown, view.untaken())

    def _execution_context_variable(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        kind = view.chosen("execution_context_variable_type")
        if kind is None:
            return ("empty_variable", view.untaken())
        type = _VARIABLES[kind]
        return (f"{kind}::", (yield self._types.kind(type, view.take(kind))), view.untaken())

    # ---- references

    def _selection(self, message: Any, scope: Scope) -> Steps[Text]:
        return self.reference(message, scope)

    def reference(self, message: Expression.FieldReference, scope: Scope) -> Steps[Text]:
        """A field reference's text."""
        view = View(message)
        kind = view.chosen("root_type")
        value: Any = view.take(kind) if kind is not None else None
        if kind == "expression":
            root: _Root = _Root(("(", (yield self.of(value, scope)), ")"))
        else:
            root = self._root(kind, value, scope)
        kind = view.chosen("reference_type")
        path: Text = (root.text, ".empty_reference")
        if kind == "masked_reference":
            path = (root.text, ".", (yield self._paths.mask(view.take(kind))))
        elif kind == "direct_reference":
            path = yield self._direct(root, view.take(kind))
        return (path, root.rest, view.untaken())

    def _root(self, kind: str | None, value: Any, scope: Scope) -> _Root:
        """What a reference starts from, other than the value of an expression."""
        if kind is None:
            return _Root("no_root")
        view = View(value)
        if kind == "root_reference":
            return _Root("$", True, scope.columns, scope.types, rest=view.untaken())
        if kind == "lambda_parameter_reference":
            return _Root(f"{outwards(view.take('steps_out') or 0)}p", True, is_lambda=True, rest=view.untaken())
        if view.chosen("outer_reference_type") == "rel_reference":
            anchor = view.take("rel_reference")
            columns, types = self.bound.get(anchor, ((), ()))
            return _Root(f"@{anchor}.$", True, columns, types, anchor=anchor, rest=view.untaken())
        steps = view.take("steps_out") or 0
        around: Scope | None = scope
        left = steps
        while around is not None and left:
            around, left = around.outer, left - 1
        columns, types = (around.columns, around.types) if around is not None else ((), ())
        return _Root(f"{outwards(steps)}$", True, columns, types, steps_out=steps, rest=view.untaken())

    def _direct(self, root: _Root, segment: Expression.ReferenceSegment) -> Steps[Text]:
        if not root.is_row or segment.WhichOneof("reference_type") != "struct_field":
            return (root.text, (yield self._paths.segments(segment, None, ())))
        view = View(segment)
        field = View(view.take("struct_field"))
        ordinal = field.take("field") or 0
        known = 0 <= ordinal < len(root.columns)
        name = root.columns[ordinal] if known else Name(None)
        type = root.types[ordinal] if known and ordinal < len(root.types) else None
        path = yield self._paths.segments(field.take("child"), type, name.inner)
        column: Text = Reference(ordinal, name.name, root.steps_out, root.anchor)
        if root.is_lambda:
            column = (root.text, str(ordinal))
        return (column, path, field.untaken(), view.untaken())

    # ---- calls

    def _scalar_function(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        return ((yield self._call(view, scope)), view.untaken())

    def call(self, view: View, scope: Scope) -> Steps[Text]:
        """The text of a call of an aggregate or window function, but for what window functions have besides."""
        phase, invocation = view.take_enum("phase"), view.take_enum("invocation")
        shown = yield self._call(view, scope, distinct="distinct " if invocation == "DISTINCT" else "")
        marks = "" if phase == "INITIAL_TO_RESULT" else f" phase {phase}"
        if invocation not in ("ALL", "DISTINCT"):
            marks += f" invocation {invocation}"
        return (shown, marks)

    def _call(self, view: View, scope: Scope, distinct: str = "") -> Steps[Text]:
        opening, arguments, closing = yield self._call_parts(view, scope)
        return (opening, distinct, joined(", ", arguments), closing)

    def _call_parts(self, view: View, scope: Scope) -> Steps[tuple[Text, Sequence[Text], Text]]:
        """What stands before a call's arguments, they, and what stands after them."""
        name = self._declarations.function(view.take("function_reference") or 0)
        arguments = yield in_turn(self._argument(argument, scope) for argument in view.take_all("arguments"))
        order: Text = ""
        if view.message.DESCRIPTOR.name == "AggregateFunction":
            sorts = yield self.sorts(view.take_all("sorts"), scope)
            order = (" order by ", joined(", ", sorts)) if sorts else ""
        options = _options(view.take_all("options"))
        return f"{name}(", arguments, (order, ")", options, (yield self._output_type(view)))

    def _argument(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        kind = view.chosen("arg_type")
        value: Any = view.take(kind) if kind is not None else None
        shown: Text = "empty_argument"
        if kind == "value":
            shown = yield self.of(value, scope)
        elif kind == "type":
            shown = ("type ", (yield self._types.of(value)))
        elif kind == "enum":
            shown = identifier(value)
        return (shown, view.untaken())

    def _output_type(self, view: View) -> Steps[Text]:
        """What a call returns, where that isn't what the declaration says for its arguments."""
        type = view.take("output_type")
        if type is None:
            return "::untyped"
        shown = yield self._types.of(type)
        return ("::", shown) if self._verbose or not self._derived.implied(view.message) else ""

    def sorts(self, messages: Sequence[Any], scope: Scope) -> Steps[tuple[Text, ...]]:
        """The texts of sort fields."""
        texts: list[Text] = []
        for message in messages:
            view = View(message)
            expression = yield self._maybe(view.take("expr"), scope)
            kind = view.chosen("sort_kind")
            how = "" if kind == "direction" else " unordered"
            if kind == "direction":
                how = f" {view.take_enum('direction')}"
            elif kind == "comparison_function_reference":
                how = f" by {self._declarations.function(view.take(kind))}"
            texts.append((expression, how, view.untaken()))
        return tuple(texts)

    def _window_function(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        call = yield self.call(view, scope)
        partitions = yield self.all(view.take_all("partitions"), scope)
        sorts = yield self.sorts(view.take_all("sorts"), scope)
        over: list[Text] = [(yield self.frame(view, scope))]
        if sorts:
            over.insert(0, ("order by ", joined(", ", sorts)))
        if partitions:
            over.insert(0, ("partition by ", joined(", ", partitions)))
        return (call, " over (", joined(" ", over), ")", view.untaken())

    def frame(self, view: View, scope: Scope) -> Steps[Text]:
        """A window function's frame."""
        shown: list[Text] = [view.take_enum("bounds_type")]
        for word, field in (("from", "lower_bound"), ("to", "upper_bound")):
            bound = view.take(field)
            if bound is not None:
                shown.append((f" {word} ", (yield self._bound(bound, scope))))
        return tuple(shown)

    def _bound(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        kind = view.chosen("kind")
        if kind is None:
            return ("empty_bound", view.untaken())
        inner = View(view.take(kind))
        offset = inner.take("offset") if kind in ("preceding", "following") else None
        expression = inner.take("offset_expr") if kind in ("preceding", "following") else None
        shown = "" if offset is None else f" {offset}"
        return (kind, shown, (yield self._maybe(expression, scope, " ")), inner.untaken(), view.untaken())

    # ---- casts, conditionals, membership

    def _cast(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        input = yield self._maybe(view.take("input"), scope)
        type = view.take("type")
        shown = (yield self._types.of(type)) if type is not None else "untyped"
        failure = view.take_enum("failure_behavior")
        name = {"THROW_EXCEPTION": "cast", "RETURN_NULL": "try_cast"}.get(failure, f"cast {failure}")
        return (f"{name}(", input, " as ", shown, ")", view.untaken())

    def _if_then(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        shown: list[Text] = ["case"]
        for clause in view.take_all("ifs"):
            inner = View(clause)
            shown.append((yield self._maybe(inner.take("if"), scope, " when ")))
            shown += [(yield self._maybe(inner.take("then"), scope, " then ")), inner.untaken()]
        shown.append((yield self._maybe(view.take("else"), scope, " else ")))
        return (*shown, " end", view.untaken())

    def _switch_expression(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        shown: list[Text] = ["switch", (yield self._maybe(view.take("match"), scope, " "))]
        for clause in view.take_all("ifs"):
            inner = View(clause)
            value = inner.take("if")
            shown.append((" when ", (yield self._literals.of(value))) if value is not None else "")
            shown += [(yield self._maybe(inner.take("then"), scope, " then ")), inner.untaken()]
        shown.append((yield self._maybe(view.take("else"), scope, " else ")))
        return (*shown, " end", view.untaken())

    def _singular_or_list(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        value = view.take("value")
        chained = value is not None and value.WhichOneof("rex_type") in ("singular_or_list", "multi_or_list")
        shown = yield self._maybe(value, scope, *(("(", ")") if chained else ()))
        return (shown, " in ", listed((yield self.all(view.take_all("options"), scope))), view.untaken())

    def _multi_or_list(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        values = yield self.all(view.take_all("value"), scope)
        records: list[Text] = []
        for record in view.take_all("options"):
            inner = View(record)
            fields = yield self.all(inner.take_all("fields"), scope)
            records.append(("(", joined(", ", fields), ")", inner.untaken()))
        return ("(", joined(", ", values), ") in ", listed(records), view.untaken())

    # ---- nested values

    def _nested(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        kind = view.chosen("nested_type")
        mark = "?" if view.take("nullable") else ""
        variation = view.take("type_variation_reference")
        if variation is not None:
            mark += f"[{self._declarations.variation(variation)}]"
        if kind is None:
            return (f"empty_nested{mark}", view.untaken())
        inner = View(view.take(kind))
        if kind == "map":
            items = yield self._pairs(inner.take_all("key_values"), scope)
        else:
            items = yield self.all(inner.take_all("fields" if kind == "struct" else "values"), scope)
        opening, closing = ("[", "]") if kind == "list" else ("{", "}")
        return (kind, mark, opening, joined(", ", items), closing, inner.untaken(), view.untaken())

    def _pairs(self, messages: Sequence[Any], scope: Scope) -> Steps[Sequence[Text]]:
        texts: list[Text] = []
        for message in messages:
            view = View(message)
            key = yield self._maybe(view.take("key"), scope)
            value = yield self._maybe(view.take("value"), scope)
            texts.append((key, ": ", value, view.untaken()))
        return texts

    def row(self, message: Expression.Nested.Struct, scope: Scope) -> Steps[Text]:
        """The text of a row of a virtual table."""
        view = View(message)
        return ("(", joined(", ", (yield self.all(view.take_all("fields"), scope))), ")", view.untaken())

    # ---- lambdas

    def _lambda(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        parameters = view.take("parameters")
        shown: Text = "()"
        if parameters is not None:
            struct = View(parameters)
            types = yield self._types.fields(struct.take_all("types"), None)
            named = [(f"p{index}: ", type) for index, type in enumerate(types)]
            shown = ("(", joined(", ", named), ")", self._types.marks(struct), struct.untaken())
        return ("(", shown, (yield self._maybe(view.take("body"), scope, " -> ")), ")", view.untaken())

    def _lambda_invocation(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        function, arguments = view.take("lambda"), view.take("arguments")
        shown = (yield self._lambda(function, scope)) if function is not None else "no_lambda"
        row = (yield self.row(arguments, scope)) if arguments is not None else "()"
        return (shown, row, view.untaken())

    # ---- subqueries

    def _subquery(self, message: Any, scope: Scope) -> Steps[Text]:
        view = View(message)
        kind = view.chosen("subquery_type")
        if kind is None:
            return ("empty_subquery", view.untaken())
        inner = View(view.take(kind))
        if kind == "scalar":
            shown: Text = ("query ", (yield self._number(inner.take("input"), scope)))
        elif kind == "in_predicate":
            needles = yield self.all(inner.take_all("needles"), scope)
            shown = ("(", joined(", ", needles), ") in ", (yield self._number(inner.take("haystack"), scope)))
        elif kind == "set_predicate":
            shown = (f"{inner.take_enum('predicate_op')} ", (yield self._number(inner.take("tuples"), scope)))
        else:
            left = yield self._maybe(inner.take("left"), scope)
            how = f" {inner.take_enum('comparison_op')} {inner.take_enum('reduction_op')} "
            shown = (left, how, (yield self._number(inner.take("right"), scope)))
        return (shown, inner.untaken(), view.untaken())

    def _number(self, rel: Rel | None, scope: Scope) -> Steps[Text]:
        """The number under which a query stands below the relation that has it."""
        if rel is None:
            return "#none"
        query = yield self._query(rel, scope)
        scope.queries.append(query)
        return f"#{len(scope.queries)}"

    def _unnamed(self, message: Any, scope: Scope) -> Steps[Text]:
        """An expression of a kind that a later release of the specification may bring."""
        return done(unknown(message))


class _Root(NamedTuple):
    """What a reference starts from: a row, of a relation with its columns or of a lambda's parameters, or a value."""

    text: Text
    is_row: bool = False
    columns: Sequence[Name] = ()
    types: Sequence[Type | None] = ()
    is_lambda: bool = False
    steps_out: int = 0
    anchor: int | None = None
    rest: Text = ""


_VARIABLES = {"current_timestamp": "precision_timestamp_tz", "current_timezone": "string", "current_date": "date"}
"""The kind of type in an execution context variable."""


def _options(messages: Sequence[Any]) -> Text:
    """`{overflow=ERROR}`; values in the order of preference."""
    shown: list[Text] = []
    for message in messages:
        view = View(message)
        name, values = view.take("name") or "", view.take_all("preference")
        preferred = "|".join(map(identifier, values))
        shown.append((f"{identifier(name)}={preferred}", view.untaken()))
    return ("{", joined(", ", shown), "}") if shown else ""
