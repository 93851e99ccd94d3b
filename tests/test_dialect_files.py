"""Files that are no dialects, or name rules or extension files that are none: each is refused in a sentence that says where."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from substrait_spark import DialectError
from substrait_spark.dialects import Dialect, load
from substrait_spark.dialects.rewrite import Rewrite
from substrait_spark.extensions import registry

LISTS = """
dependencies:
  arithmetic: extension:io.substrait:functions_arithmetic
  comparison: extension:io.substrait:functions_comparison
supported_{0}_functions: [{{{1}}}]
"""


def function(entry: str, kind: str = "scalar") -> str:
    return LISTS.format(kind, entry)


def comparison(rest: str, name: str = "equal", signature: str = "any_any") -> str:
    return function(f"source: comparison, name: {name}, supported_impls: [{signature}]{rest}")


def addition(options: str) -> str:
    return function(f"source: arithmetic, name: add, supported_impls: [i32_i32], required_options: {options}")


def casts(exact: str) -> str:
    return f"supported_expressions: [{{expression: CAST, metadata: {{exact: {exact}}}}}]"


ALIASES = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 41))
"""A small file that would be large once its aliases are what they stand for."""

DIALECTS = [
    # YAML
    ("a: [b", "is no YAML: while parsing"),
    ("a: 1\n---\nb: 2", "is no YAML: expected a single document"),
    ("name: !!python/object/apply:os.getcwd []", "is no YAML: could not determine a constructor"),
    (f"metadata: {'[' * 100_000}", "is no YAML: it nests more than 50 levels deep"),
    (f"metadata: {'{a: ' * 3000}1{'}' * 3000}", "is no YAML: it nests more than 50 levels deep"),
    ("metadata: &m {a: *m}", "is no YAML: the value of the anchor m has itself in it (line 1)"),
    ("supported_types: &m [*m]", "is no YAML: the value of the anchor m has itself in it (line 1)"),
    (ALIASES, "is no YAML: it has more than 50,000 values (line 14)"),
    (f"supported_types: [{'I32, ' * 250_000}]", "is no YAML: it has more than 1,000,000 characters"),
    (f"supported_types: [{'I32, ' * 1_001}]", "is no valid Substrait dialect: supported_types lists more than 1,000"),
    ("name: a\nname: b", "is no YAML: the key 'name' is there twice (line 2)"),
    ("\nname: !!timestamp 2024-99-99", "is no YAML: '2024-99-99' can't be read as timestamp (line 2)"),
    (f"name: {'9' * 5000}", "can't be read as int (line 1)"),
    (f"name: 0x{'f' * 5000}", "can't be read as int (line 1)"),
    ("metadata: {[a]: b}", "is no YAML: while constructing a mapping, found unhashable key (line 1)"),
    ("<<: 3", "is no YAML: while constructing a mapping"),
    ("3", "its top level is no mapping"),
    # by the specification's schema
    ("name: [a]", "['a'] is no text (at name)"),
    ("3: 4", "is no valid Substrait dialect"),
    ("supported_types: I32", "'I32' is no list (at supported_types)"),
    ("supported_types: [INT]", "'INT' is not known; there may be BOOL, I8, I16"),
    ("supported_types: [{type: DECIMAL, max_precision: x}]", "'x' is no whole number (at supported_types/0/max_precision)"),
    ("supported_relations: [{relation: JOIN, join_types: [SIDEWAYS]}]", "'SIDEWAYS' is not known; there may be INNER, OUTER, LEFT"),
    ("supported_expressions: [{expression: CAST, failure_options: [MAYBE]}]", "(at supported_expressions/0/failure_options/0)"),
    ("dependencies: [a]", "(at dependencies)"),
    ("metadata: [a]", "(at metadata)"),
    ("supported_types: [i32]", "'i32' is not known; is I32 meant? (at supported_types/0)"),
    ("suported_types: [I32]", "'suported_types' is not known; is supported_types meant? (at the top)"),
    ("abilities: {emit: false}", "'abilities' is not known; there may be name, metadata, dependencies"),
    ("supported_relations: [{join_types: [INNER]}]", "there is no 'relation' in {'join_types': ['INNER']}"),
    ("supported_relations: [{relation: FILTRE}]", "'FILTRE' is not known; is FILTER meant? (at supported_relations/0)"),
    ("supported_relations: [~]", "None is neither a name nor a mapping (at supported_relations/0)"),
    ("supported_types: [I32, I32]", "something is listed twice (at supported_types)"),
    (function("source: comparison, name: equal"), "there is no 'supported_impls' (at supported_scalar_functions/0)"),
    (comparison("", signature=""), "nothing is listed (at supported_scalar_functions/0/supported_impls)"),
    # beyond it
    ("supported_types: [I32, {type: I32}]", "supported_types[1] lists I32 again"),
    ("supported_relations: [JOIN, READ, {relation: JOIN, join_types: [INNER]}]", "supported_relations[2] lists JOIN again"),
    (comparison("", "equals"), "supported_scalar_functions[0]: comparison declares no scalar function equals:any_any; is equal meant?"),
    (comparison("", signature="i32_i32"), "comparison declares no scalar function equal:i32_i32; there is equal:any_any"),
    (function("source: a, name: f, supported_impls: [i32]"), "f is of the undeclared dependency a; there may be arithmetic, comparison"),
    (function("source: comparison, name: equal, supported_impls: [any_any]", "aggregate"), "no aggregate function equal:any_any"),
    (comparison("}, {source: comparison, name: equal, supported_impls: [any_any]"), "supported_scalar_functions[1]: equal:any_any with these options is listed again"),
    (addition("{overflo: ERROR}"), "add:i32_i32: it has no option overflo; is overflow meant?"),
    (addition("{overflow: EXPLODE}"), "its option overflow can't be 'EXPLODE'; it may be SILENT, SATURATE, ERROR"),
    (addition("{overflow: [ERROR]}"), "its option overflow can't be ['ERROR']"),
    (comparison(", variadic: {max: 4}"), "equal:any_any: it takes no variable number of arguments"),
    (comparison(", metadata: {rases: true}"), "metadata.rases is not known; there may be literals, not_for, raises"),
    (comparison(", metadata: {distinct: false}"), "metadata.distinct is not known"),
    (comparison(", metadata: {raises: 'yes'}"), "metadata.raises can't be 'yes'"),
    (comparison(", metadata: {raises: [1]}"), "metadata.raises can't be [1]"),
    *((comparison(f", metadata: {{literals: {value}}}"), "metadata.literals is no list of positions") for value in ("1", "[2]", "[-1]", "[true]")),
    (casts("3"), "supported_expressions[0]: the `exact` casts must be given for THROW_EXCEPTION and RETURN_NULL"),
    (casts("{THROW_EXCEPTION: {i32: [i64]}}"), "the `exact` casts must be given for"),
    (casts("{THROW_EXCEPTION: 3, RETURN_NULL: {}}"), "the `exact` casts of THROW_EXCEPTION are no lists of types"),
    (casts("{THROW_EXCEPTION: {i32: i64}, RETURN_NULL: {}}"), "the `exact` casts of THROW_EXCEPTION are no lists of types"),
    (casts("{THROW_EXCEPTION: {i32: [int]}, RETURN_NULL: {}}"), "THROW_EXCEPTION name 'int', which is no kind of type"),
    ("supported_expressions: [{expression: CAST, metadata: {exacts: {}}}]", "metadata.exacts is not known"),
    ("metadata: {3: x, a: y}", "metadata.3 is not known; there may be abilities, accept, defects, extends, extensions, release, rewrites, without"),
    ("metadata: {release: 0.100}", "metadata.release must be a text as in '0.63', not 0.1"),
    ("metadata: {release: '63'}", "metadata.release must be a text as in '0.63', not '63'"),
    ("metadata: {release: [0, 63]}", "metadata.release must be a text as in '0.63', not [0, 63]"),
    ("metadata: {abilities: {3: true}}", "metadata.abilities.3 is not known"),
    ("metadata: {abilities: {emits: false}}", "metadata.abilities.emits is not known; is emit meant?"),
    (function("source: arithmetic, name: sum, supported_impls: [i32]"), "no scalar function sum:i32; sum is one for supported_aggregate_functions"),
    ("metadata: {abilities: {emit: ~}}", "metadata.abilities.emit must be true or false, not None"),
    ("metadata: {defects: [a]}", "metadata.defects is no mapping"),
    ("metadata: {defects: {a: ~}}", "metadata.defects.a is a defect that there is no rewrite against; there are some against none"),
    ("metadata: {extensions: [3]}", "metadata.extensions is no list of texts"),
    ("metadata: {extensions: ['.']}", "there is no extension file '.' beside the dialect file"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "sentence"), DIALECTS, ids=[sentence for _, sentence in DIALECTS])
def test_dialect_files(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(content, "utf-8")
    with pytest.raises(DialectError, match=re.escape(sentence)) as raised:
        load(path)
    assert str(raised.value).startswith(str(path))


REWRITES = [
    ("def (", "can't be loaded: SyntaxError"),
    ("1 / 0", "can't be loaded: ZeroDivisionError: division by zero ("),
    ("raise SystemExit(3)", "can't be loaded: SystemExit: 3"),
    ("import no_such_module", "can't be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
    ("", "can't be loaded: AttributeError: module 'mine' has no attribute 'REWRITES'"),
    ("REWRITES = {}", "'mine.py:REWRITES' is dict, not a list of rewrites"),
    (
        "REWRITES = Rewrite('string:lower', str)",
        "'mine.py:REWRITES' is substrait_spark.dialects.rewrite.Rewrite, not a list of rewrites",
    ),
    ("REWRITES = [str]", "rewrites[0] is neither a Rewrite nor a Conversion"),
    ("REWRITES = [Rewrite()]", "can't be loaded: TypeError: "),
    (
        "REWRITES = [Rewrite('string:lowre', str)]",
        "rewrites[0] is for 'string:lowre', which is no function; is lower meant?",
    ),
    ("REWRITES = [Rewrite('lower', str)]", "rewrites[0] is for 'lower', which is no function as in 'string:lower'"),
    ("REWRITES = [Rewrite(3, str)]", "rewrites[0] is for 3, which is no function as in 'string:lower'"),
    (
        "REWRITES = [Rewrite('arithmetic:sum', str, sees=Sees.BUILT)]",
        "which is no scalar function; sum is one for supported_aggregate_functions",
    ),
    ("REWRITES = [Rewrite('string:lower', 3)]", "rewrites[0] has no function for string:lower"),
    ("REWRITES = [Rewrite('string:lower', str, 3)]", "rewrites[0] names no defect as text"),
    ("REWRITES = [Rewrite('string:lower', str, sees='built')]", "or sees nothing that is of Sees"),
    ("REWRITES = [Rewrite(('i32', 'int'), str)]", "rewrites[0] is for ('i32', 'int'), which is no pair of kinds"),
    ("REWRITES = [Rewrite(('i32',), str)]", "rewrites[0] is for ('i32',), which is no pair of kinds of types"),
    ("REWRITES = [Conversion('week', 3, str, ())]", "rewrites[0] is a Conversion of 'week', which is no kind of type"),
]


@pytest.mark.parametrize(("code", "sentence"), REWRITES, ids=[sentence for _, sentence in REWRITES])
def test_rewrites(tmp_path: Path, code: str, sentence: str) -> None:
    start = "" if code == "def (" else "from substrait_spark.dialects.rewrite import Conversion, Rewrite, Sees\n"
    (tmp_path / "mine.py").write_text(start + code, "utf-8")
    (tmp_path / "mine.yaml").write_text("metadata: {rewrites: 'mine.py:REWRITES'}", "utf-8")
    with pytest.raises(DialectError, match=re.escape(sentence)):
        load(tmp_path / "mine.yaml")


@pytest.mark.parametrize("named", ["3", "[a]", "''", "json", "':REWRITES'", "'json:'"])
def test_rewrites_without_a_name(tmp_path: Path, named: str) -> None:
    (tmp_path / "mine.yaml").write_text(f"metadata: {{rewrites: {named}}}", "utf-8")
    with pytest.raises(DialectError, match=r"is not named as package.module:NAME or file.py:NAME"):
        load(tmp_path / "mine.yaml")


URN = "urn: extension:org.example:functions_{0}\n"
IMPLEMENTED = "scalar_functions: [{{name: f, impls: [{{args: [{{name: x, value: {0}}}], return: {1}}}]}}]"

EXTENSIONS = [
    ("a: [", "while parsing a flow node"),
    ("3", "3 is no mapping (at the top)"),
    ("scalar_functions: []", "there is no 'urn' (at the top)"),
    (URN.format("a") + "scalar_functions: [{name: f}]", "there is no 'impls' (at scalar_functions/0)"),
    (URN.format("b") + IMPLEMENTED.format("'list<'", "i32"), "the function f has an argument or a return type"),
    (URN.format("c") + IMPLEMENTED.format("i32", "'x ='"), "the function f has an argument or a return type"),
    (
        "urn: extension:io.substrait:functions_string",
        "another file has the URN extension:io.substrait:functions_string",
    ),
]


@pytest.mark.parametrize(("content", "sentence"), EXTENSIONS, ids=[sentence for _, sentence in EXTENSIONS])
def test_extension_files(tmp_path: Path, content: str, sentence: str) -> None:
    (tmp_path / "mine.yaml").write_text("metadata: {extensions: [functions.yaml]}", "utf-8")
    (tmp_path / "functions.yaml").write_text(content, "utf-8")
    with pytest.raises(DialectError, match=re.escape(sentence)) as raised:
        load(tmp_path / "mine.yaml")
    assert str(tmp_path / "functions.yaml") in str(raised.value)


def test_an_extension_file_is_named_by_each_dialect_that_needs_it(tmp_path: Path) -> None:
    """What another dialect has loaded before is of no account."""
    (tmp_path / "functions.yaml").write_text(URN.format("named") + IMPLEMENTED.format("i32", "i32"), "utf-8")
    listed = (
        f"dependencies: {{own: {URN.format('named').strip().removeprefix('urn: ')}}}\n"
        "supported_scalar_functions: [{source: own, name: f, supported_impls: [i32]}]\n"
    )
    (tmp_path / "first.yaml").write_text(listed + "metadata: {extensions: [functions.yaml]}", "utf-8")
    (tmp_path / "second.yaml").write_text(listed, "utf-8")
    assert load(tmp_path / "first.yaml").aliases == {"own": "extension:org.example:functions_named"}
    with pytest.raises(
        DialectError, match=r"f: no extension file has the URN .*; name the file in metadata.extensions"
    ):
        load(tmp_path / "second.yaml")


def test_a_rewrite_of_a_function_that_is_not_listed(tmp_path: Path) -> None:
    """It would never be used. Against a defect there may be others, if one is of a function that is listed."""
    defect = "metadata: {defects: {d: {sql: a, gives: b}}}"
    (tmp_path / "mine.yaml").write_text(comparison("") + defect, "utf-8")
    rewrites = [Rewrite(f"comparison:{name}", lambda e, call: call, "d") for name in ("gt", "lt", "equal")]
    assert load(tmp_path / "mine.yaml", rewrites=rewrites).rewrites == tuple(rewrites)
    with pytest.raises(
        DialectError,
        match=r"mine.yaml: metadata.defects.d: the rewrites against it are for comparison:gt and comparison:lt, which is not among",
    ):
        load(tmp_path / "mine.yaml", rewrites=rewrites[:2])
    of_any = [Rewrite("arithmetic:sum", lambda call: call.unchanged, "d")]
    assert load(tmp_path / "mine.yaml", rewrites=of_any).rewrites == tuple(of_any)
    sums = "supported_aggregate_functions: [{source: arithmetic, name: %s, supported_impls: [i32]}]\n"
    (tmp_path / "mine.yaml").write_text(comparison("") + sums % "max" + defect, "utf-8")
    with pytest.raises(DialectError, match=r"d: the rewrites against it are for arithmetic:sum, which is not among"):
        load(tmp_path / "mine.yaml", rewrites=of_any)
    (tmp_path / "mine.yaml").write_text(comparison("") + sums % "sum" + defect, "utf-8")
    assert load(tmp_path / "mine.yaml", rewrites=of_any).rewrites == tuple(of_any)


def test_devices_and_long_files_are_not_read_in_full(tmp_path: Path) -> None:
    with pytest.raises(DialectError, match="There is no dialect"):
        load("/dev/zero")
    (tmp_path / "long.yaml").write_text("# " + "x" * 3_000_000, "utf-8")
    with pytest.raises(DialectError, match="it has more than 1,000,000 characters"):
        load(tmp_path / "long.yaml")


def test_two_extension_files_with_one_urn(tmp_path: Path) -> None:
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.yaml").write_text("metadata: {extensions: [functions.yaml]}", "utf-8")
        text = URN.format("twice") + IMPLEMENTED.format("i64" if folder == "c" else "i32", "i32")
        (tmp_path / folder / "functions.yaml").write_text(text, "utf-8")
    load(tmp_path / "a" / "mine.yaml")
    load(tmp_path / "b" / "mine.yaml")
    with pytest.raises(DialectError, match="another file has the URN"):
        load(tmp_path / "c" / "mine.yaml")
    assert registry.implementations("scalar", "extension:org.example:functions_twice", "f")[0].signature == "i32"


@pytest.mark.parametrize("given", [3, b"x", [1], {"name": "mine"}])
def test_what_is_no_dialect(given: Any) -> None:
    with pytest.raises(DialectError, match="A dialect is a name, the path of a YAML file or a loaded one, not "):
        load(given)
    with pytest.raises(DialectError, match=r"The rewrites of a dialect are a list of them|is neither a Rewrite nor"):
        load("datafusion", rewrites=given)


def test_loaded_dialects_are_taken_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("metadata: {rewrites: 'absent.py:REWRITES'}", "utf-8")
    rewrites = [Rewrite("string:lower", lambda e, call: call)]
    dialect = load(tmp_path / "mine.yaml", rewrites=rewrites)  # the module that the file names is not run
    assert isinstance(dialect, Dialect)
    assert dialect.rewrites == tuple(rewrites)
    assert load(dialect) is dialect


BASE = """
name: Base
dependencies: {comparison: extension:io.substrait:functions_comparison, boolean: extension:io.substrait:functions_boolean}
supported_relations: [FILTER, {relation: JOIN, join_types: [INNER, LEFT]}]
supported_scalar_functions:
  - {source: comparison, name: equal, supported_impls: [any_any]}
  - {source: comparison, name: lt, supported_impls: [any_any]}
  - {source: boolean, name: and, supported_impls: [bool]}
