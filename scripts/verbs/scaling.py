#!/usr/bin/env python3
"""Shows how the engine scales from 1 to 64 cores, on a simulated machine and on real ones.

  scripts/dev scaling                         all workloads; rewrites the tables of Docs/Scaling.md
  scripts/dev scaling run NAME [CORES…]       one workload: throughput, and its busiest words
  scripts/dev scaling list                    the workloads
  scripts/dev scaling machine                 this machine's cores, beside the toolchain's library
  scripts/dev scaling bundle FOLDER           a folder that measures the same on another machine:
                                              python3 FOLDER/curves.py --help

The engine's own sources run in simulated time, where each cache line that moves between two cores
costs time (Docs/Scaling.md). A run is exact: the same sources give the same figures.
Options of `run` and of all: --work NS, what each item computes; --count N, items for each core.
"""
import argparse
import concurrent.futures
import math
import os
import re
import shutil
import subprocess
import sys

PAGE = "Docs/Scaling.md"
CORE = "Sources/GrandCentralCore"
CORES = [1, 2, 4, 8, 16, 32, 64]
# What an item computes, in nanoseconds.
WORKS = [1000, 0]
OPERATIONS = r"(?:load|store|exchange|compareExchange|weakCompareExchange|wrappingAdd|" \
    r"wrappingSubtract|bitwiseOr|bitwiseAnd|transition|change|withLock|lock|unlock)"


