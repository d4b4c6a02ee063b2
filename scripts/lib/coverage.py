"""Prints a table of line coverage by room and file: coverage.py LCOV-FILE THRESHOLD.

A line counts if the compiler maps it to code. Empty lines, comments and lines of brackets do not
count: the compiler maps the closing bracket of a function even if it is unreachable. Exits with 1
if less than THRESHOLD per cent of all lines ran. The verb coverage uses it.
"""
import os
import re
import sys


def read_counts(path):
    """How often each line of each file ran: {file: {line: count}}."""
    counts, lines = {}, {}
    with open(path, encoding="utf-8") as file:
        for text in file:
            kind, _, value = text.rstrip("\n").partition(":")
            if kind == "SF":
                lines = counts.setdefault(os.path.relpath(value), {})
            elif kind == "DA":
                number, count = value.split(",")[:2]
                lines[int(number)] = max(int(count), lines.get(int(number), 0))
    return counts


def only_code(path, lines):
    """The lines with more than a comment or brackets."""
    with open(path, encoding="utf-8") as file:
        text = file.read().split("\n")
    return {n: count for n, count in lines.items() if re.match(r"\W*\w", text[n - 1].split("//")[0])}


def ranges(numbers, counted):
    """Formats line numbers as ranges: 17, 19–22. A range spans lines that do not count."""
    order = {number: place for place, number in enumerate(sorted(counted))}
    found = []
    for number in sorted(numbers):
        if found and order[number] == order[found[-1][1]] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}–{b}" for a, b in found)


def room(path):
    """The file's room: Sources for Sources/GrandCentralCore/Sources/Timer/TimerSource.swift."""
    parts = path.split("/")
    return parts[-2] if "GrandCentralCore" not in parts else parts[parts.index("GrandCentralCore") + 1]


def row(name, ran, lines, note=""):
    print(f"{name:<44} {ran:>5} / {lines:<5} {100 * ran / max(1, lines):6.1f} %  {note}".rstrip())


def main():
    counts = {p: only_code(p, lines) for p, lines in read_counts(sys.argv[1]).items()}
    threshold = float(sys.argv[2])
    all_ran = all_lines = 0
    for each in sorted({room(path) for path in counts}):
        paths = sorted(path for path in counts if room(path) == each)
        lines = sum(len(counts[path]) for path in paths)
        ran = sum(sum(map(bool, counts[path].values())) for path in paths)
        row(each, ran, lines)
        for path in paths:
            missed = [number for number, count in counts[path].items() if count == 0]
            total = len(counts[path])
            name = "  " + os.path.basename(path)
            row(name, total - len(missed), total, ranges(missed, counts[path]))
        all_ran += ran
        all_lines += lines
    row("All", all_ran, all_lines)
    if all_lines == 0:
        sys.exit("coverage: the profile knows no line of the engine")
    if 100 * all_ran < threshold * all_lines:
        sys.exit(f"coverage: below the threshold of {threshold:g} %")


if __name__ == "__main__":
    main()
