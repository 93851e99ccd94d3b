"""What is supported, as text."""

from __future__ import annotations

import difflib
import textwrap
from collections import Counter
from collections.abc import Sequence

from .. import support
from ..support import FunctionSupport


def summary() -> str:
    """Counts over all functions of Spark, and the classes of relations and expressions."""
    functions = support.measured().values()
    canonical = Counter(function.canonical for function in functions)
    in_spark = Counter(function.in_spark for function in functions)
    datafusion = Counter(function.datafusion for function in functions if function.datafusion)
    with_catalyst = Counter(function.with_catalyst for function in functions)
    can, partly, cannot, untried = (canonical[verdict] for verdict in ("yes", "partly", "no", "untried"))
    equal, some, refused = (datafusion[verdict] for verdict in ("equal", "partly", "refused"))
    lines = [
        f"Of the {len(functions)} functions of Spark {support.spark_version()}:",
        f"  {can} can be exported, {partly} in part, {cannot} not at all; {untried} need packages or settings that no session has by default.",
        f"  {in_spark['equal']} give Spark's rows when Spark runs the canonical plan, {in_spark['partly']} in part.",
        f"  {equal} run on DataFusion with Spark's rows, {some} in part; {refused} are refused for it.",
        f"  {with_catalyst['equal']} run on DataFusion with Catalyst for what it lacks, {with_catalyst['partly']} in part; {with_catalyst['refused']} are refused.",
        "",
        *_listed("Catalyst plan nodes that become relations", support.relations()),
        "",
        *_listed("Catalyst expressions that are no function calls", support.expressions()),
        "",
        "Give names of functions to see each, or --refused to see what can't be exported and why.",
    ]
    return "\n".join(lines) + "\n"


def _listed(title: str, names: Sequence[str]) -> list[str]:
    return [f"{title}:", *textwrap.wrap(", ".join(names), 116, initial_indent="  ", subsequent_indent="  ")]


def described(function: FunctionSupport) -> str:
    """One function: its canonical form, the verdicts on its rows, and why calls are refused."""
    lines = [f"{function.name} ({function.catalyst_class})", f"  canonical:  {_canonical(function)}"]
    ground = "on the tests' edge values" if function.on_grid else "on the calls of Spark's documentation"
    engines = {
        "in Spark:   ": function.in_spark,
        "datafusion: ": function.datafusion,
        "with Catalyst: ": function.with_catalyst,
    }
    lines += [f"  {engine}{verdict}, {ground}" for engine, verdict in engines.items() if verdict]
    reasons = [("refused", reason) for reason in function.refused]
    reasons += [("refused in Spark", reason) for reason in function.refused_in_spark]
    reasons += [("refused for datafusion", reason) for reason in function.refused_datafusion]
    reasons += [("refused with Catalyst", reason) for reason in function.refused_with_catalyst]
    reasons += [("raises in datafusion for", values) for values in function.unread]
    lines += [textwrap.fill(f"  {what}: {reason}", 116, subsequent_indent="    ") for what, reason in reasons]
    return "\n".join(lines) + "\n"


def unknown(name: str) -> str:
    """That there is no function of a name, and which are called much the same."""
    near = difflib.get_close_matches(name.lower(), support.measured(), n=3)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"Spark {support.spark_version()} has no function {name}.{hint}"


def _canonical(function: FunctionSupport) -> str:
    form = ", ".join(function.form) or "no function: a literal, a cast, a reference or a condition"
    return f"{function.canonical}, as {form}" if function.canonical in ("yes", "partly") else function.canonical
