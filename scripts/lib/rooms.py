#!/usr/bin/env python3
"""Checks the order of the core's rooms: each compiles with nothing but the rooms before it.

The table "Rooms of the core" in ARCHITECTURE.md states the order. For each room, the compiler type
checks its files, and reads those of all rooms before it. So a file that names a type or a member of
a later room is an error here, and there are no exceptions. Needs a debug build of the package, for
the modules that the core imports.
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

CORE = "Sources/GrandCentralCore"


def rooms():
    """The rooms in the order of the table, lowest first."""
    with open("ARCHITECTURE.md", encoding="utf-8") as file:
        section = file.read().split("\n## Rooms of the core\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.M)


def sources(room):
    found = []
    for folder, _, names in os.walk(os.path.join(CORE, room)):
        found += [os.path.join(folder, name) for name in sorted(names) if name.endswith(".swift")]
    return found


def check(command, room, before):
    """Type checks the files of a room, with the declarations of the files before them."""
    primaries = [argument for file in room for argument in ("-primary-file", file)]
    return subprocess.run(command + primaries + before, capture_output=True, text=True)


def main():
    order = rooms()
    folders = sorted(
        name for name in os.listdir(CORE) if os.path.isdir(os.path.join(CORE, name)))
    if sorted(order) != folders:
        sys.exit(f"rooms: ARCHITECTURE.md lists {sorted(order)}, {CORE} has {folders}")
    modules = os.path.realpath(".build/debug/Modules")
    if not os.path.isdir(modules):
        sys.exit(f"rooms: there is no build in {modules}: run 'swift build' first")
    command = [
        "swiftc", "-frontend", "-typecheck", "-parse-as-library", "-swift-version", "6",
        "-package-name", "grandcentral", "-module-name", "GrandCentralCore",
        "-I", modules, "-I", "Sources/CLinux/include"]
    # Each check is one process of one thread.
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        seed = os.path.join(folder, "Seed.swift")
        with open(seed, "w", encoding="utf-8") as file:
            file.write("func seed(_ worker: Worker) { _ = worker.band }\n")
        seeded = pool.submit(check, command, [seed], sources(order[0]))
        before, checks = [], []
        for room in order:
            checks.append(pool.submit(check, command, sources(room), before))
            before = before + sources(room)
        if seeded.result().returncode == 0:
            sys.exit("rooms: a breach made on purpose was not found")
        for room, done in zip(order, (each.result() for each in checks)):
            if done.returncode == 0:
                continue
            errors = [line for line in done.stderr.split("\n") if re.match(r"\S.*: error: ", line)]
            print(f"{room} needs more than the rooms before it:", file=sys.stderr)
            print("\n".join(sorted(set(errors))[:20]) or done.stderr, file=sys.stderr)
            sys.exit(1)


main()
