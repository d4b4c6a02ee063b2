"""Times the programs of Benchmarks/DropIn on the toolchain's libdispatch.so and on ours.

Both run the same binaries: LD_LIBRARY_PATH selects the library. Each row runs in a process of its
own, alternately on both libraries, so that disturbances of the machine affect both; ratios are
taken round by round. Exits with 1 if a row fails on ours. The exit code ignores slow rows: judge
them by the table, measured on an otherwise idle machine. With --round-robin the peer is the same
program on the toolchain's library with its tasks on a fixed pool of threads, of which each has a
list of its own: Benchmarks/DropIn/RoundRobin.swift.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

from libraries import ROOT, command_output, environment, is_older, toolchain

SOURCES = os.path.join(ROOT, "Benchmarks", "DropIn")
BUILD = os.path.join(ROOT, ".build-dropin", "bench")

# The largest accepted ratio of the rows with these prefixes; 1.0 for all others.
GOALS = [("async_f/", 0.7), ("sync_f/", 0.7), ("blocks/async", 0.7), ("blocks/sync", 0.7),
         ("actors/ping-pong", 0.7)]

CANCELLED_SLEEPS = "tasks/1,000,000 cancelled sleeps, memory"


def build():
    """Builds the two programs against the toolchain's headers, modules and libraries."""
    os.makedirs(BUILD, exist_ok=True)
    sources = [os.path.join(SOURCES, name) for name in sorted(os.listdir(SOURCES))]
    tools = toolchain()
    headers = f"{tools}/lib/swift"
    c_program, swift_program = f"{BUILD}/bench", f"{BUILD}/concurrency"
    if is_older(c_program, sources):
        subprocess.run(
            [f"{tools}/bin/clang", "-O2", "-Wall", "-Wextra", "-Werror", "-fblocks",
             "-isystem", headers, "-isystem", f"{headers}/Block",
             *[path for path in sources if path.endswith(".c")], "-o", c_program,
             f"-L{headers}/linux", "-ldispatch", "-lBlocksRuntime", "-lpthread",
             f"-Wl,-rpath,{headers}/linux"], check=True)
    if is_older(swift_program, sources):
        subprocess.run(
            ["swiftc", "-O", "-swift-version", "6", "-parse-as-library", "-warnings-as-errors",
             *[path for path in sources if path.endswith(".swift")], "-o", swift_program], check=True)
    return c_program, swift_program, f"{headers}/linux/libdispatch.so"


