"""Times the workloads of Benchmarks/Scaling by the number of cores, on this machine.

  python3 curves.py [--cores 1,2,4] [--seconds N] [--work NS,NS] [LIBRARY…]

Needs nothing but the files beside it: the program `scaling`, and a folder for each LIBRARY with its
libdispatch.so. scripts/dev scaling bundle makes such a folder; copy it to the machine in question.
Each point runs in a process of its own, which is bound to so many cores. Points are measured again,
all in turn, until the time is over; the table has their medians.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# The longest that a point may take.
LIMIT = 60


def cpus():
    """The CPUs that this process may use, first one of each physical core."""
    first, others, seen = [], [], set()
    for cpu in sorted(os.sched_getaffinity(0)):
        try:
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as file:
                core = file.read()
        except OSError:
            core = str(cpu)
        (others if core in seen else first).append(cpu)
        seen.add(core)
    return first + others


def program(library, arguments, **options):
    folder = os.path.join(HERE, library)
    return subprocess.run(
        [os.path.join(HERE, "scaling"), *map(str, arguments)], stdout=subprocess.PIPE, text=True,
        timeout=LIMIT, check=True, env=dict(os.environ, LD_LIBRARY_PATH=folder), **options).stdout


def measure(library, name, cores, work):
    """Millions of items a second, and the processor time of an item in nanoseconds."""
    bound = cpus()[:cores]
    output = program(library, [name, cores, work],
                     preexec_fn=lambda: os.sched_setaffinity(0, bound))
    return [float(field) for field in output.split()]


def measure_all(libraries, names, counts, works, seconds):
    """All points, as {(work, name, library, cores): [(rate, time)]}. Each is measured once at least."""
    points, end = {}, time.monotonic() + seconds
    while True:
        for work in works:
            for name in names:
                for cores in counts:
                    for library in libraries:
                        key = (work, name, library, cores)
                        if key in points and time.monotonic() > end:
                            return points
                        points.setdefault(key, []).append(measure(library, name, cores, work))


def table(points, libraries, names, counts, work):
    base = 2 if 2 in counts else counts[0]
    last = counts[-1]
    rows = ["| workload | library | " + " | ".join(map(str, counts))
            + f" | {base} to {last} | ns at {last} |", "|---" * (len(counts) + 4) + "|"]
    for name in names:
        for library in libraries:
            found = {cores: points[work, name, library, cores] for cores in counts}
            rate = {cores: statistics.median(point[0] for point in found[cores]) for cores in counts}
            busy = statistics.median(point[1] for point in found[last])
            share = rate[last] / rate[base] / (last / base)
            rows.append(f"| {name} | {library} | "
                        + " | ".join(f"{rate[cores]:.2f}" for cores in counts)
                        + f" | {share:.2f} | {busy:.0f} |")
    return rows


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY")
    parser.add_argument("--cores", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--work", type=lambda text: [int(word) for word in text.split(",")],
                        default=[1000, 0], help="what an item computes, in nanoseconds")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", action="append", metavar="WORKLOAD")
    options = parser.parse_args()
    libraries = options.libraries or sorted(
        name for name in os.listdir(HERE)
        if os.path.exists(os.path.join(HERE, name, "libdispatch.so")))
    most = len(cpus())
    counts = options.cores or [count for count in (1, 2, 4, 8, 16, 32, 64) if count <= most]
    if max(counts) > most:
        sys.exit(f"curves: this process may use {most} CPUs only")
    names = options.only or program(libraries[0], ["--list"]).splitlines()
    points = measure_all(libraries, names, counts, options.work, options.seconds)
    fewest = min(map(len, points.values()))
    for work in options.work:
        print(f"\nMillions of items a second by the number of cores, items of {work} ns; "
              f"medians of {fewest} or more samples.\n")
        print("\n".join(table(points, libraries, names, counts, work)))


if __name__ == "__main__":
    main()
