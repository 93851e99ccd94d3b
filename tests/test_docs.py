"""The code blocks of README and of the documentation run, and print what is printed there.

* `python`: the blocks of a page run one after the other, in one session. A block without a language behind it is what
  they print. `{.python .test}` blocks are tests, which pytest runs in a project of their own with a `{.python .conftest}`.
* `bash`: `substrait-spark …` runs; a block behind it is what it prints. Of `pip install` the extras exist, of `make`
  the targets.
* `yaml` and `toml` are read. They, and `python`, are saved under the name that the page gives them ("in `name.yaml`:"),
  and such `python` is only run where the page uses it. `{.python .edit}` blocks are for the package's own files (test_adding.py).
  `protobuf` says what our messages are.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from chromium import browser
from pyspark.sql import SparkSession
from selenium.webdriver import ActionChains
from selenium.webdriver.support.ui import WebDriverWait

from substrait_spark.algebra import expression, extension_messages, relation
from substrait_spark.command_line import main
from substrait_spark.dialects.file import load
from substrait_spark.engines.datafusion import session
from substrait_spark.extensions.yaml_text import parsed
from substrait_spark.lowering import forms
from substrait_spark.lowering.aggregate import LoweredCall
from substrait_spark.lowering.builder import LoweringBuilder

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SETTINGS = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone")
"""What pages may set in the session, which other pages share."""


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str
    behind: str
    """The first words behind it."""


def blocks(page: Path) -> list[Block]:
    found = re.finditer(
        r"^( *)```(\S*|\{[^}]*\})\n(.*?)^\1```$(?=(.{0,80}))", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return [Block(match[2], textwrap.dedent(match[3]), match[4]) for match in found]


WITH_CODE = [
    pytest.param(page, id=page.name, marks=[pytest.mark.smoke] if page.name == "README.md" else [])
    for page in PAGES
    if any(block.language for block in blocks(page))
]


@pytest.fixture
def _settings_end_with_their_page(spark: SparkSession) -> Iterator[None]:
    kept = {name: spark.conf.get(name) for name in SETTINGS}
    yield
    for name, value in kept.items():
        spark.conf.set(name, str(value))


@pytest.mark.usefixtures("_settings_end_with_their_page")
@pytest.mark.parametrize("page", WITH_CODE)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    printed: str | None = None
    for block in blocks(page):
        saved = save(block, tmp_path)
        if block.language == "python" and saved is None:
            printed = (printed or "") + python(block, namespace)
        elif block.language in (
            "{.python .connect}",
            "{.python .lakes}",
        ):  # test_connect.py and lakes/test_how_to.py run them
            printed = None
        elif block.language == "bash":
            printed = (printed or "") + bash(block)
        elif block.language in ("yaml", "toml"):
            settings(block, saved)
        elif block.language == "protobuf":
            messages(block)
        elif not block.language and printed is not None:
            assert printed == block.text
            printed = None


def python(block: Block, namespace: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(block.text, namespace)  # noqa: S102 - the code is ours
    return printed.getvalue()


def bash(block: Block) -> str:
    printed = ""
    for line in block.text.replace("\\\n", " ").splitlines():
        command = line.partition("#")[0].strip()
        if command.startswith("substrait-spark "):
            printed += shell(command)
        elif command.startswith("make "):
            assert re.search(rf"^{command.split()[1]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE), command
        elif command:
            assert command.startswith("pip install "), f"don't know how to run {command}"
            for extra in re.findall(r"\.\[(.*?)\]", command):
                assert set(extra.split(",")) <= extras(), command
    return printed


def shell(command: str) -> str:
    """What a command prints. It runs here, with the session that is there, because Spark takes long to start."""
    printed = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SparkSession, "stop", lambda _: None)
        patch.setattr(sys, "argv", shlex.split(command))
        patch.setattr(sys, "stdout", printed)
        with pytest.raises(SystemExit) as end:
            main()
    assert end.value.code == 0, command
    return "" if re.search(UNCOMPARED, command) else printed.buffer.getvalue().decode()


UNCOMPARED = r"--help$|^substrait-spark measure"
"""What prints more than pages show, and numbers that hang on an engine's release."""


