"""The pytest plugin: the fixture `plan_snapshot`, and its settings in pytest's configuration file."""

from __future__ import annotations

import importlib.util
import textwrap
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .snapshot import PlanSnapshot

DETAILS: pytest.StashKey[dict[str, str]] = pytest.StashKey()
"""What an item's failed assertions tell, each by the sentence that it follows."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the settings."""
    parser.addini(
        "plan_snapshot_keep", "what plan snapshots don't leave out: locations, sizes, statistics, producer", type="args"
    )
    parser.addini(
        "plan_snapshot_roots", "folders whose files plan snapshots show from there on: `folder = name`", type="linelist"
    )
    parser.addini("plan_snapshot_dialect", "the dialect of plan snapshots; none for canonical plans", type="string")


if importlib.util.find_spec("syrupy") is None:

    @pytest.fixture
    def plan_snapshot() -> None:
        """Tells what is missing."""
        pytest.fail("plan_snapshot needs syrupy: pip install syrupy.", pytrace=False)

else:

    @pytest.fixture
    def plan_snapshot(snapshot: Any, request: pytest.FixtureRequest, tmp_path_factory: Any) -> PlanSnapshot:
        """The stored plan of this test: `assert df == plan_snapshot`, for a DataFrame, a Plan or the queries of a `capture`.

        A file `*.substrait.txt` beside the tests, which `--snapshot-update` writes.
        """
        from .snapshot import Form, PlanSnapshot, extension

        config = request.config
        form = Form(
            tuple(config.getini("plan_snapshot_keep")),
            tuple(_roots(config, tmp_path_factory).items()),
            config.getini("plan_snapshot_dialect") or None,
        )
        stored = PlanSnapshot(
            session=snapshot.session,
            extension_class=extension(form),
            test_location=snapshot.test_location,
            update_snapshots=snapshot.update_snapshots,
            update_new_snapshots_only=snapshot.update_new_snapshots_only,
        )
        stored.details = request.node.stash.setdefault(DETAILS, {})
        return stored


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Tell a failed assertion's details in its message, which pytest cuts after eight lines while it is made."""
    error = None if call.excinfo is None else call.excinfo.value
    if isinstance(error, AssertionError):
        message = str(error)
        for sentence, details in item.stash.get(DETAILS, {}).items():
            message = message.replace(sentence, f"{sentence}\n{textwrap.indent(details, '  ')}", 1)
        if message != str(error):
            error.args = (message,)
    return (yield)


def _roots(config: pytest.Config, tmp_path_factory: Any) -> dict[str, str]:
    """The folders that are known: the project's, the run's temporary ones, and the settings'."""
    from .normalised import TEMPORARY

    temporary = tmp_path_factory.getbasetemp()
    roots = {str(config.rootpath): ".", str(temporary): TEMPORARY}
    if hasattr(config, "workerinput"):  # a worker of pytest-xdist has its own folder in the run's
        roots[str(temporary.parent)] = TEMPORARY
    for line in config.getini("plan_snapshot_roots"):
        folder, equals, name = line.partition("=")
        if not equals:
            raise pytest.UsageError(f"plan_snapshot_roots: {line!r} is not of the form `folder = name`.")
        roots[folder.strip()] = name.strip()
    return roots
