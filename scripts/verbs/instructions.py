"""Counts the instructions of the hot paths, and compares them with the tables in the repository.

Time is noise on a shared machine; instructions are not. Two programs have rows: Benchmarks/Instructions
calls the C interface of the drop-in libdispatch.so, and Comparison/Sources/instructions the Swift
interface. Each row runs under callgrind, in a process of its own. The verb exits with 1 if a row needs
more, or fewer, instructions than Benchmarks/Instructions/counts.tsv or swift.tsv says, beyond the row's
tolerance. A change that means to alter a count alters the table with --update, in the same commit.
Docs/Performance.md explains the rows and their tolerances.
"""
import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace

from libraries import ROOT, command_output, environment, is_older, toolchain

FOLDER = os.path.join(ROOT, "Benchmarks", "Instructions")
# The row of the C program that is also counted at the levels of a recording: Docs/Inside.md.
RECORDED_ROW = "async and drain, serial queue"
RECORDED_LEVELS = ("sampled", "items", "origins")
# For --functions.
OPERATIONS = (2000, 12000)
# The tables are those of x86-64.
COMPARED = platform.machine() == "x86_64"
# How often a row that differs is sampled again.
AGAIN = 3
# The tolerance of the rows that run on one thread.
ALONE = 2.0


@dataclass
class Program:
    """A program with rows, and the table of their counts."""
    interface: str
    path: str
    table: str
    # The folder with the libdispatch.so that it runs on; None: it contains the engine.
    library: str | None
    recorded: tuple[str, ...] = ()


def c_program(ours):
    """Builds the program against the toolchain's headers; the loader finds either library."""
    if not ours:
        subprocess.run([f"{ROOT}/scripts/dev", "dropin"], check=True, stdout=sys.stderr)
        ours = f"{ROOT}/.build-dropin/release"
    sources = [os.path.join(FOLDER, name) for name in ("Instructions.c", "Queues.c", "Objects.c")]
    path = os.path.join(ROOT, ".build-dropin", "bench", "instructions")
    program = Program("the C interface, drop-in", path, os.path.join(FOLDER, "counts.tsv"), ours, RECORDED_LEVELS)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not is_older(path, [*sources, os.path.join(FOLDER, "Rows.h")]):
        return program
    tools = toolchain()
    headers = f"{tools}/lib/swift"
    subprocess.run(
        [f"{tools}/bin/clang", "-O2", "-Wall", "-Wextra", "-Werror", "-fblocks", "-isystem", headers,
         "-isystem", f"{headers}/Block", *sources, "-o", path, f"-L{headers}/linux", "-ldispatch",
         "-lBlocksRuntime", f"-Wl,-rpath,{headers}/linux"], check=True)
    return program


def swift_program():
    """Builds the program that calls the Swift interface, in the build of the package's tests."""
    script = f"source {ROOT}/scripts/lib/common.sh; build_program Comparison instructions; echo $program"
    built = command_output("bash", "-c", script).splitlines()[-1]
    # valgrind cannot read the compiler's debug information, and ends.
    path = f"{built}-stripped"
    subprocess.run(["strip", "--strip-debug", built, "-o", path], check=True)
    return Program("the Swift interface", path, os.path.join(FOLDER, "swift.tsv"), None)


def dumps(folder):
    """The fewest instructions of the dumps, by row and by "few" or "many", with the number of operations."""
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            head = file.read(4096)
        trigger = re.search(r"^desc: Trigger: Client Request: (.*)\|(\w+),(\d+)$", head, re.M)
        count = re.search(r"^summary: (\d+)$", head, re.M)
        if trigger and count:
            row, which, operations = trigger.groups()
            samples = found.setdefault(row, {})
            samples[which] = min(samples.get(which, (1 << 60, 0)),
                                 (int(count.group(1)), int(operations)))
    return found


def callgrind(program, file, *arguments, settings=None):
    """Runs a program under callgrind. Returns its output."""
    command = ["valgrind", "--tool=callgrind", "-q", "--fair-sched=yes", f"--callgrind-out-file={file}",
               program.path, *arguments]
    # One worker, so that a row's work does not move between threads. No address is random.
    more = {**environment(program.library), "GRANDCENTRAL_WIDTH": "1", **(settings or {})}
    done = subprocess.run(["setarch", "-R", *command], env=more, text=True, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"instructions: {' '.join(command)} ended with {done.returncode}.")
    return done.stdout