def extras() -> set[str]:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    section = text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    return set(re.findall(r"^(\w+) = ", section, re.MULTILINE))


def save(block: Block, folder: Path) -> Path | None:
    """The file that a page says a block is in; None where it doesn't say so."""
    name = re.search(r"in `([\w.]+\.(?:py|toml|yaml))`:", block.behind)
    if name is None:
        return None
    path = folder / name[1]
    path.write_text(block.text, "utf-8")
    return path


def settings(block: Block, saved: Path | None) -> None:
    if block.language == "yaml":
        content = parsed(block.text)
        if saved is not None and "supported_relations" in content:
            load(saved)
    else:
        pytest.importorskip("tomllib").loads(block.text)


def messages(block: Block) -> None:
    for name, body in re.findall(r"^message (\w+) \{\n(.*?)^\}", block.text, re.DOTALL | re.MULTILINE):
        described = getattr(extension_messages, name).DESCRIPTOR.fields
        assert re.findall(r"(\w+) = (\d+);", body) == [(field.name, str(field.number)) for field in described]


def test_readers_are_told_of_every_kind() -> None:
    """The page on what readers need names the relations and the expressions that canonical plans consist of."""
    told = (ROOT / "docs" / "reference" / "what-readers-need.md").read_text("utf-8")
    kinds = {each.NAME for module in (relation, expression) for each in vars(module).values() if hasattr(each, "NAME")}
    assert len(kinds) > 20
    assert {kind for kind in kinds if kind and f"`{kind}`" not in told} == {"WINDOW_FUNCTION"}, "of dialects"


LAKE = """
@pytest.fixture(scope="session")
def lake(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    spark.range(3).write.parquet(f"{folder}/orders")
    return str(folder)
"""

JOBS = """
from substrait_spark import capture

def daily_revenue(spark):
    return spark.range(3).groupBy('id').count()

def nightly(spark):
    daily_revenue(spark).collect()
"""