def measure(program, row, folder, seconds, arguments=()):
    """Nanoseconds per operation, by the clock and of all CPUs; None if the program failed or hung."""
    try:
        done = subprocess.run(
            [program, row, *arguments], env=environment(folder), capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        sys.stderr.write(f"{row}: ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return None
    elapsed, busy = done.stdout.split()
    return float(elapsed), float(busy)


def measure_start(program, folder):
    """The run time, from fork to exit, of a program that runs one item and waits for it."""
    begin = time.perf_counter_ns()
    child = subprocess.Popen([program, "--start"], env=environment(folder))
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    elapsed = time.perf_counter_ns() - begin
    assert child.returncode == 0, f"--start ended with {child.returncode}"
    return float(elapsed), (usage.ru_utime + usage.ru_stime) * 1e9


def print_start(c_program, swift_program, ours, rounds):
    """Prints the cost of loading. It has no limit: our library loads Swift's libraries into a C program."""
    for name, program in (("start/C", c_program), ("start/Swift", swift_program)):
        pairs = rounds_of(rounds, ours, lambda folder: measure_start(program, folder))
        print_row(name, "ms", pairs, 1e6, limit=None)
    peaks = [
        float(subprocess.run([c_program, "--memory"], env=environment(folder), check=True,
                             capture_output=True, text=True).stdout) / 2 ** 20
        for folder in (ours, None)]
    print(f"{'start/C, memory at its peak':<42}{'MiB':>6}{figure(peaks[0]):>10}{figure(peaks[1]):>10}"
          f"{peaks[0] / peaks[1]:>8.2f}")


def print_cancelled_sleeps(program, ours):
    """Prints the memory that a million cancelled sleeps keep. It has no limit: Docs/DropIn.md says why."""
    kept = [float(subprocess.run([program, "--cancelled-sleeps"], env=environment(folder), check=True,
                                 capture_output=True, text=True).stdout) / 2 ** 20
            for folder in (ours, None)]
    print(f"{CANCELLED_SLEEPS:<42}{'MiB':>6}{figure(kept[0]):>10}{figure(kept[1]):>10}"
          f"{kept[0] / kept[1]:>8.2f}", flush=True)


def rounds_of(count, ours, sample):
    """The pairs (ours, the toolchain's) of each round. The first library alternates."""
    pairs = []
    for number in range(count):
        order = [ours, None] if number % 2 else [None, ours]
        figures = {folder: sample(folder) for folder in order}
        pairs.append((figures[ours], figures[None]))
    return pairs


def quantile(values, fraction):
    ranked = sorted(values)
    position = fraction * (len(ranked) - 1)
    below = int(position)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (ranked[above] - ranked[below]) * (position - below)


def ratios(pairs, field):
    return [ours[field] / peer[field] if peer[field] else float("inf") for ours, peer in pairs]


def figure(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def print_header():
    line = (f"{'workload':<42}{'unit':>6}{'ours':>10}{'peer':>10}{'ratio':>8}{'p10…p90':>15}"
            f"{'of CPU':>8}{'goal':>6}  verdict")
    print(line)
    print("-" * len(line), flush=True)


def goal_of(name):
    return next((goal for start, goal in GOALS if name.startswith(start)), 1.0)


def print_row(name, unit, pairs, scale=1.0, limit=1.0):
    """Prints a row. Returns the cost of an operation on our library.

    The verdict uses the clock, or the CPU time, which a busy machine disturbs less. "Unclear": the rounds disagree.
    """
    clock, cpu = ratios(pairs, 0), ratios(pairs, 1)
    by_clock, by_cpu = statistics.median(clock), statistics.median(cpu)
    least = min(quantile(clock, 0.1), quantile(cpu, 0.1))
    verdict = ("" if limit is None else "ok" if by_clock <= limit else "ok by CPU" if by_cpu <= limit
               else "unclear" if least <= limit else "above")
    ours = statistics.median(pair[0][0] for pair in pairs) / scale
    peer = statistics.median(pair[1][0] for pair in pairs) / scale
    spread = f"{quantile(clock, 0.1):.2f}…{quantile(clock, 0.9):.2f}"
    print(f"{name:<42}{unit:>6}{figure(ours):>10}{figure(peer):>10}{by_clock:>8.2f}{spread:>15}"
          f"{by_cpu:>8.2f}{limit or '':>6}  {verdict}", flush=True)
    return ours


def more_in_flight(costs):
    """Whether a hop of ping-pong costs ours more when more pairs are in flight."""
    one = costs.get("actors/ping-pong, 1 pair")
    many = {name: cost for name, cost in costs.items()
            if name.startswith("actors/ping-pong") and not name.endswith("1 pair")}
    if not one or not many:
        return
    worst = max(many, key=many.get)
    print(f"A hop with more pairs in flight costs ours at most {many[worst] / one:.2f} of that of 1 pair "
          f"({worst.split(', ')[1]}).")


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/dev bench-dropin", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filter", nargs="?", default="", help="part of a row's name")
    parser.add_argument("--rounds", type=int, default=9, help="of each row; default 9")
    parser.add_argument("--seconds", type=float, default=60, help="until a row is given up")
    parser.add_argument("--ours", help="a folder with libdispatch.so; default: built here")
    parser.add_argument("--round-robin", action="store_true", help="rows of tasks beside a pool of threads")
    parser.add_argument("--list", action="store_true", help="the rows' names")
    options = parser.parse_args()

    c_program, swift_program, peers_library = build()
    ours = options.ours
    if not ours:
        subprocess.run([f"{ROOT}/scripts/dev", "dropin"], check=True, stdout=sys.stderr)
        ours = f"{ROOT}/.build-dropin/release"
    peers_arguments = ["--round-robin"] if options.round_robin else []
    rows = [(program, name) for program in (c_program, swift_program)[1 if options.round_robin else 0:]
            for name in command_output(program, "--list").splitlines() if options.filter in name]
    if options.list:
        print("\n".join([name for _, name in rows] + [CANCELLED_SLEEPS] * (options.filter in CANCELLED_SLEEPS)))
        return 0

    print_header()
    failed, costs = False, {}
    if options.filter in "start" and not options.round_robin:
        print_start(c_program, swift_program, ours, 3 * options.rounds)
    for program, name in rows:
        pairs = rounds_of(
            options.rounds, ours,
            lambda folder: measure(
                program, name, folder, options.seconds, () if folder else peers_arguments))
        if any(pair[0] is None for pair in pairs):
            print(f"{name:<42}  FAILED on ours")
            failed = True
            continue
        pairs = [pair for pair in pairs if pair[1] is not None]
        if not pairs:
            print(f"{name:<42}  only ours ended")
            continue
        costs[name] = print_row(name, "ns", pairs, limit=goal_of(name))
    if options.filter in CANCELLED_SLEEPS and not options.round_robin:
        print_cancelled_sleeps(swift_program, ours)
    more_in_flight(costs)
    sizes = [os.path.getsize(path) for path in (f"{ours}/libdispatch.so", peers_library)]
    print(f"libdispatch.so: {sizes[0]} bytes, the toolchain's {sizes[1]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