def measure(program, pattern, settings=None):
    """The samples of each row, in the program's order: the fewest instructions of few operations, and of many."""
    with tempfile.TemporaryDirectory() as folder:
        rows = callgrind(program, f"{folder}/out.%p", pattern, settings=settings).splitlines()
        found = dumps(folder)
    return {row: found[row] for row in (line.split("\t")[0] for line in rows)}


def measure_recorded(program, pattern):
    """The same for an item at each level of recording."""
    samples = {}
    for level in program.recorded:
        row = f"{RECORDED_ROW}, recorded: {level}"
        if pattern in row:
            samples[row] = measure(program, RECORDED_ROW, {"GRANDCENTRAL_RECORD": level})[RECORDED_ROW]
    return samples


def measure_row(program, row):
    return (measure_recorded if ", recorded: " in row else measure)(program, row)[row]


def of_one(sample):
    """Instructions of one operation."""
    few, many = sample["few"], sample["many"]
    return (many[0] - few[0]) / (many[1] - few[1])


def settle(samples, table, measure_again):
    """Samples the rows that differ from the table again, and keeps the fewest of all samples.

    A count is the difference of two, and disturbances add to either: the engine's monitor looks by the
    clock, more often in a row the slower the machine is. So the fewest of more samples are closer to what
    the code needs, on whichever side of the table that is.
    """
    for row in [row for row in samples if row in table]:
        for _ in range(AGAIN):
            if not verdict(of_one(samples[row]), row, table):
                break
            again = measure_again(row)
            samples[row] = {which: min(samples[row][which], again[which]) for which in ("few", "many")}


def listed_rows(program):
    """The names of all rows with their tolerances, in the table's order."""
    rows = dict(line.split("\t") for line in command_output(program.path, "--list").splitlines())
    recorded = {f"{RECORDED_ROW}, recorded: {level}": rows[RECORDED_ROW] for level in program.recorded}
    return {**rows, **recorded}