@pytest.mark.usefixtures("another_pytest")
def test_tests_in_pages(tmp_path: Path) -> None:
    """The tests of the pages on snapshots and on jobs run under the settings of the first."""
    pytest.importorskip("syrupy")
    page, jobs = (ROOT / "docs" / "how-to" / f"{name}.md" for name in ("snapshot-plans-in-ci", "capture-a-job"))
    tests = [block.text for block in (*blocks(page), *blocks(jobs)) if block.language == "{.python .test}"]
    toml = [block.text for block in blocks(page) if block.language == "toml"]
    assert tests
    (tmp_path / "test_page.py").write_text("\n\n".join([JOBS, *tests]), "utf-8")
    (conftest,) = (block.text for block in blocks(page) if block.language == "{.python .conftest}")
    (tmp_path / "conftest.py").write_text(conftest + LAKE, "utf-8")
    (tmp_path / "pyproject.toml").write_text("\n".join(toml), "utf-8")
    command = [sys.executable, "-m", "pytest", "--snapshot-update"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    kept = (tmp_path / "__snapshots__/test_page/test_files.substrait.txt").read_text("utf-8")
    assert "<lake>/orders/part-" in kept
    assert "length" in kept
    kept = (tmp_path / "__snapshots__/test_page/test_nightly.substrait.txt").read_text("utf-8")
    assert kept.startswith("query 1: collect\n\nsubstrait plan text")


@pytest.mark.slow
def test_site() -> None:
    """The site builds without a warning: every link leads somewhere, every name of the reference is documented."""
    pytest.importorskip("zensical")
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    reference = (ROOT / "build" / "site" / "reference" / "python.html").read_text("utf-8")
    assert 'id="substrait_spark.df_to_substrait"' in reference
    assert "inline_limit" in reference.partition('id="substrait_spark.sql_to_substrait"')[2].partition("</pre>")[0]
    assert_nothing_is_fetched(ROOT / "build" / "site")
    assert_measurements_are_in_no_search(ROOT / "build" / "site")
    for documented in (LoweringBuilder, LoweredCall):
        names = {name for name in dir(documented) if not name.startswith("_")}
        told = {name for name in names if f'id="{documented.__module__}.{documented.__name__}.{name}"' in reference}
        assert names == told, "what rewrites build with has docstrings"
    assert [each for each in forms.BECOMES if f'id="{forms.__name__}.{each.__name__}"' not in reference] == []
    with browser(1_200, 900) as window:
        assert_search_finds(window, ROOT / "build" / "site", "notebook", "how-to/see-a-plan.html")
        assert_functions_are_filtered(window, ROOT / "build" / "site")


def assert_nothing_is_fetched(site: Path) -> None:
    """No page loads a script, a style, a font or a picture from elsewhere."""
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=[\"'](https?:)?//", page.read_text("utf-8")
        )
        assert not loaded, page


def assert_measurements_are_in_no_search(site: Path) -> None:
    """Pages of numbers hold every word, and would come before the guides."""
    pages = {
        item["location"].partition("#")[0] for item in json.loads((site / "search.json").read_text("utf-8"))["items"]
    }
    assert {"index.html", "how-to/see-a-plan.html", "reference/supported.html", "comparison.html"} <= pages
    assert not [page for page in pages if page.startswith(("measurements/", "benchmark", "fuzzing"))]
    assert (site / "measurements" / "index.html").is_file()


FOUND = """
const links = (root, found = []) => {
  for (const each of root.querySelectorAll('*')) {
    if (each.matches('a') && each.getRootNode() !== document) found.push(each.getAttribute('href'));
    if (each.shadowRoot) links(each.shadowRoot, found);
  }
  return found;
};
return links(document);
"""
"""Where the results of the site's search lead, which are in a tree of their own."""


def assert_search_finds(window: Any, site: Path, word: str, page: str) -> None:
    """From the file system too, where a page may start no worker."""
    window.get((site / "index.html").as_uri())
    wait = WebDriverWait(window, 10)
    wait.until(lambda _: window.find_element("css selector", ".md-search__button")).click()
    wait.until(lambda _: "md-search" not in str(window.switch_to.active_element.get_attribute("class")))
    ActionChains(window).pause(0.5).send_keys(word).perform()
    wait.until(lambda _: any(page in str(link) for link in window.execute_script(FOUND)))


def assert_functions_are_filtered(window: Any, site: Path) -> None:
    window.get((site / "reference" / "supported.html").as_uri())
    field = window.find_element("css selector", ".filter-functions input")
    field.send_keys("date_trunc")
    functions = "//table[.//th[1][normalize-space()='Function']]/tbody/tr"
    rows = [row for row in window.find_elements("xpath", functions) if row.is_displayed()]
    assert rows
    assert all("date_trunc" in row.text for row in rows)
    titles = [title.text.rstrip("¶") for title in window.find_elements("css selector", "h3") if title.is_displayed()]
    assert titles == ["Dates and times"]
    field.clear()
    field.send_keys(" ")
    names = window.find_elements("xpath", f"{functions}/td[position() <= 2]//code")
    assert len(names) > 1_000
    heights = "return Math.max(...arguments[0].map(each => each.getClientRects().length))"
    assert window.execute_script(heights, names) == 1, "a name is broken in the middle"


def test_a_plain_datafusion_has_our_settings() -> None:
    """The page on other engines sets up a context, in Python and in Rust, as `datafusion.context` does."""
    page = ROOT / "docs" / "how-to" / "use-other-engines.md"
    code = {block.language: block.text for block in blocks(page) if "with_default_catalog_and_schema" in block.text}
    assert set(code) == {"python", "rust"}
    for key, value in session.SETTINGS.items():
        assert f'"{key}": "{value}",' in code["python"]
        assert re.search(rf'\.set_(bool|str)\("{key}", "?{value}"?\)', code["rust"]), key