def build():
    """Builds the program, and returns its path."""
    output = subprocess.run(
        ["bash", "-c", "source scripts/lib/common.sh; build_program Verification/Scaling scaling; "
         "echo $program"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return output.strip().splitlines()[-1]


sources = {}


def source(site):
    """The lines of the source file of a site, from which its word gets a name."""
    path = site.split(":")[0].split("/")[-1]
    if not sources:
        for root in (CORE, "Sources/Primitives"):
            for folder, _, names in os.walk(root):
                for name in names:
                    if name.endswith(".swift"):
                        sources[name] = (os.path.basename(folder), os.path.join(folder, name))
    return sources.get(path)


def word(site):
    """A name for the word that a line of source accesses: the room, and the word's name there."""
    found = source(site)
    number = int(site.split(":")[1])
    if not found:
        return site
    room, path = found
    with open(path) as file:
        lines = file.read().split("\n")
    if path.endswith("WorkNode.swift") or "fetchForWriting(" in lines[number - 1]:
        return "Work node"
    for near in (number, number - 1, number + 1, number - 2):
        match = re.search(r"(\w+)(?:\(\w+\))?(?:\.pointee)?\." + OPERATIONS + r"\b",
                          lines[near - 1] if 0 < near <= len(lines) else "")
        if match:
            return f"{room} {match.group(1)}"
    return f"{room} {os.path.basename(path)[:-6]}:{number}"


def measure(program, workload, cores, work, count):
    """Runs one point. Returns items, nanoseconds, and the counts by word."""
    lines = subprocess.run([program, "run", workload, str(cores), str(work), str(count)],
                           check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    words, holds = {}, {}
    for line in lines:
        fields = line.split("\t")
        if fields[0] == "run":
            items, nanoseconds, wakes = map(int, fields[1:])
        elif fields[0] == "site":
            total = words.setdefault(word(fields[1]), [0] * 6)
            for index, value in enumerate(fields[2:]):
                total[index] += int(value)
        elif fields[0] == "lock":
            name = word(fields[1])
            holds[name] = max(holds.get(name, 0), int(fields[2]))
        else:
            sys.exit(f"scaling: {line}")
    return {"items": items, "nanoseconds": nanoseconds, "wakes": wakes, "words": words,
            "holds": holds, "rate": 1000 * items / nanoseconds}


def show(program, options):
    for cores in options.cores or CORES:
        point = measure(program, options.workload, cores, options.work, options.count)
        items = point["items"]
        print(f"\n{options.workload} on {cores} cores: {point['rate']:.2f} million items a second, "
              f"{point['wakes'] / items:.3f} wake-ups an item")
        print(f"  {'':36}{'loads':>9}{'stores':>9}{'updates':>9}{'failed':>9}{'moved':>9}{'queued ns':>11}")
        busiest = sorted(point["words"].items(), key=lambda pair: -pair[1][4])[:options.rows]
        for name, values in busiest:
            print(f"  {name:36}" + "".join(f"{value / items:9.3f}" for value in values[:5])
                  + f"{values[5] / items:11.1f}")
        for name, nanoseconds in sorted(point["holds"].items(), key=lambda pair: -pair[1])[:3]:
            print(f"  longest hold of {name}: {nanoseconds} ns")


def names(program):
    lines = subprocess.run([program, "list"], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    return [line.split("\t") for line in lines]


def measure_all(program, count):
    """All points, as {(workload, cores, work): point}."""
    jobs = [(name, cores, work) for cores in reversed(CORES) for name, _ in names(program)
            for work in WORKS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        points = pool.map(lambda job: measure(program, *job, count), jobs)
    return dict(zip(jobs, points))


def table(points, program, work):
    """Rates in million items a second, and the share of linear growth from 2 cores to 16 and 64."""
    rows = ["| workload | " + " | ".join(map(str, CORES)) + " | 2 to 16 | 2 to 64 |",
            "|---" * (len(CORES) + 3) + "|"]
    for name, _ in names(program):
        rates = {cores: points[name, cores, work]["rate"] for cores in CORES}
        rows.append(f"| {name} | " + " | ".join(f"{rates[cores]:.2f}" for cores in CORES)
                    + f" | {rates[16] / rates[2] / 8:.2f} | {rates[64] / rates[2] / 32:.2f} |")
    return rows


def busiest(points, program, cores):
    """The words that move most often between cores, by item."""
    rows = ["| workload | words: lines moved, exchanges, failed exchanges an item |", "|---|---|"]
    for name, _ in names(program):
        point = points[name, cores, 0]
        words = sorted(point["words"].items(), key=lambda pair: -pair[1][4])
        cells = [f"{word} {value[4] / point['items']:.2f}, {value[2] / point['items']:.2f}, "
                 f"{value[3] / point['items']:.2f}"
                 for word, value in words if word != "Work node"][:3]
        rows.append(f"| {name} | {'; '.join(cells)} |")
    return rows


def holds(program):
    rows = ["| nodes that wait in an injector | longest hold of its lock, µs |", "|---|---|"]
    for count in (1_000, 10_000, 100_000, 1_000_000):
        point = measure(program, "backlog", 2, 0, count // 2)
        rows.append(f"| {count:,} | {point['holds'].get('Pool lock', 0) / 1000:.1f} |")
    return rows


COLOURS = ["#1b6ac9", "#d1495b", "#2a9d4a", "#8e5bd0", "#e08a1e", "#12908e", "#7a5230", "#c13d9a",
           "#5f6b7a", "#9aa51c", "#3b3b98", "#b5651d"]


def curve(points, program, work, path):
    """Draws the speed of each workload relative to two cores, both axes logarithmic."""
    def x(cores): return 60 + 80 * math.log2(cores)
    def y(speed): return 420 - 60 * (math.log2(max(speed, 1 / 16)) + 2)
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 560" '
             'font-family="sans-serif" font-size="12">',
             '<rect width="720" height="560" fill="white"/>']
    for cores in CORES:
        lines.append(f'<path d="M{x(cores):.0f} {y(1 / 4)}V{y(32)}" stroke="#ddd"/>'
                     f'<text x="{x(cores):.0f}" y="{y(1 / 4) + 16}" text-anchor="middle">{cores}</text>')
    for power in range(-2, 6):
        lines.append(f'<path d="M{x(1):.0f} {y(2 ** power)}H{x(64):.0f}" stroke="#ddd"/>'
                     f'<text x="50" y="{y(2 ** power) + 4}" text-anchor="end">{2.0 ** power:g}</text>')
    lines.append(f'<path d="M{x(1):.0f} {y(.5)}L{x(64):.0f} {y(32)}" stroke="#999" '
                 'stroke-dasharray="4 4"/>')
    for number, (name, _) in enumerate(names(program)):
        base = points[name, 2, work]["rate"]
        path_data = " ".join(f"{x(cores):.1f},{y(points[name, cores, work]['rate'] / base):.1f}"
                             for cores in CORES)
        colour = COLOURS[number % len(COLOURS)]
        last = y(points[name, 64, work]["rate"] / base)
        lines.append(f'<polyline points="{path_data}" fill="none" stroke="{colour}" '
                     'stroke-width="2"/>')
        lines.append(f'<text x="{x(64) + 8:.0f}" y="{last + 4:.0f}" fill="{colour}">{name}</text>')
    lines.append('<text x="60" y="550">cores; speed relative to two cores; dashed: linear</text>')
    lines.append("</svg>")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def write_page(program, options):
    points = measure_all(program, options.count)
    figures = {
        "an item computes 1 µs": table(points, program, 1000),
        "empty items": table(points, program, 0),
        "words at 16 cores": busiest(points, program, 16),
        "words at 64 cores": busiest(points, program, 64),
        "holds": holds(program),
    }
    with open(PAGE) as file:
        text = file.read()
    for name, rows in figures.items():
        begin, end = f"<!-- figures: {name} -->\n", "<!-- end -->"
        if begin not in text:
            sys.exit(f"{PAGE} has no place for the figures '{name}'")
        head, rest = text.split(begin)
        text = head + begin + "\n".join(rows) + "\n" + end + rest.split(end, 1)[1]
    with open(PAGE, "w") as file:
        file.write(text)
    curve(points, program, 1000, "Docs/images/scaling.svg")
    curve(points, program, 0, "Docs/images/scaling-empty.svg")
    print(text)


def bundle(folder):
    """Fills a folder with a program, both libraries, and the script that times them."""
    sys.path.insert(0, os.path.abspath("scripts/lib"))
    from libraries import toolchain
    subprocess.run(["scripts/dev", "dropin"], check=True, stdout=sys.stderr)
    headers = f"{toolchain()}/lib/swift"
    for library, path in (("grandcentral", ".build-dropin/release/libdispatch.so"),
                          ("toolchain", f"{headers}/linux/libdispatch.so")):
        os.makedirs(f"{folder}/{library}", exist_ok=True)
        subprocess.run(["strip", "-o", f"{folder}/{library}/libdispatch.so", path], check=True)
        shutil.copy(f"{headers}/linux/libBlocksRuntime.so", f"{folder}/{library}")
    sources = "Benchmarks/Scaling"
    subprocess.run(
        [f"{toolchain()}/bin/clang", "-O2", "-Wall", "-Wextra", "-Werror", "-isystem", headers,
         f"{sources}/Scaling.c", f"{sources}/Workloads.c", "-o", f"{folder}/scaling",
         f"-L{headers}/linux", "-ldispatch", "-lpthread"], check=True)
    shutil.copy("scripts/lib/curves.py", folder)


def main():
    parser = argparse.ArgumentParser(prog="scripts/dev scaling", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="all", choices=["all", "run", "list", "machine", "bundle"])
    parser.add_argument("workload", nargs="?", help="of `run`; the folder of `bundle`")
    parser.add_argument("cores", nargs="*", type=int)
    parser.add_argument("--work", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=12)
    parser.add_argument("--program", help="a program that was built before")
    options = parser.parse_args()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    if options.what == "machine":
        bundle(".build-dropin/scaling")
        sys.exit(subprocess.run([sys.executable, ".build-dropin/scaling/curves.py"]).returncode)
    if options.what == "bundle":
        if not options.workload:
            parser.error("bundle needs a folder")
        return bundle(options.workload)
    program = options.program or build()
    if options.what == "list":
        subprocess.run([program, "list"], check=True)
    elif options.what == "run":
        show(program, options)
    else:
        write_page(program, options)


if __name__ == "__main__":
    main()
