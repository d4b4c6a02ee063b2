"""Measures what the recorder's instructions cost while nothing is recorded.

    scripts/dev unrecorded [--processes N] [--rounds N] [--ours FOLDER]

Compares the drop-in with a copy of itself in which no-operations of the same length stand in for
the comparisons with the control word. So all code lies where it lay: two builds, of which one is
compiled without them, differ by more than these instructions cost, since their other code lies
elsewhere. A second copy, unchanged, shows the error. The three are loaded into one process
(Benchmarks/Unrecorded) and work in turn; each process loads them in another order. Prints, for each
row, the ratio of CPU times to those without the comparisons: the median of processes of the median
of rounds, and the standard error. x86-64 only; needs objdump.
"""
import argparse
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from libraries import ROOT, command_output

# GC_EVENT_CONTROL: the word of the board's page that says what is recorded.
CONTROL = 64 * 8

# One instruction each, by length.
NOTHING = {
    length: bytes.fromhex(code) for length, code in enumerate(
        ("90", "6690", "0f1f00", "0f1f4000", "0f1f440000", "660f1f440000", "0f1f8000000000",
         "0f1f840000000000"), start=1)}


def instructions(library):
    """Address, bytes and text of each instruction, in order."""
    found = []
    for line in command_output("objdump", "-d", library).splitlines():
        match = re.match(r" +([0-9a-f]+):\t([0-9a-f ]+?) *(?:\t(.*))?$", line)
        if match and match[3]:
            found.append((int(match[1], 16), bytes.fromhex(match[2]), match[3]))
        elif match:
            # The rest of a long one.
            address, code, text = found[-1]
            found[-1] = address, code + bytes.fromhex(match[2]), text
    return found


def not_taken(jump):
    """What stands in for a jump after a comparison that finds the word 0; `None`: no such jump."""
    if jump[:1] == b"\x74":
        return b"\xeb" + jump[1:]
    if jump[:2] == b"\x0f\x84":
        return NOTHING[1] + b"\xe9" + jump[2:]
    if jump[:1] == b"\x75" or jump[:2] == b"\x0f\x85":
        return NOTHING[len(jump)]
    return None


def without_comparisons(library):
    """The bytes of a library without its comparisons with the control word, and how many it had."""
    with open(library, "rb") as file:
        content = bytearray(file.read())
    names = command_output("nm", library)
    page = int(re.search(r"^([0-9a-f]+) . gc_board_page$", names, re.M)[1], 16)
    segments = [
        tuple(int(word, 16) for word in line.split()[1:5])
        for line in command_output("readelf", "-lW", library).splitlines()
        if line.split()[:1] == ["LOAD"]]

    def put(address, code):
        offset = next(
            address - start + offset for offset, start, _, size in segments
            if start <= address < start + size)
        content[offset:offset + len(code)] = code

    code, count = instructions(library), 0
    for (address, comparison, text), (place, jump, _) in zip(code, code[1:]):
        if f"# {page + CONTROL:x} " not in text:
            continue
        if text.startswith("cmp") and not_taken(jump):
            put(address, NOTHING[len(comparison)])
            put(place, not_taken(jump))
            count += 1
        elif text.startswith("or ") and text.split("#")[0].strip().endswith("%al"):
            # The drain of a lane looks at the node's traits with the same jump: test %al, %al.
            put(address, b"\x84\xc0" + NOTHING[len(comparison) - 2])
            count += 1
    return content, count


def median_ratios(program, rounds, libraries, first):
    """By row: the medians of the CPU times of both unchanged copies to those of the changed one."""
    order = [(first + number) % len(libraries) for number in range(len(libraries))]
    lines = subprocess.run(
        [program, str(rounds), *[libraries[at] for at in order]], check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.splitlines()
    samples = {}
    for line in lines:
        name, *times = line.split("\t")
        by_copy = dict(zip(order, map(float, times)))
        samples.setdefault(name, []).append((by_copy[1] / by_copy[0], by_copy[2] / by_copy[0]))
    return {name: [statistics.median(ratios) for ratios in zip(*pairs)]
            for name, pairs in samples.items()}


def text_of(values):
    error = statistics.stdev(values) / math.sqrt(len(values))
    return f"{statistics.median(values):.3f} ± {error:.3f}"


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/dev unrecorded", description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--processes", type=int, default=18)
    parser.add_argument("--rounds", type=int, default=800)
    parser.add_argument("--ours", help="a folder with libdispatch.so; default: built here")
    options = parser.parse_args()
    if options.processes < 2:
        parser.error("--processes: 2 at least, which show the error")
    if os.uname().machine != "x86_64":
        sys.exit("unrecorded: changes the code of x86-64 only")
    folder = options.ours
    if not folder:
        subprocess.run([f"{ROOT}/scripts/dev", "dropin"], check=True, stdout=sys.stderr)
        folder = f"{ROOT}/.build-dropin/release"
    with tempfile.TemporaryDirectory() as scratch:
        libraries = [f"{scratch}/{name}.so" for name in ("without", "first", "second")]
        changed, count = without_comparisons(f"{folder}/libdispatch.so")
        if not count:
            sys.exit(f"unrecorded: {folder}/libdispatch.so compares nothing with the control word")
        for library in libraries[1:]:
            shutil.copy(f"{folder}/libdispatch.so", library)
        with open(libraries[0], "wb") as file:
            file.write(changed)
        program = f"{scratch}/copies"
        subprocess.run(
            ["clang", "-O2", "-Wall", "-Wextra", "-Werror",
             f"{ROOT}/Benchmarks/Unrecorded/Copies.c", "-o", program], check=True)
        rows = {}
        for number in range(options.processes):
            ratios = median_ratios(program, options.rounds, libraries, number)
            for name, pair in ratios.items():
                rows.setdefault(name, []).append(pair)
    print(f"{count} comparisons; CPU times, ÷ those without them")
    print(f"{'':<36}{'as built':>16}{'a second copy':>16}")
    for name, pairs in rows.items():
        print(f"{name:<36}{text_of([pair[0] for pair in pairs]):>16}"
              f"{text_of([pair[1] for pair in pairs]):>16}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