def read_table(program):
    """The rows of the table: instructions and tolerance in percent."""
    table = {}
    if os.path.exists(program.table):
        with open(program.table, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    row, count, tolerance = line.rstrip("\n").split("\t")
                    table[row] = (float(count), float(tolerance))
    return table


def write_table(program, counts, old):
    """Writes the measured rows; rows that were filtered out stay, in the program's order."""
    with open(program.table, "w", encoding="utf-8") as file:
        file.write(f"# Instructions of one operation of {program.interface}, and the tolerance in percent.\n"
                   "# Written by `scripts/dev instructions --update`; Docs/Performance.md explains it.\n")
        for row, tolerance in listed_rows(program).items():
            count = counts.get(row, old.get(row, (0, 0))[0])
            file.write(f"{row}\t{count:.1f}\t{tolerance}\n")


def verdict(count, row, table):
    if row not in table:
        return "not in the table"
    expected, tolerance = table[row]
    if tolerance == 0:
        return ""
    margin = max(1.0, expected * tolerance / 100)
    if count > expected + margin:
        return "more"
    return "fewer" if count < expected - margin else ""


def self_test():
    """Checks that each kind of difference is reported, and no other."""
    table = {"row": (100.0, 2.0), "small": (8.0, 2.0), "shown": (8.0, 0.0)}
    cases = [("row", 102, ""), ("row", 103, "more"), ("row", 97, "fewer"), ("row", 98, ""), ("small", 9, ""),
             ("small", 9.5, "more"), ("shown", 99, ""), ("new", 1, "not in the table")]
    for row, count, expected in cases:
        if verdict(count, row, table) != expected:
            sys.exit(f"instructions: {count} in {row} is '{verdict(count, row, table)}', expected '{expected}'.")
    # Of 1 and 2 operations: "row" was disturbed in "few", "small" has changed.
    samples = {row: {"few": (few, 1), "many": (many, 2)}
               for row, few, many in (("row", 320, 400), ("small", 100, 120), ("new", 1, 2))}
    later = {"row": [{"few": (330, 1), "many": (405, 2)}, {"few": (301, 1), "many": (401, 2)}],
             "small": [{"few": (100, 1), "many": (120 + more, 2)} for more in (1, 0, 2)]}
    settle(samples, table, lambda row: later[row].pop(0))
    counts = {row: of_one(sample) for row, sample in samples.items()}
    if counts != {"row": 99.0, "small": 20.0, "new": 1.0} or later != {"row": [], "small": []}:
        sys.exit(f"instructions: the later counts are {counts}, of which {later} were not taken.")


def profile(program, row, operations):
    """The instructions of each function while a row runs that many operations, with what precedes them."""
    with tempfile.TemporaryDirectory() as folder:
        callgrind(program, f"{folder}/out", "--once", row, str(operations))
        listed = subprocess.run(["callgrind_annotate", "--threshold=100", f"{folder}/out"], check=True,
                                capture_output=True, text=True).stdout
    counts = {}
    for line in listed.splitlines():
        match = re.match(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+[^:]*:(\S+)", line)
        if match:
            name = match.group(2).split("'")[0]
            counts[name] = counts.get(name, 0) + int(match.group(1).replace(",", ""))
    return counts


def print_functions(program, row):
    """Prints the instructions of one operation by function."""
    few, many = (profile(program, row, operations) for operations in OPERATIONS)
    counts = {name: (count - few.get(name, 0)) / \
                     (OPERATIONS[1] - OPERATIONS[0]) for name, count in many.items()}
    print(f"\n{row}")
    for name, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        if count >= 0.5:
            print(f"{count:>9.1f}  {demangled(name)}")


def demangled(name):
    if not name.startswith("$s"):
        return name
    return subprocess.run(["swift-demangle", "--compact", "--simplified", name], check=True, capture_output=True,
                          text=True).stdout.strip()


def print_table(program, counts, table):
    """Prints the rows. Returns how many differ from the table."""
    wrong = 0
    print(f"{program.interface:<38}{'now':>9}{'table':>9}{'ratio':>7}")
    for row, count in counts.items():
        said = verdict(count, row, table)
        wrong += said != ""
        expected = table.get(row, (0, 0))[0]
        ratio = count / expected if expected else 0
        print(f"{row:<38}{count:>9.1f}{expected:>9.1f}{ratio:>7.3f}  {said}".rstrip())
    return wrong


def print_beside_toolchain(program, counts, table):
    """Prints the rows of one thread beside the toolchain's library, where they are counted as exactly."""
    peer = replace(program, library=None)
    print(f"{'on one thread':<38}{'ours':>9}{'peer':>9}{'ratio':>7}")
    for row, count in counts.items():
        if table.get(row, (0, 0))[1] == ALONE:
            other = of_one(measure(peer, row)[row])
            print(f"{row:<38}{count:>9.1f}{other:>9.1f}{count / other:>7.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/dev instructions", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filter", nargs="?", default="", help="part of a row's name")
    parser.add_argument("--update", action="store_true", help="writes the counts into the table")
    parser.add_argument("--functions", action="store_true", help="lists the functions of each row")
    parser.add_argument("--ours", help="a folder with libdispatch.so; default: built here")
    parser.add_argument("--beside-toolchain", action="store_true", help="counts the toolchain's library too")
    parser.add_argument("--interface", choices=["c", "swift"], help="the rows of one program only")
    options = parser.parse_args()

    self_test()
    programs = []
    if options.interface != "swift":
        programs.append(c_program(options.ours))
    if options.interface != "c":
        programs.append(swift_program())
    counted = wrong = 0
    for program in programs:
        samples = {**measure(program, options.filter), **measure_recorded(program, options.filter)}
        if not samples:
            continue
        table = read_table(program)
        if COMPARED and not options.update:
            settle(samples, table, lambda row: measure_row(program, row))
        counts = {row: of_one(sample) for row, sample in samples.items()}
        if options.update:
            write_table(program, counts, table)
            table = read_table(program)
        counted += len(counts)
        wrong += print_table(program, counts, table)
        if options.functions:
            for row in counts:
                if ", recorded: " not in row:
                    print_functions(program, row)
        if options.beside_toolchain and program.library:
            print_beside_toolchain(program, counts, table)
    if not counted:
        sys.exit(f"instructions: no row contains '{options.filter}'.")
    if not COMPARED:
        print("The tables are those of x86-64: the counts were not compared.", file=sys.stderr)
        return 0
    if wrong:
        print(f"{wrong} of {counted} rows differ from {os.path.relpath(FOLDER, ROOT)}. If this change means it, run "
              "scripts/dev instructions --update and say why in the commit. --functions shows where.", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
