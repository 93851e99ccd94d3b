"""The HTML view as a browser shows it: laid out without overlap, nothing cut off, open on a click, light and dark."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import tpc_data
from chromium import browser
from google.protobuf import text_format
from IPython.core.interactiveshell import InteractiveShell
from pyspark.sql import SparkSession
from rows import plan_of
from selenium.webdriver.common.keys import Keys
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan
from test_document import emitted, recorded
from test_structure import SOUND, sound

from substrait_spark import Problem, Report, SubstraitSparkError, diff, explain, to_dot, to_html, to_mermaid, to_svg
from substrait_spark.algebra.message_walk import messages
from substrait_spark.display.html import script

SCREENSHOT = Path(__file__).parent.parent / "docs" / "images" / "plan-view.png"

BOXES = """
const view = document.querySelector('.substrait-plan');
const box = element => { const b = element.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
const shown = [...view.querySelectorAll('summary, .item, .label, td, p')].filter(e => e.checkVisibility());
return {
  view: [view.scrollWidth, view.clientWidth],
  cut: shown.filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map(e => e.textContent),
  boxes: shown.filter(e => e.tagName != 'P' && e.tagName != 'SPAN').map(e => [e.textContent, ...box(e)]),
};
"""


JUPYTER = """
.notebook :not(pre) > code { background: red; padding: 1px 5px; }
.notebook tbody tr:nth-child(odd) { background: red; }
"""
"""Rules of JupyterLab's own style, in colours that nobody overlooks."""


HEAD = f"<!doctype html><meta charset=utf-8><style>{JUPYTER}</style>"


def page(path: Path, plan: Plan, style: str = "color: #222; background: #fff") -> str:
    """The address of a page with nothing but a plan's view."""
    path.write_text(f"{HEAD}<body class=notebook style='{style}'>{to_html(plan)}", "utf-8")
    return path.as_uri()


def assert_laid_out(window: Any) -> None:
    """No line covers another, and none is wider than its place."""
    found = window.execute_script(BOXES)
    scroll, client = found["view"]
    assert scroll <= client, f"the view is {scroll} wide in {client}"
    assert found["cut"] == []
    for index, (text, left, top, right, bottom) in enumerate(found["boxes"]):
        assert right > left, text
        assert bottom > top, text
        for other, left2, top2, right2, bottom2 in found["boxes"][index + 1 :]:
            apart = left2 >= right - 1 or right2 <= left + 1 or top2 >= bottom - 1 or bottom2 <= top + 1
            assert apart, f"{text!r} overlaps {other!r}"


def large(copies: int = 12) -> Plan:
    """A union of as many queries; every other one is the same, the others have limits and files of their own."""
    query = emitted(recorded("aggregate"))
    assert query is not None
    plan = Plan.FromString(query.SerializeToString())
    union = plan.relations[0].root.input.set
    union.op = union.SET_OP_UNION_ALL
    for number in range(copies):
        part = union.inputs.add()
        part.CopyFrom(query.relations[0].root.input)
        if number % 2:
            part.fetch.count_expr.literal.i64 = number
            for file in (
                file for read in messages(part) if isinstance(read, ReadRel) for file in read.local_files.items
            ):
                file.uri_file += f"/{number}.parquet"
    return plan


def relations(plan: Plan) -> int:
    """How many lines of a plan's text are relations."""
    return sum(line.startswith("  ") for line in explain(plan).split("\n"))


@pytest.mark.parametrize(("number", "width"), [(21, 1_300), (21, 700), (21, 420), (3, 860)])
def test_layout(
    spark: SparkSession, tpch: Path, tmp_path: Path, pytestconfig: pytest.Config, number: int, width: int
) -> None:
    plan = plan_of(spark.sql(tpc_data.queries(tpch)[number]))
    with browser(width, 1_200) as window:
        window.get(page(tmp_path / "plan.html", plan))
        assert_laid_out(window)
        shown = window.find_elements("css selector", ".relation")
        assert len(shown) == relations(plan)
        assert all(each.get_attribute("open") for each in shown)
        condition = next(each for each in shown if each.text.startswith("left Filter and(is_not_null("))
        inside = condition.find_element("css selector", ".inside")
        body = inside.find_element("css selector", ".body")
        assert not body.is_displayed()
        inside.find_element("css selector", "summary").click()
        assert body.is_displayed()
        assert "\nand is_not_null(" in body.text
        assert_laid_out(window)
        if number == 3 and pytestconfig.getoption("--screenshot"):
            view = window.find_element("css selector", ".substrait-plan")
            SCREENSHOT.parent.mkdir(exist_ok=True)
            SCREENSHOT.write_bytes(view.screenshot_as_png)
        for summary in window.find_elements("css selector", ".inside > summary"):
            if summary != inside.find_element("css selector", "summary"):
                window.execute_script("arguments[0].click()", summary)
        assert_laid_out(window)
        fold = shown[0].find_element("css selector", "summary")
        fold.click()
        assert not shown[1].is_displayed()


@pytest.mark.slow
@pytest.mark.parametrize("width", [420, 700, 1_300])
@pytest.mark.parametrize("scripts", [True, False])
def test_large_plan(tmp_path: Path, width: int, scripts: bool) -> None:
    plan = large()
    with browser(width, 1_000) as window:
        window.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        window.get(page(tmp_path / "plan.html", plan))
        assert bool(window.find_elements("css selector", ".tools")) == scripts
        assert_laid_out(window)
        seen = [each for each in window.find_elements("css selector", ".relation, .same") if each.is_displayed()]
        assert 10 < len(seen) <= 30
        assert window.find_element("css selector", ".overview").size["height"] < 1_000
        marks = window.find_elements("css selector", ".map a")
        assert len(marks) == len(window.find_elements("css selector", ".relation, .same"))
        assert all(mark.rect["x"] >= 0 and mark.rect["x"] + mark.rect["width"] <= width for mark in marks)
        last = window.find_elements("css selector", ".relation")[-1]
        assert not last.is_displayed()
        again = next(each for each in window.find_elements("css selector", ".same a") if each.is_displayed())
        assert again.text == "subplan 1 again"
        window.find_elements("css selector", ".map a:not(.again)")[-1].click()
        assert last.is_displayed()
        for each in window.find_elements("css selector", ".relation, .inside"):
            window.execute_script("arguments[0].open = true", each)
        assert_laid_out(window)


def test_a_view_in_a_cell_of_a_table_is_wide_enough_to_read(tmp_path: Path) -> None:
    path = tmp_path / "table.html"
    path.write_text(f"{HEAD}<body><table><tr><td>plan</td><td>{to_html(sound())}</td></tr></table>", "utf-8")
    with browser(900, 900) as window:
        window.get(path.as_uri())
        assert window.find_element("css selector", ".substrait-plan").size["width"] > 400
        assert_laid_out(window)


def test_folding_and_finding_by_keyboard(tmp_path: Path) -> None:
    plan = large()
    plan.relations[0].root.input.set.inputs[9].fetch.count_expr.literal.i64 = 987
    with browser(700, 900) as window:
        window.get(page(tmp_path / "plan.html", plan))
        shown = window.find_elements("css selector", ".relation")
        press(window, "Expand all", Keys.ENTER)
        assert all(each.is_displayed() for each in shown)
        press(window, "Fold all", Keys.SPACE)
        assert [each.is_displayed() for each in shown] == [True, *[False] * (len(shown) - 1)]
        window.switch_to.active_element.send_keys(Keys.TAB, "987")
        (hit,) = window.find_elements("css selector", ".hit")
        assert hit.is_displayed()
        assert "count 987" in hit.text
        said = window.find_element("css selector", ".tools output")
        assert said.text == "1 of 1"
        field = window.switch_to.active_element
        field.clear()
        field.send_keys("dv")
        reads = window.find_elements("css selector", ".hit")
        assert len(reads) > 2
        assert all(each.is_displayed() for each in reads)
        field.send_keys(Keys.ENTER)
        assert said.text == f"2 of {len(reads)}"
        assert "current" in str(reads[1].get_attribute("class"))
        field.send_keys(Keys.SHIFT, Keys.ENTER, Keys.ENTER)
        assert said.text == f"{len(reads)} of {len(reads)}"
        field.send_keys("no such column")
        assert said.text == "nothing found"
        assert not window.find_elements("css selector", ".hit")


def press(window: Any, label: str, key: str) -> None:
    """Go on from what has the focus, by the tab key, to a button, and press it."""
    for _ in range(10):
        if window.switch_to.active_element.text == label:
            window.switch_to.active_element.send_keys(key)
            return
        window.switch_to.active_element.send_keys(Keys.TAB)
    raise AssertionError(f"the tab key doesn't lead to {label}")


def test_subplans_that_occur_again_are_shown_once() -> None:
    plan = large()
    shown = to_html(plan)
    queries = relations(emitted(recorded("aggregate")) or plan)
    assert shown.count("subplan 1 again</a>") == 5
    assert shown.count("class='relation'") == relations(plan) - 5 * queries
    assert f"· {relations(plan)} relations ·" in shown
    assert f"{plan.ByteSize():,} bytes" in shown
    for target in re.findall(r"href='#([\w-]+)'", shown):
        assert shown.count(f"id='{target}'") == 1


def test_queries_that_refer_outwards_are_never_shown_as_the_same() -> None:
    """The same text is another query where the column outside is another."""
    inputs = f"{correlated('t')} {correlated('s')}"
    plan = text_format.Parse(
        f"relations {{ root {{ names: 'a' input {{ set {{ op: SET_OP_UNION_ALL {inputs} }} }} }} }}", Plan()
    )
    assert explain(plan).count("#1 Filter ^$0:a") == 2
    assert "again</a>" not in to_html(plan)
    for query in plan.relations[0].root.input.set.inputs:
        tuples = query.filter.condition.subquery.set_predicate.tuples
        tuples.filter.condition.selection.outer_reference.Clear()
        tuples.filter.condition.selection.root_reference.SetInParent()
    assert "subplan 1 again" in to_html(plan)


def reading(table: str) -> str:
    return f"""read {{ named_table {{ names: "{table}" }} base_schema {{ names: "a" struct {{
      nullability: NULLABILITY_REQUIRED types {{ bool {{ nullability: NULLABILITY_NULLABLE }} }} }} }} }}"""


def correlated(table: str) -> str:
    """An input of a set: the rows of a table for which EXISTS holds of a query that refers to them."""
    return f"""inputs {{ filter {{ input {{ {reading(table)} }} condition {{ subquery {{ set_predicate {{
      predicate_op: PREDICATE_OP_EXISTS tuples {{ filter {{ input {{ {reading("u")} }} condition {{ selection {{
        direct_reference {{ struct_field {{}} }} outer_reference {{ steps_out: 1 }} }} }} }} }} }} }} }} }} }}"""


@pytest.mark.parametrize(
    ("style", "dark"), [("color: #222; background: #fff", False), ("color: #ddd; background: #111", True)]
)
@pytest.mark.parametrize("plan", [emitted(recorded("aggregate")), large()], ids=["small", "large"])
def test_contrast(tmp_path: Path, plan: Plan, style: str, dark: bool) -> None:
    """Every text stands out from its page: at least 3 to 1, as the accessibility guidelines count it."""
    with browser(900, 900, dark=dark) as window:
        window.get(page(tmp_path / "plan.html", plan, style))
        colors = window.execute_script(CONTRAST)
        background = luminance(17, 17, 17) if dark else luminance(255, 255, 255)
        assert len(colors) > 20
        for text, red, green, blue, alpha in colors:
            base = 17 if dark else 255
            seen = luminance(*(channel * alpha + base * (1 - alpha) for channel in (red, green, blue)))
            light, low = max(seen, background), min(seen, background)
            assert (light + 0.05) / (low + 0.05) >= 3, text
        assert window.execute_script(COLORED) == 0


CONTRAST = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const rgba = color => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
return [...document.querySelectorAll('.substrait-plan *')].filter(
  e => e.textContent && !['STYLE', 'SCRIPT'].includes(e.tagName)
).map(e => {
  const [r, g, b, a] = rgba(getComputedStyle(e).color);
  return [e.textContent, r, g, b, a / 255];
});
"""


def luminance(*channels: float) -> float:
    """https://www.w3.org/TR/WCAG21/#dfn-relative-luminance"""
    linear = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


COLORED = """
return [...document.querySelectorAll('.substrait-plan code, .substrait-plan tr')].filter(
  e => getComputedStyle(e).backgroundColor != 'rgba(0, 0, 0, 0)' || getComputedStyle(e).paddingLeft != '0px').length
"""


class Tags(HTMLParser):
    """Checks that every element is closed where it was opened, and collects tags and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_what_a_plan_holds_is_escaped() -> None:
    plan = text_format.Parse(SOUND.replace('"t"', '"<script>alert(1)</script>\'&"'), Plan())
    plan.relations[0].root.names[0] = "<img src=x onerror=alert(1)>"
    tags = Tags()
    tags.feed(to_html(plan))
    assert tags.open == []
    assert tags.tags <= set("div style script details summary p a b i span code table tbody tr td svg path".split())
    assert to_html(plan).count("<script") == to_html(plan).count(script()) == 1
    assert "<script>alert(1)</script>" in tags.text
    assert "<script>alert" not in to_html(plan)
    assert "<script>" not in to_dot(plan)
    assert "<script>" not in to_mermaid(plan)


def test_long_names_of_a_root_are_shortened() -> None:
    plan = sound()
    plan.relations[0].root.names[0] = "long" * 100
    tags = Tags()
    tags.feed(to_html(plan))
    assert "long" * 29 + "lon…" in tags.text
    assert tags.text.count("long" * 100) == 1  # among the columns, when these are opened


def test_plans_show_themselves() -> None:
    shell: Any = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "substrait_spark")
    shown, _ = shell.display_formatter.format(sound())
    assert shown["text/html"] == to_html(sound())
    assert shown["text/plain"] == explain(sound())
    shell.run_line_magic("unload_ext", "substrait_spark")
    shown, _ = shell.display_formatter.format(sound())
    assert "text/html" not in shown


HOSTILE = "<img src=x onerror=alert(1)>\x1b[2J"


def formatted(value: object) -> dict[str, str]:
    """What a notebook shows of a cell's value, without our extension."""
    shell: Any = InteractiveShell.instance()
    found: dict[str, str] = shell.display_formatter.format(value)[0]
    return found


def test_reports_show_themselves(tmp_path: Path) -> None:
    problem = Problem("Project", "PythonUDF", f"f({HOSTILE})", f"it is Python {HOSTILE}", f"Don't {HOSTILE}.")
    report = Report((problem, Problem("Read", "Scan", "Scan", "there is no such source", "")))
    assert repr(report) == str(report)
    shown = formatted(report)
    assert shown["text/plain"] == str(report)
    tags = Tags()
    tags.feed(shown["text/html"].replace("<br>", ""))
    assert tags.open == []
    assert tags.tags == {"div", "p", "b", "ol", "li", "code", "i"}
    assert "\x1b" not in shown["text/html"]
    with browser(420, 600) as window:
        path = tmp_path / "report.html"
        path.write_text(f"{HEAD}{shown['text/html']}", "utf-8")
        window.get(path.as_uri())
        text = window.find_element("css selector", ".substrait-report").text
        assert text.startswith("2 obstacles on the way to a Substrait plan:\nPythonUDF at Project\nit is Python <img")
        assert "\nScan at Read\nthere is no such source" in text
    assert "The plan can be expressed in Substrait." in Report()._repr_html_()


def test_differences_show_themselves() -> None:
    plan = text_format.Parse(SOUND.replace('"t"', f"'{HOSTILE}'"), Plan())
    difference = diff(sound(), plan)
    assert repr(difference) == str(difference)
    assert "\n" in repr(difference)
    shown = formatted(difference)
    assert shown["text/plain"] == difference.rstrip("\n")
    tags = Tags()
    tags.feed(shown["text/html"])
    assert tags.open == []
    assert tags.tags == {"pre", "span"}
    assert tags.text == str(difference)
    marked = re.findall(r"<span style='background:(.*?)'>  ([-+])", shown["text/html"])
    assert len(marked) == sum(line.startswith(("  -", "  +")) for line in difference.splitlines())
    assert len(set(marked)) == 2
    assert diff(plan, plan) == ""
    assert not diff(plan, plan)
    assert repr(diff(plan, plan)) == "The plans mean the same."
    assert diff(plan, plan)._repr_html_() == "<p>The plans mean the same.</p>"
    assert repr(explain(plan)) == explain(plan)


MERMAID = """flowchart BT
    r0["<b>root</b><br/>s, k, d"]
    r1["<b>Aggregate</b><br/>by #91;c#93; measures #91;sum#40;#36;3#41;#123;overflow#61;ERROR#125;<br/>filter b#93;<br/>→ s: i64#63;, c: struct#63;#60;d: string#62;"]
    r2["<b>Project</b><br/>#91;add#40;a, 1::i64#41;#93;<br/>→ a: i64#63;, b: boolean#63;, c: struct#63;#60;d:<br/>string#62;, #36;3: i64#63;"]
    r3["<b>Filter</b><br/>and#40;b, true, case when true then true else<br/>false end#41;"]
    r4["<b>Read</b><br/>t<br/>→ a: i64#63;, b: boolean#63;, c: struct#63;#60;d:<br/>string#62;"]
    r1 --> r0
    r2 --> r1
    r3 --> r2
    r4 --> r3
"""


def test_mermaid() -> None:
    assert to_mermaid(sound()) == MERMAID


def test_queries_are_dotted_arrows() -> None:
    plan = emitted(recorded("subquery"))
    assert plan is not None
    assert '-.->|"#35;1"|' in to_mermaid(plan)
    assert '[label="#1" style=dashed]' in to_dot(plan)


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz on the PATH (apt install graphviz)")
def test_svg() -> None:
    hostile = text_format.Parse(SOUND.replace('"t"', '"<script>alert(1)</script>\'&"'), Plan())
    assert "<script>" not in to_svg(hostile)
    drawn = to_svg(sound())
    assert drawn.count('class="node"') == 5
    assert drawn.count('class="edge"') == 4


def test_svg_without_graphviz(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SubstraitSparkError, match=r"`dot` is not on the PATH\. Install it \(`apt install graphviz`"):
        to_svg(sound())
