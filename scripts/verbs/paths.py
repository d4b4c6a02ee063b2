#!/usr/bin/env python3
"""Counts the files that a reader of one path through the engine meets, and its locks.

    scripts/dev paths [--files]     --files: lists the files of each path

Builds the engine with coverage counters and walks a path 200 and 1,200 times (PathProbe). A line is
on the path if it ran in nine of ten of the 1,000 steps between, and a file if five of its lines
are: a property of a line or two is not what a reader opens a file for. `lines` are the lines of
these files, comments included, and `ran` those on the path. `main` counts the files that together
hold four fifths of the lines that ran, fullest first. `own` counts the files of Reactor and Sources
alone. `locks` are the runs of Lock.lock() in a step. `fork` counts the files whose code, without
comments and strings, concerns fork(2), and under `main` those with more than two such lines: the
others call a hook or pass the gate. Exits 1 if a figure is above its limit, which LIMITS states.
"""
import os
import re
import subprocess
import sys

import coverage

FOLDER = ".build-paths"
STEPS = (200, 1200)
SHARE = 0.9
FEWEST_LINES = 5
MAIN_SHARE = 0.8
FEWEST_FORK_LINES = 3
# The most that a path may have. A file more or less comes and goes with what else the machine does
# during the walk, and so does a part of a lock: a worker that was not woken takes one.
LIMITS = {
    "async": {"files": 40, "main": 19},
    "sync": {"files": 4},
    "read": {"files": 46, "own": 10, "locks": 3.4},
    "fork": {"files": 24, "main": 12},
}
EVENT_ROOMS = ("Sources/GrandCentralCore/Reactor/", "Sources/GrandCentralCore/Sources/")
ENGINE = ("Sources/GrandCentralCore/", "Sources/Primitives/")
LOCK = "Sources/Primitives/Lock.swift"


def run(*command, **more):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **more).stdout


def tools():
    """The folder of the compiler's own tools: the format of profiles changes between versions."""
    target = run("swiftc", "-print-target-info")
    resources = re.search(r'"runtimeResourcePath": "([^"]+)"', target).group(1)
    return os.path.realpath(os.path.join(resources, "../../bin"))


def build():
    options = ["--scratch-path", FOLDER, "--product", "PathProbe"]
    # Counters are atomic, because threads share them.
    for option in ("-profile-generate", "-profile-coverage-mapping", "-Xllvm",
                   "-instrprof-atomic-counter-update-all"):
        options += ["-Xswiftc", option]
    environment = dict(os.environ, LLVM_PROFILE_FILE="/dev/null")
    print(run("swift", "build", *options, env=environment).split("\n")[-2], file=sys.stderr)
    return os.path.join(FOLDER, "debug", "PathProbe")


def counts(program, path, steps, binaries):
    """How often each line ran while the path was walked `steps` times."""
    profile = os.path.join(FOLDER, f"{path}-{steps}")
    environment = dict(os.environ, LLVM_PROFILE_FILE=profile + ".profraw")
    run(program, path, str(steps), env=environment)
    run(f"{binaries}/llvm-profdata", "merge", "-o", profile + ".profdata", profile + ".profraw")
    lines = run(f"{binaries}/llvm-cov", "export", "--format=lcov",
                f"--instr-profile={profile}.profdata", program)
    with open(profile + ".info", "w", encoding="utf-8") as file:
        file.write(lines)
    return coverage.read_counts(profile + ".info")


def walk(program, path, binaries):
    """The files of a path, with the number of lines that ran in each step; and its locks."""
    few, many = (counts(program, path, steps, binaries) for steps in STEPS)
    steps = STEPS[1] - STEPS[0]
    files, locks = {}, 0
    for name, lines in many.items():
        if not name.startswith(ENGINE):
            continue
        grown = {n: count - few.get(name, {}).get(n, 0) for n, count in lines.items()}
        ran = sum(1 for count in grown.values() if count >= SHARE * steps)
        if ran >= FEWEST_LINES:
            files[name] = ran
        if name == LOCK:
            with open(name, encoding="utf-8") as file:
                text = file.read().split("\n")
            locks = sum(count for n, count in grown.items() if "func lock()" in text[n - 1]) / steps
    return files, locks


def main_files(files):
    """How many files, fullest first, hold the main share of the lines that ran."""
    missing, number = MAIN_SHARE * sum(files.values()), 0
    for ran in sorted(files.values(), reverse=True):
        if missing <= 0:
            break
        missing, number = missing - ran, number + 1
    return number


def fork_files():
    """The files whose code concerns a fork of this process, with the number of such lines."""
    concerns = re.compile(r"fork|inChild|leave_?to_?parent|dropEvents", re.I)
    ignored = re.compile(r'"""(?:.|\n)*?"""|//[^\n]*|/\*(?:.|\n)*?\*/|"[^"\n]*"')
    # A fork of another process, which a source reports, is another matter.
    others = re.compile(r"\.fork\b|case fork|fork = |isFork\w*|PROCESS_FORKED|resetsOnFork|canResetOnFork|resets_on_fork|RESET_ON_FORK"
                        r"|forksUnknown|forKey")
    found = {}
    for root in ("Sources/GrandCentralCore", "Sources/Primitives", "Sources/CLinux", "Sources/CDispatchExports"):
        for folder, _, names in os.walk(root):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if not name.endswith((".swift", ".c", ".h")):
                    continue
                with open(path, encoding="utf-8") as file:
                    code = others.sub("", ignored.sub(
                        lambda m: "\n" * m.group().count("\n"), file.read()))
                count = sum(1 for line in code.split("\n") if concerns.search(line))
                if count:
                    found[path] = count
    return found


def above(path, **figures):
    """The figures of a path that are above its limits, in words."""
    return [f"paths: {path} has {figures[name]:.4g} {name} (at most {most})"
            for name, most in LIMITS[path].items() if figures[name] > most]


def main():
    arguments = sys.argv[1:]
    if arguments in (["--help"], ["-h"]):
        sys.exit(print(__doc__))
    if arguments not in ([], ["--files"]):
        sys.exit(f"paths: unknown argument '{arguments[0]}'; see --help")
    program, binaries = build(), tools()
    exceeded = []
    print(f"{'path':<8} {'files':>6} {'main':>6} {'own':>6} {'lines':>6} {'ran':>6} {'locks':>6}")
    for path in ("async", "sync", "read"):
        files, locks = walk(program, path, binaries)
        total = sum(sum(1 for _ in open(name, encoding="utf-8")) for name in files)
        own = sum(1 for name in files if name.startswith(EVENT_ROOMS))
        print(f"{path:<8} {len(files):>6} {main_files(files):>6} {own:>6} {total:>6} {sum(files.values()):>6} "
              f"{locks:>6.2f}")
        exceeded += above(path, files=len(files), main=main_files(files), own=own, locks=locks)
        if arguments:
            for name, ran in sorted(files.items()):
                print(f"         {ran:>4}  {name}")
    found = fork_files()
    most = sum(1 for count in found.values() if count >= FEWEST_FORK_LINES)
    print(f"{'fork':<8} {len(found):>6} {most:>6}")
    exceeded += above("fork", files=len(found), main=most)
    if arguments:
        for name, count in sorted(found.items()):
            print(f"         {count:>4}  {name}")
    if exceeded:
        sys.exit("\n".join(exceeded))


main()
