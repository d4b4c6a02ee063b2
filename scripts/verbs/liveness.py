"""Measures how long an item waits for a thread behind items that do not end, on both libraries.

Each cell runs in a process of its own (Benchmarks/Liveness), alternately on the toolchain's
libdispatch.so, on ours and on others that are named. Prints a line for each cell: for each library
the median and the largest delay in milliseconds, and the largest number of threads. "never" is a
probe that did not begin within the limit. Exits with 1 if a cell of ours is "never", or if the
median of a cell with a bound exceeds the bound.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys

from libraries import ROOT, environment, is_older, toolchain

SOURCES = os.path.join(ROOT, "Benchmarks", "Liveness")
BUILD = os.path.join(ROOT, ".build-dropin", "liveness")
CLASSES = {"default": 0, "initiated": 0x19, "background": 0x09}
COUNTS = (1, 2, 4, 16, 64)


def build(source):
    os.makedirs(BUILD, exist_ok=True)
    source = os.path.join(SOURCES, source)
    program = os.path.join(BUILD, os.path.splitext(os.path.basename(source))[0].lower())
    tools = toolchain()
    headers = f"{tools}/lib/swift"
    if is_older(program, [source]):
        subprocess.run(
            [f"{tools}/bin/clang", "-O2", "-Wall", "-Wextra", "-Werror", "-fblocks",
             "-isystem", headers, "-isystem", f"{headers}/Block", source, "-o", program,
             f"-L{headers}/linux", "-ldispatch", "-lBlocksRuntime", "-lpthread",
             f"-Wl,-rpath,{headers}/linux"], check=True)
    return program


def cells():
    """The name of each cell, the program's arguments, and the bound in milliseconds or None."""
    for hog in ("compute", "yield", "poll100", "poll300", "poll1000", "poll5000", "read"):
        computes = hog in ("compute", "yield")
        for hogs_on in ("serial", "concurrent", "global", "overcommit"):
            for count in COUNTS:
                for probe in ("serial", "concurrent", "global", "overcommit", "main"):
                    for name, number in CLASSES.items():
                        # Behind computing items of its queue, work waits a second for a thread.
                        waits = computes and hogs_on in ("concurrent", "global")
                        bound = 1200 if waits and probe in ("concurrent", "global") else 20
                        if probe in ("serial", "overcommit"):
                            bound = 10
                        # Background yields to computation; many computing items delay every thread.
                        if name == "background" or count > 4 and computes:
                            bound = None
                        yield (f"{hog} {hogs_on} {count} → {probe} {name}",
                               [hog, hogs_on, str(count), probe, str(number), "50"], bound)
    for hogs_on in ("serial", "concurrent", "global", "overcommit"):
        for count in COUNTS[1:]:
            yield (f"meet {hogs_on} {count}",
                   ["meet300", hogs_on, str(count), "serial", "0", "0"], 5 * count)


# Programs of Benchmarks/Liveness/Rows, and the largest accepted ratio of their figures.
ROWS = {"sleep serial": 2, "sleep global": 0.2, "compute serial": 1, "compute global": 1, "probe 24": 1,
        "resubmit 200": 1.5, "main sync": None}


def print_rows(options, folders):
    program = build("Rows.c")
    print(f"\n{'row':<18}" + "".join(f"{name:>32}" for name in folders) + "   median, worst ms (threads)")
    for name, bound in ROWS.items():
        if not re.search(options.filter, name):
            continue
        samples = {key: [] for key in folders}
        for number in range(options.rounds):
            for key in sorted(folders, reverse=number % 2 == 1):
                done = subprocess.run(
                    [*options.launcher.split(), program, *name.split()], env=environment(folders[key]),
                    text=True, capture_output=True, check=True, timeout=120)
                samples[key].append([float(field) for field in done.stdout.split()])
        line = f"{name:<18}"
        for key, values in samples.items():
            figures = [statistics.median(column) for column in zip(*values)]
            line += f"{f'{figures[0]:.4g}, {figures[1]:.4g} ({figures[2]:.0f})':>32}"
        if "toolchain" in samples:
            ratio = statistics.median(
                ours[0] / peer[0] for ours, peer in zip(samples["ours"], samples["toolchain"]))
            line += f"   {ratio:.2f}" + ("" if bound is None or ratio <= bound else f" > {bound}")
        print(line, flush=True)


def measure(program, arguments, folder, most, launcher):
    done = subprocess.run(
        [*launcher, program, *arguments, str(most)], env=environment(folder), text=True,
        capture_output=True, timeout=most / 1000 + 60)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    delay, _, threads = done.stdout.split()
    return float(delay), int(threads)


def text(samples):
    delays = [delay if delay >= 0 else float("inf") for delay, _ in samples]
    threads = max(count for _, count in samples)
    middle, worst = statistics.median(delays), max(delays)
    return middle, " … ".join(
        "never" if value == float("inf") else f"{value:.1f}" for value in (middle, worst)) + f" ({threads})"


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/dev liveness", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filter", nargs="?", default="", help="a regular expression for names of cells")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=3000, help="milliseconds until a delay counts as never")
    parser.add_argument("--ours", default=os.path.join(ROOT, ".build-dropin", "release"))
    parser.add_argument("--beside", action="append", default=[], help="folder of another libdispatch.so")
    parser.add_argument("--without-toolchain", action="store_true")
    parser.add_argument("--launcher", default="", help="such as 'taskset -c 0'")
    options = parser.parse_args()
    program = build("Liveness.c")
    folders = {"ours": options.ours, **{os.path.basename(path): path for path in options.beside}}
    if not options.without_toolchain:
        folders["toolchain"] = None
    failed = 0
    print(f"{'cell':<42}" + "".join(f"{name:>26}" for name in folders) + "   median … worst ms (threads)")
    for name, arguments, bound in cells():
        if not re.search(options.filter, name):
            continue
        samples = {key: [] for key in folders}
        for number in range(options.rounds):
            for key in sorted(folders, reverse=number % 2 == 1):
                samples[key].append(measure(
                    program, arguments, folders[key], options.most, options.launcher.split()))
        columns = {key: text(values) for key, values in samples.items()}
        middle = columns["ours"][0]
        isBad = middle == float("inf") or bound is not None and middle > bound
        failed += isBad
        print(f"{name:<42}" + "".join(f"{column[1]:>26}" for column in columns.values())
              + (f"   > {bound}" if isBad else ""), flush=True)
    print(f"{failed} cells beyond their bounds")
    print_rows(options, folders)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
