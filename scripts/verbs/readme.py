#!/usr/bin/env python3
"""Follows README.md in a fresh clone, as a newcomer does.

    scripts/dev readme [--keep]

Clones the last commit, then runs README's blocks of shell, and builds and runs its programs, in the
order of the page, with a home folder of its own. A program must print what the comment behind its
print says. The package of these programs must have compiled the engine's modules and nothing else
of the repository, and the command must run in it. Prints the seconds of each step. --keep leaves
the folder. The tests of all packages, which README names too, are left out: scripts/dev test.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from libraries import ROOT

LEFT_OUT = "scripts/dev test"
# What a dependant compiles of this repository.
MODULES = {
    "CGrandCentralLinux", "GrandCentralPrimitives", "GrandCentralCore", "GrandCentralBoard", "GrandCentral"}
PRINTED = re.compile(r"print(?:f)?\(.*// (\S+)$", re.M)


class Newcomer:
    """Has a folder with the clone, and a package beside it."""

    def __init__(self, folder):
        self.clone, self.package = f"{folder}/grandcentral", f"{folder}/program"
        self.target = None
        # A block of C, which the next block of shell compiles and runs.
        self.printed = None
        home = f"{folder}/home"
        os.makedirs(home)
        self.environment = {**os.environ, "HOME": home}
        self.run("git clone", ["git", "clone", "--quiet", ROOT, self.clone], folder)

    def run(self, step, command, folder, expected=None):
        begin = time.monotonic()
        done = subprocess.run(
            command, check=False, cwd=folder, env=self.environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0 or (expected and expected not in done.stdout.split()):
            sys.exit(f"readme: {step} ended with {done.returncode}, and must print '{expected or ''}':\n{done.stdout}")
        print(f"{time.monotonic() - begin:6.0f} s  {step}", flush=True)

    def shell(self, text):
        lines = [line for line in text.splitlines() if not line.startswith(LEFT_OUT)]
        step = "; ".join(re.sub(r" +# .*", "", line) for line in lines)
        self.run(step, ["bash", "-euo", "pipefail", "-c", "\n".join(lines)], self.clone, self.printed)
        self.printed = None

    def swift(self, text):
        if text.startswith("// swift-tools-version"):
            self.target = re.search(r'executableTarget\(\s*name: "(\w+)"', text)[1]
            self.write(f"{self.package}/Package.swift", text)
            return
        self.write(f"{self.package}/Sources/{self.target}/main.swift", text)
        self.run("swift run", ["swift", "run"], self.package, PRINTED.search(text)[1])

    def c(self, text, name):
        self.write(f"{self.clone}/{name}", text)
        self.printed = PRINTED.search(text)[1]

    def check_modules(self):
        """That the package compiled what it depends on, and neither tests nor tools."""
        build = f"{self.package}/.build/debug"
        compiled = {
            name.removesuffix(".build") for name in os.listdir(build) if name.endswith(".build")
            and any(file.endswith(".o") for _, _, files in os.walk(f"{build}/{name}") for file in files)}
        if compiled != MODULES | {self.target}:
            sys.exit(f"readme: a package that imports GrandCentral compiles {', '.join(sorted(compiled))}")

    @staticmethod
    def write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def follow(page, newcomer):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for block in re.finditer(r"^```(sh|swift|c)\n(.*?)^```$", text, re.M | re.S):
        if block[1] == "sh":
            newcomer.shell(block[2])
        elif block[1] == "swift":
            newcomer.swift(block[2])
        else:
            # The paragraph before the block begins with the file's name.
            newcomer.c(block[2], re.findall(r"^`(\w+\.c)`", text[: block.start()], re.M)[-1])


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/dev readme", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave the folder")
    keep = parser.parse_args().keep
    folder = tempfile.mkdtemp(prefix="readme.")
    begin = time.monotonic()
    try:
        newcomer = Newcomer(folder)
        follow(f"{newcomer.clone}/README.md", newcomer)
        newcomer.check_modules()
        newcomer.run("swift run grandcentral ps", ["swift", "run", "grandcentral", "ps"], newcomer.package)
        print(f"readme: every command and program works, in {time.monotonic() - begin:.0f} s")
    finally:
        if keep:
            print(f"readme: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


main()
