"""The notebook that tells the library's story runs, and shows what it says."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from chromium import browser
from nbclient import NotebookClient
from test_notebook_view import assert_laid_out

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What each cell of the notebook put out, run in a folder of its own."""
    directory = tmp_path_factory.mktemp("story")
    shutil.copy(EXAMPLES / "tpc_data.py", directory)
    notebook: Any = nbformat.reads((EXAMPLES / "story.ipynb").read_text("utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    assert not any(cell.get("outputs") for cell in notebook.cells), "the notebook is kept without outputs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"))
        # The kernel of this environment, whatever kernels the machine knows by name.
        client = NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": directory}}
        )
        client.execute()
    return {cell["id"]: cell.get("outputs", []) for cell in notebook.cells}


def text(outputs: list[Any]) -> str:
    """What cells print, and the values that they end in."""
    return "".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)


def test_cells_show_what_the_story_says(outputs: dict[str, list[Any]]) -> None:
    assert "lineitem.parquet" in text(outputs["data"])
    assert "INDONESIA" in text(outputs["spark"])
    assert text(outputs["text"]).startswith("substrait plan text 1\n")
    assert "INDONESIA" in text(outputs["run"])
    difference = text(outputs["diff"])
    assert "- lt($2:o_orderdate, '1995-01-01'::date)" in difference
    assert difference.count("\n  - ") == difference.count("\n  + ") == 1
    assert "1 obstacle" in text(outputs["check"])
    assert text(outputs["keep"]).startswith("flowchart BT")


def test_the_plan_shows_itself(outputs: dict[str, list[Any]], tmp_path: Path) -> None:
    (shown,) = outputs["plan"]
    page = tmp_path / "cell.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{shown['data']['text/html']}", "utf-8")
    with browser(1_000, 1_000) as window:
        window.get(page.as_uri())
        assert_laid_out(window)
        assert "n_name, revenue" in window.find_element("css selector", ".root").text
