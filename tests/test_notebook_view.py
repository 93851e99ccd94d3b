"""The HTML view as a browser shows it: laid out without overlap, nothing cut off, open on a click, light and dark."""

from __future__ import annotations

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
from substrait.plan_pb2 import Plan
from test_document import emitted, recorded
from test_structure import SOUND, sound

from substrait_spark import SubstraitSparkError, explain, to_dot, to_html, to_mermaid, to_svg

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


@pytest.mark.parametrize(("number", "width"), [(21, 1_100), (21, 500), (3, 860)])
def test_layout(
    spark: SparkSession, tpch: Path, tmp_path: Path, pytestconfig: pytest.Config, number: int, width: int
) -> None:
    plan = plan_of(spark.sql(tpc_data.queries(tpch)[number]))
    with browser(width, 1_200) as window:
        window.get(page(tmp_path / "plan.html", plan))
        assert_laid_out(window)
        relations = window.find_elements("css selector", ".relation")
        assert len(relations) == sum(line.startswith("  ") for line in explain(plan).split("\n"))
        condition = next(each for each in relations if each.text.startswith("left Filter and(is_not_null("))
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
        fold = relations[0].find_element("css selector", "summary")
        fold.click()
        assert not relations[1].is_displayed()


@pytest.mark.parametrize(
    ("style", "dark"), [("color: #222; background: #fff", False), ("color: #ddd; background: #111", True)]
)
def test_contrast(tmp_path: Path, style: str, dark: bool) -> None:
    """Every text stands out from its page: at least 3 to 1, as the accessibility guidelines count it."""
    plan = emitted(recorded("aggregate"))
    assert plan is not None
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
return [...document.querySelectorAll('.substrait-plan *')].filter(e => e.textContent && e.tagName != 'STYLE').map(e => {
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
    assert tags.tags <= set("div style details summary p b i span code table tbody tr td".split())
    assert "<script>alert(1)</script>" in tags.text
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
