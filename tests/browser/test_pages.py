"""Pages in a real browser: they open, fold, search and show what was clicked. `make browser` runs these.

A browser is Chromium through Playwright: its own, the system's (`chromium`), or what RETROGRADE_BROWSER names.
"""

import os
import shutil
import statistics

import numpy as np
import pytest
from tools.pages import PROGRAMS, retrograde
from tools.test_graph import nasty_graph

pytestmark = pytest.mark.long

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (make browser installs it)")


@pytest.fixture(scope="module")
def chromium():
    path = os.environ.get("RETROGRADE_BROWSER") or shutil.which("chromium") or shutil.which("chromium-browser")
    with playwright.sync_playwright() as running:
        try:
            browser = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except playwright.Error as problem:
            pytest.skip(f"no Chromium: {str(problem).splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """An empty page that fails the test if anything on it does, or if it asks the network for anything."""
    page = chromium.new_page(viewport={"width": 1400, "height": 850})
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith("file:") else None)
    yield page
    page.close()
    assert not wrong


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def gpt(folder):
    done = retrograde("graph", str(PROGRAMS / "gpt.py"), "-o", str(folder / "gpt.html"))
    assert done.returncode == 0, done.stderr
    return folder / "gpt.html"


def opened(page, path):
    page.goto(path.as_uri())
    page.wait_for_selector("#stage[data-ready]")
    return page


def told(page, name):
    return page.locator("#stage").get_attribute(f"data-{name}")


def box(page, title):
    return page.locator(f'g.box:has(> text.title:text-is("{title}"))').first


def press(target):
    target.dispatch_event("pointerdown", {"clientX": 300, "clientY": 300})
    target.dispatch_event("pointerup", {"clientX": 300, "clientY": 300, "bubbles": True})


def colours(page):
    """How many colours a screenshot of the stage has."""
    from io import BytesIO

    from PIL import Image

    image = np.asarray(Image.open(BytesIO(page.locator("#stage").screenshot())).convert("RGB"))
    return len(np.unique(image.reshape(-1, 3), axis=0)), image


def test_a_large_graph_opens_at_once_and_folds_at_once(page, gpt):
    taken = []
    for _ in range(3):
        opened(page, gpt)
        taken.append(page.evaluate("performance.now()"))
    assert min(taken) < 2000
    assert int(told(page, "visible")) <= 200
    at_first = told(page, "visible")
    first, again = [], []
    for block in range(2, 7):
        names = f"blocks.{block} · Block", "attend · Attention"
        for folding in (first, again):
            for mark, name in (("▸", names[0]), ("▸", names[1]), ("▾", names[1]), ("▾", names[0])):
                press(box(page, f"{mark} {name}"))
                (again if mark == "▾" else folding).append(float(told(page, "folding")))
    assert told(page, "visible") == at_first
    assert statistics.median(first) < 100
    assert statistics.median(again) < 100
    print(f"opens in {min(taken):.0f} ms; unfolds for the first time in {statistics.median(first):.0f} ms")
    print(f"(at most {max(first):.0f}), folds and unfolds again in {statistics.median(again):.0f} ms")


def test_search_reveals_what_is_folded(page, gpt):
    opened(page, gpt)
    page.fill("#search", "blocks.7.attend.heads.3 matmul")
    assert told(page, "matches") == "2"
    page.keyboard.press("Enter")
    panel = page.locator("#panel")
    assert "blocks.7.attend.heads.3" in panel.inner_text()
    assert page.locator("g.box.chosen").count() == 1
    chosen = page.locator("g.box.chosen").bounding_box()
    assert 0 < chosen["x"] < 1040
    assert 0 < chosen["y"] < 850  # it is in sight


def test_a_click_shows_values_and_both_passes(page, gpt):
    opened(page, gpt)
    press(box(page, "words · embedding"))
    text = page.locator("#panel").inner_text()
    for words in (
        "Forward",
        "Backward",
        "operand 0",
        "to operand 0",
        "norm",
        "zeros",
        "begins",
        "gpt.py:63",
        "words.weight",
    ):
        assert words in text
    assert page.locator("#panel svg.histogram rect").count() > 20
    page.locator("#panel a", has_text="words.weight").first.click()
    assert page.locator("#panel h1").inner_text() == "model.words.weight"
    assert "Gradient that arrived last" in page.locator("#panel").inner_text()


def test_colours_say_what_was_chosen(page, gpt):
    opened(page, gpt)
    shown = {}
    for name in ("kind", "norm", "time", "memory", "nan"):
        page.select_option("#colour", name)
        shown[name] = colours(page)[1]
        assert page.locator("#legend").inner_text()
    for name in ("norm", "time", "memory", "nan"):
        assert (shown[name] != shown["kind"]).any(axis=-1).mean() > 0.005


def test_the_picture_is_drawn_and_comes_again(page, gpt):
    opened(page, gpt)
    number, first = colours(page)
    assert number > 20
    assert (first != 255).any(axis=-1).mean() > 0.01
    press(box(page, "▸ blocks.0 · Block"))
    assert (colours(page)[1] != first).any()
    page.click("#folded")
    page.mouse.move(700, 20)
    press(page.locator("g.box", has_text="nll_loss").last)
    opened(page, gpt)
    assert (colours(page)[1] != first).any(axis=-1).mean() < 0.001


def test_pages_run_nothing_of_what_they_show(page, folder):
    graph = nasty_graph()
    graph.save(folder / "nasty.html")
    opened(page, folder / "nasty.html")
    page.fill("#search", "img")
    assert page.evaluate("typeof hurt") == "undefined"
    assert page.locator("#stage img, #panel img, #panel b, #hits b").count() == 0
    assert "</script><script>hurt" in page.locator("#canvas").text_content()
    assert "<script>" in page.locator("#canvas").text_content()


def test_the_report_shows_its_charts(page, folder):
    done = retrograde("run", "--report", "report.html", str(PROGRAMS / "training.py"), "50", folder=folder)
    assert done.returncode == 0, done.stderr
    page.goto((folder / "report.html").as_uri())
    page.wait_for_selector("body[data-ready]")
    assert page.locator(".chart path.line").count() == 1 + 4 + 4 + 1  # loss, gradients, ratios, dead units
    page.locator("tr.pick").first.click()
    assert page.locator("#gradients path.faint").count() == 3
    page.locator("#loss svg").hover(position={"x": 300, "y": 80})
    assert "training.py:33 · step" in page.locator("#loss .tip").inner_text()
