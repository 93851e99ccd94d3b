"""Running plans in Acero: whatever they read is bound to tables in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.substrait
from substrait.plan_pb2 import Plan

from ...algebra.relation import Relation
from ...dialects.dialect import Dialect
from ...dialects.file import load
from ...errors import EngineError, PlanningError
from ...extensions import registry
from ...lowering.older_forms import written_for
from ...plan.message import build
from ...plan.removed_fields import with_uris
from ...reading.parameters import bound as with_values
from ...reading.plan import read_plan
from ...testing.conformance import departures
from ..file_access import folders
from ..result import named
from .reads import Tables, bound, require_tables
from .registration import URN, registered
from .stages import rows_of

MEASURED = 26
"""The first release of PyArrow whose Acero the dialect is for."""


def execute(
    plan: Plan,
    *,
    tables: Tables | None = None,
    files_under: Iterable[str | Path] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> pa.Table:
    """The rows of a plan of the `acero` dialect, in columns named and typed as the plan says.

    `tables` are those that the plan reads by name: an Arrow table; the path of a Parquet file, or of a folder of such; whatever hands over Arrow's stream or
    array by the PyCapsule interface; or a `pyarrow.dataset.Dataset`. All that is read is held in memory. `files_under` and `parameters`
    are as `engines.datafusion.execute` takes them.

    Raises PlanningError for a PyArrow before 26; InvalidPlanError, before anything runs, where a table, a file or the value of a parameter is missing, or has other types than
    the plan says; PlanningError where the plan isn't in the forms of the dialect, or Acero does not take it; and EngineError where
    Acero fails while it runs the plan, as it must where Spark raises an error.
    """
    _require_release(pa.__version__)
    under = folders(files_under)
    require_tables(tables or {})
    registry.load_all()
    dialect = load("acero")
    if departing := departures(plan, dialect):
        raise PlanningError(
            f"Acero gets only plans in the forms of its dialect, and this one has {departing[0]}. Make it with dialect='acero', or lower it."
        )
    ready, rows = bound(read_plan(with_values(plan, parameters)), tables or {}, under)
    found = rows_of(registered(ready), rows, partial(_run, dialect))
    return named(found, list(plan.relations[0].root.names))


def _require_release(version: str) -> None:
    """Raise PlanningError for a PyArrow before the one whose rows the dialect was compared by."""
    if int(version.partition(".")[0]) < MEASURED:
        raise PlanningError(
            f"Plans for Acero are for PyArrow {MEASURED} and later, and this is {version}: pip install 'pyarrow>={MEASURED}'."
        )


def _run(dialect: Dialect, root: Relation, rows: Mapping[str, pa.Table]) -> pa.Table:
    """The rows of a relation. Acero runs on this thread alone, since it keeps an order only so."""
    plan = with_uris(written_for(dialect, build(root, [f"c{n}" for n in range(len(root.types))])), {URN})
    try:
        reader = pyarrow.substrait.run_query(
            plan.SerializeToString(), table_provider=lambda names, _schema: rows[names[0]], use_threads=False
        )
    except Exception as error:  # whatever pyarrow raises of a plan
        raise PlanningError(f"Acero failed: {error}") from error
    try:
        return reader.read_all()
    except Exception as error:  # as before
        raise EngineError(f"Acero failed: {error}") from error
