#!/usr/bin/env python3
"""Makes the pictures of the README and of Docs: terminals and timelines, from real runs.

    scripts/dev pictures [--output FOLDER] [NAME…]

Builds the command and the probes, runs them, and takes pictures in Debian's `chromium`. Without
NAMEs it makes all: dump, top, slow, timeline. FOLDER is Docs/images by default. Look at the
pictures before you commit them.
"""
import argparse
import os
import shutil
import sys
import tempfile

import chromium
import probes
import terminal_page
from libraries import ROOT


class Studio:
    """Where the programs are, and where pictures go."""

    def __init__(self, scratch, output):
        binaries = probes.build("grandcentral", "HangProbe", "RecordProbe")
        self.command = os.path.join(binaries, "grandcentral")
        self.binaries, self.scratch, self.output = binaries, scratch, output

    def program(self, probe, name):
        """A probe under the name that a reader's program might have."""
        path = os.path.join(self.scratch, name)
        shutil.copy(os.path.join(self.binaries, probe), path)
        return path

    def terminal(self, name, command, output):
        """A picture of a command and its output, as large as they are."""
        path = os.path.join(self.scratch, f"{name}.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(terminal_page.page(command, output))
        with chromium.Page(scale=2) as page:
            page.open(path)
            width, height = page.evaluate(
                "(({width, height}) => [Math.ceil(width), Math.ceil(height)])"
                "(document.querySelector('pre').getBoundingClientRect())")
            page.resize(width, height)
            page.picture(os.path.join(self.output, f"{name}.png"))

    def timeline(self, name, program, scene, height, prepare):
        """A picture of the timeline of a recorded scene. `prepare`: what the page does first."""
        file, target = (os.path.join(self.scratch, f"{name}.{kind}") for kind in ("gcrecord", "html"))
        probes.record(self.command, file, program, scene)
        probes.run(self.command, "timeline", file, "-o", target)
        with chromium.Page(1100, height, scale=1.5) as page:
            page.open(target)
            page.evaluate(prepare)
            page.picture(os.path.join(self.output, f"{name}.png"))


def dump(studio):
    with probes.Probe(studio.program("HangProbe", "server"), "deadlock") as child:
        probes.wait_for_line(studio.command, child.pid, "Deadlock")
        output = terminal_page.Terminal([studio.command, "dump", str(child.pid)]).read_all()
        studio.terminal("dump", f"grandcentral dump {child.pid}", output)


def top(studio):
    """The second table: the first one has the program's start in it."""
    with probes.Probe(studio.program("RecordProbe", "server"), "serve") as child:
        terminal = terminal_page.Terminal([studio.command, "top", str(child.pid)], columns=140)
        while len(frames(terminal.text)) < 4 and terminal.read():
            pass
        output = frames(terminal.text)[-1]
        terminal.child.terminate()
        terminal.read_all()
        studio.terminal("top", f"grandcentral top {child.pid}", output)


def frames(text):
    """The screens that `top` has shown in full."""
    whole = text.split("\x1b[H")[1:]
    return [screen.split("\x1b[J")[0].replace("\x1b[K", "").replace("\r", "")
            for screen in whole if "\x1b[J" in screen]


def slow(studio):
    studio.timeline("slow", studio.program("RecordProbe", "server"), "late-timer", 300,
                    "document.querySelector('details').open = true")


def timeline(studio):
    studio.timeline("timeline", studio.program("RecordProbe", "server"), "service", 420,
                    "setGrouping(true), goTo(data.count >> 1), zoomToSelected(), zoom(5)")


PICTURES = {"dump": dump, "top": top, "slow": slow, "timeline": timeline}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *PICTURES])
    parser.add_argument("--output", metavar="FOLDER", default=os.path.join(ROOT, "Docs/images"))
    options = parser.parse_args()
    if not chromium.find():
        sys.exit("pictures: install chromium (apt-get install chromium fonts-dejavu-core)")
    os.makedirs(options.output, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        studio = Studio(scratch, options.output)
        for name in options.names or PICTURES:
            PICTURES[name](studio)
            print(os.path.join(options.output, f"{name}.png"))


if __name__ == "__main__":
    main()
