"""Snapshots of plans for syrupy: the plan's text in a file of its own, and a difference that reads as one of plans."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from substrait.plan_pb2 import Plan
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.terminal import context_style, received_style, reset, snapshot_style

from ..api import df_to_substrait
from ..errors import SubstraitSparkError
from ..explain import explain
from ..explain.layout import in_full
from ..statements.captured import CapturedQueries, CapturedQuery
from ..user_functions.declared import as_given
from .normalised import as_uris, location, normalised

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CONTEXT = 5
"""Lines of a plan that a difference shows around what changed."""


class Form(NamedTuple):
    """What a snapshot holds of a plan."""

    keep: tuple[str, ...] = ()
    """What isn't left out (`normalised.ASIDE`)."""
    roots: tuple[tuple[str, str], ...] = ()
    """Folders of files, and what stands for each."""
    dialect: str | None = None
    """The dialect that DataFrames are exported for."""
    stage: str = "optimized"
    """The stage of the plans of DataFrames."""
    functions: tuple[Any, ...] = ()
    """The functions of one's own that DataFrames may call."""
    accept: frozenset[str] = frozenset()
    """What DataFrames' plans may let differ."""

    def text(self, data: DataFrame | Plan | CapturedQueries) -> str:
        """The text of a DataFrame's plan, of a plan, or of all that a job ran."""
        if isinstance(data, CapturedQueries):
            return "\n".join(self._captured(number, query) for number, query in enumerate(data, 1))
        plan = data if isinstance(data, Plan) else self._plan(data)
        plan = normalised(plan, keep=self.keep, roots=dict(self.roots))
        return explain(plan, verbose="statistics" in self.keep).rstrip("\n") + "\n"

    def _plan(self, df: DataFrame) -> Plan:
        return df_to_substrait(df, dialect=self.dialect, stage=self.stage, functions=self.functions, accept=self.accept)

    def _captured(self, number: int, query: CapturedQuery) -> str:
        target = query.target
        if target is not None and target.path is not None and "locations" not in self.keep:
            target = target._replace(path=location(target.path, as_uris(dict(self.roots))))
        head = replace(query, target=target).head
        return f"query {number}: {head}\n" + (f"\n{self.text(query.plan)}" if query.plan is not None else "")


class PlanSnapshotExtension(SingleFileSnapshotExtension):
    """Keeps each plan as text, in a file `*.substrait.txt`."""

    _write_mode = WriteMode.TEXT
    file_extension = "substrait.txt"
    form = Form()

    def serialize(self, data: Any, **_: Any) -> str:
        """The text of a DataFrame's plan, of a plan, or of a captured job; raises what `df_to_substrait` raises."""
        return self.form.text(data)

    def matches(self, *, serialized_data: Any, snapshot_data: Any) -> bool:
        """Whether the texts are equal; an older snapshot has each schema where it is used."""
        return str(snapshot_data) in (str(serialized_data), in_full(str(serialized_data)))

    def diff_lines(self, serialized_data: Any, snapshot_data: Any) -> Iterator[str]:
        """What is in the snapshot only (-), and what is in the plan only (+), among the lines around them."""
        styles = {"-": snapshot_style, "+": received_style, " ": context_style}
        for line in difference(str(snapshot_data), str(serialized_data)):
            yield reset(styles[line[0]](line))


@cache
def extension(form: Form) -> type[PlanSnapshotExtension]:
    """The extension that keeps plans in a form."""
    return type("PlanSnapshotExtension", (PlanSnapshotExtension,), {"form": form, "__module__": __name__})


class PlanSnapshot(SnapshotAssertion):
    """syrupy's assertion, for plans and captured jobs: `assert df == plan_snapshot`."""

    details: dict[str, str]
    """What the plugin adds to a failed assertion's message, by the sentence that it follows."""

    @property
    def form(self) -> Form:
        """What the snapshot holds of a plan."""
        form: Form = getattr(self.extension_class, "form", Form())
        return form

    def keeping(self, *what: str) -> PlanSnapshot:
        """A snapshot that also keeps `locations`, `sizes`, `statistics` or the `producer`."""
        return self._of(self.form._replace(keep=(*self.form.keep, *what)))

    def below(self, roots: Mapping[str, str]) -> PlanSnapshot:
        """A snapshot of files below folders, with a name for each: `below({"/mnt/lake": "<lake>"})`."""
        return self._of(self.form._replace(roots=(*self.form.roots, *roots.items())))

    def for_dialect(self, dialect: str | None) -> PlanSnapshot:
        """A snapshot of the plan in a dialect's forms."""
        return self._of(self.form._replace(dialect=dialect))

    def at_stage(self, stage: str) -> PlanSnapshot:
        """A snapshot of the plan at a stage: that of `analyzed` hangs on no setting of the optimizer."""
        return self._of(self.form._replace(stage=stage))

    def with_functions(self, functions: Iterable[Any]) -> PlanSnapshot:
        """A snapshot of DataFrames that call functions of one's own, which are given as `df_to_substrait` takes them."""
        return self._of(self.form._replace(functions=(*self.form.functions, *as_given(functions))))

    def accepting(self, accept: Collection[str]) -> PlanSnapshot:
        """A snapshot of the plans of DataFrames that let something differ, which is named as `df_to_substrait` takes it."""
        return self._of(self.form._replace(accept=self.form.accept | frozenset(accept)))

    def _of(self, form: Form) -> PlanSnapshot:
        return self.with_defaults(extension_class=extension(form))

    def with_defaults(self, **options: Any) -> PlanSnapshot:
        """syrupy's `with_defaults`."""
        snapshot: Any = super().with_defaults(**options)
        snapshot.details = self.details
        return cast("PlanSnapshot", snapshot)

    def get_assert_diff(self, **options: Any) -> list[str]:
        """What a failed assertion says; the difference, or why there is no plan, is added by the plugin."""
        result = self.executions[self.num_executions - 1]
        if isinstance(result.exception, SubstraitSparkError):
            return self._told("The plan can't be made:", str(result.exception))
        if result.exception is not None:
            return super().get_assert_diff(**options)
        if result.recalled_data is None:
            return [f"There is no snapshot {result.snapshot_name} yet: pytest --snapshot-update writes it."]
        differs = f"The plan differs from the snapshot {result.snapshot_name} (- snapshot, + plan):"
        return self._told(differs, "\n".join(difference(str(result.recalled_data), str(result.asserted_data or ""))))

    def _told(self, sentence: str, details: str) -> list[str]:
        self.details[sentence] = details
        return [sentence]


def difference(old: str, new: str) -> Iterator[str]:
    """Where two plan texts differ: lines that begin with `-`, `+` or a blank.

    Lines count as the same wherever they are indented, so that a relation put on top of others is one line. Where the old
    text has each schema where it is used, the new one is compared in that form.
    """
    if old == in_full(old):
        new = in_full(new)
    before, after = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(None, [line.strip() for line in before], [line.strip() for line in after], False)
    shown = 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if group[0][3] > shown:
            yield "  …"
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                yield from _marked(" ", after[new_start:new_end])
                continue
            removed, added = before[start:end], after[new_start:new_end]
            # Each changed line beside what became of it, where there are as many.
            pairs = [*zip(removed, added, strict=True)] if len(removed) == len(added) else []
            for old_lines, new_lines in [([a], [b]) for a, b in pairs] or [(removed, added)]:
                yield from _marked("-", old_lines)
                yield from _marked("+", new_lines)
        shown = group[-1][4]
    if shown < len(after):
        yield "  …"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    return (f"{mark} {line}" for line in lines)