metadata: {abilities: {emit: false}}
"""


def extending(folder: Path, metadata: str, lists: str = "") -> Dialect:
    (folder / "base.yaml").write_text(BASE, "utf-8")
    path = folder / "mine.yaml"
    path.write_text(f"metadata: {{extends: base.yaml{metadata}}}\n{lists}", "utf-8")
    return load(path)


def test_a_dialect_extends_another(tmp_path: Path) -> None:
    taken = ", without: {relations: [FILTER], functions: ['comparison:lt', 'boolean:*']}"
    own = "supported_relations: [{relation: JOIN, join_types: [INNER]}, SORT]\nsupported_scalar_functions:\n"
    own += "  - {source: comparison, name: gt, supported_impls: [any_any]}\n"
    dialect = extending(tmp_path, taken, own)
    urn = "extension:io.substrait:functions_comparison"
    assert [dialect.function("scalar", urn, name, "any_any", ()) is not None for name in ("equal", "lt", "gt")] == [
        True,
        False,
        True,
    ]
    assert dialect.function("scalar", "extension:io.substrait:functions_boolean", "and", "bool", ()) is None
    assert [dialect.allows_relation(name) for name in ("FILTER", "JOIN", "SORT")] == [False, True, True]
    assert not dialect.allows_relation("JOIN", "join_types", "LEFT")
    assert not dialect.abilities.emit


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        (
            ", without: {functions: ['comparison:gte']}",
            "metadata.without.functions names 'comparison:gte', which the dialect that it extends lacks",
        ),
        (", without: {relations: [SORT]}", "metadata.without.relations names 'SORT'"),
        (", without: {relations: [FILTER, JOIN]}", "leaves nothing of supported_relations"),
        (", without: [SORT]", "metadata.without may list types, relations"),
        (", without: {relations: SORT}", "metadata.without.relations is no list of texts"),
        (", without: {defects: [none]}", "metadata.without.defects names 'none'"),
    ],
)
def test_what_a_dialect_takes_away_is_there(tmp_path: Path, metadata: str, sentence: str) -> None:
    with pytest.raises(DialectError, match=re.escape(sentence)):
        extending(tmp_path, metadata)


def test_a_dialect_that_extends_itself(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("metadata: {extends: mine.yaml}", "utf-8")
    with pytest.raises(DialectError, match="leads back"):
        load(path)


def test_to_take_away_needs_another_dialect(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("metadata: {without: {relations: [SORT]}}", "utf-8")
    with pytest.raises(DialectError, match=r"metadata\.without is for a dialect that extends another"):
        load(path)
