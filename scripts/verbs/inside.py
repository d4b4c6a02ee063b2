#!/usr/bin/env python3
"""Measures what `grandcentral` and the board cost, and prints one line a figure.

    scripts/dev inside [--runs N] [--items N] [--configuration release|debug]

Builds the command and the probes, in release by default. Measures how soon `dump` prints its first
line, also with 10,000 queues and 1,000 threads, and its CPU time; counts, with strace(1), the
system calls that the program makes meanwhile; and how many pages the board of an idle process has,
how many bytes an item takes in each format, and what recording adds to an item: its levels alternate
in one process, and rounds while the machine is busy do not count. `scripts/dev instructions
recorded` counts the instructions of that. Times are medians of N runs, and are printed, not
checked. The exit status is 1 if the program makes a system call.
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import probes

def processor_seconds():
    """The CPU time of the children that have ended: of user and system, only the sum is exact."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def first_line(command, *arguments):
    """Runs `dump`; returns the seconds to its first line and its end, the line, and CPU seconds."""
    used = processor_seconds()
    begin = time.perf_counter()
    with subprocess.Popen([command, "dump", *arguments], stdout=subprocess.PIPE) as child:
        line = child.stdout.readline()
        first = time.perf_counter() - begin
        child.stdout.read()
    end = time.perf_counter() - begin
    return first, end, line.decode().strip(), processor_seconds() - used


def show(text, value):
    print(f"{text:<58} {value}")


def milliseconds(samples):
    return f"{statistics.median(samples) * 1000:.1f} ms (of {len(samples)}: " \
        f"{min(samples) * 1000:.1f} to {max(samples) * 1000:.1f})"


def dumps(folder, runs):
    command, probe = f"{folder}/grandcentral", f"{folder}/HangProbe"
    for scene, line, text in (
            ("deadlock", "Deadlock", "a deadlock of two threads"),
            ("healthy", "Nothing is stuck.", "a busy program"),
            ("crowd", "Queue 'stuck'", "10,000 queues and 1,000 threads")):
        with probes.Probe(probe, scene) as child:
            probes.wait_for_line(command, child.pid, line)
            samples = [first_line(command, str(child.pid), "--stuck-after", "0")
                       for _ in range(runs)]
            show(f"dump, first line: {text}", milliseconds([s[0] for s in samples]))
            show("    CPU time of the command", milliseconds([s[3] for s in samples]))
            if scene == "crowd":
                samples = [first_line(command, str(child.pid), "--all") for _ in range(runs)]
                show("dump --all, to its end: the same", milliseconds([s[1] for s in samples]))


def system_calls(folder):
    """Counts the system calls of a program that hangs, while it is dumped."""
    if not shutil.which("strace"):
        show("system calls of the program during a dump", "not measured: there is no strace")
        return 0
    command = f"{folder}/grandcentral"
    with probes.Probe(f"{folder}/HangProbe", "deadlock") as child, tempfile.NamedTemporaryFile() as log:
        probes.wait_for_line(command, child.pid, "Deadlock")
        # A waiting thread searches for a deadlock again, in pauses that double (Lanes/LongWait):
        # that is a futex(2), and no work for the dump.
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", log.name, "-p", str(child.pid)],
                                  stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        before = os.path.getsize(log.name)
        for _ in range(5):
            first_line(command, str(child.pid))
        calls = open(log.name, encoding="utf-8").read()[before:].splitlines()
        tracer.terminate()
        tracer.wait()
    # The first line may be the rest of one from before.
    calls = [call for call in calls
             if call[:1].isdigit() and "resumed" not in call and "futex" not in call]
    show("system calls of the program during five dumps", len(calls))
    for call in calls[:5]:
        print(f"  {call}")
    return len(calls)


def pages(folder):
    """The memory of an idle process's board, by smaps."""
    for level, text in (("", ""), ("items", ", if each thread records")):
        environment = {"GRANDCENTRAL_RECORD": level} if level else {}
        with probes.Probe(f"{folder}/HangProbe", "idle", environment=environment) as child:
            lines = open(f"/proc/{child.pid}/smaps", encoding="utf-8").read().splitlines()
        at = next(i for i, line in enumerate(lines) if "/memfd:grandcentral" in line)
        rss = next(line for line in lines[at:] if line.startswith("Rss:"))
        count = int(rss.split()[1]) * 1024 // os.sysconf("SC_PAGESIZE")
        show(f"pages of an idle program's board{text}", count)


def sizes(folder, items, scratch):
    command = f"{folder}/grandcentral"
    for options, text in (((), ""), (("--origins",), ", with origins")):
        file = f"{scratch}/{len(options)}.gcrecord"
        probes.record(command, file, f"{folder}/RecordProbe", "count", str(items), options=options)
        count = 3 * items
        show(f"bytes an item: recording{text}", f"{os.path.getsize(file) / count:.1f}")
        subprocess.run(
            [command, "timeline", file, "-o", f"{file}.html", "--perfetto", f"{file}.pf"],
            check=True, stderr=subprocess.DEVNULL)
        show(f"bytes an item: page{text}", f"{os.path.getsize(f'{file}.html') / count:.1f}")
        show(f"bytes an item: trace for Perfetto{text}",
             f"{os.path.getsize(f'{file}.pf') / count:.1f}")


def rounds_of_processes(folder, rounds, *arguments):
    """Nanoseconds of an item at each level, in the order of time, of several processes: where
    memory and threads lie is part of the cost."""
    return [[[float(word) for word in line.split()] for line in
             probes.run(f"{folder}/RecordProbe", "levels", str(rounds // 6), *arguments,
                        environment={"GRANDCENTRAL_WIDTH": "1"}).splitlines()]
            for _ in range(6)]


def fast(samples, share):
    """The time that this share of the samples does not exceed."""
    samples = sorted(samples)
    return samples[int(len(samples) * share)]


def quiet_rounds(processes):
    """The rounds whose items without a recording, before and after, and samples were among the
    fastest: in the others, programs beside take the processor's caches and its second thread. One
    of these alone would be fast by chance, and say nothing of the time of the recorded items."""
    off = fast((round[0] for rounds in processes for round in rounds), 0.3)
    sampled = fast((round[1] for rounds in processes for round in rounds), 0.3)
    return [round for rounds in processes for round, after in zip(rounds, rounds[1:])
            if round[0] <= off and round[1] <= sampled and after[0] <= off]


def costs(folder, rounds):
    """What an item costs at each level, which alternate in one process."""
    samples = quiet_rounds(rounds_of_processes(folder, rounds))
    off = statistics.median(sample[0] for sample in samples)
    show("an item, submitted and run, without a recording", f"{off:.0f} ns")
    for at, level in enumerate(("sampled", "items", "origins"), start=1):
        more = sorted(sample[at] - sample[0] for sample in samples)
        ratio = statistics.median(sample[at] / sample[0] for sample in samples)
        show(f"what the level '{level}' adds", f"{statistics.median(more):.1f} ns (×{ratio:.2f})")
    events = sorted((sample[2] - sample[0]) / 3 for sample in samples)
    show("an event, of the three of an item",
         f"{statistics.median(events):.1f} ns, in 99 % of {len(events)} batches at most "
         f"{events[len(events) * 99 // 100]:.1f} ns")
    more = statistics.median(sample[3] - sample[2] for sample in samples)
    show("what origins add to items", f"{more:.1f} ns")
    # Each level by its own fastest rounds: those that are fast at one level are so by chance, too,
    # which is as much as a recording adds to such items. After some 500 rounds the events are where
    # others were.
    processes = rounds_of_processes(folder, rounds * 3 // 2, "5")
    for text, part in ("first", slice(400)), ("later", slice(600, None)):
        samples = [round for rounds in processes for round in rounds[part]]
        off, sampled, items = (fast((round[at] for round in samples), 0.1) for at in range(3))
        show(f"what the level 'items' adds to items of 5 us, {text}",
             f"{100 * (items / off - 1):.2f} %")
        show("    the same of 'sampled', which is the error",
             f"{100 * (sampled / off - 1):.2f} %")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--configuration", choices=("release", "debug"), default="release")
    options = parser.parse_args()
    folder = probes.build("grandcentral", "HangProbe", "RecordProbe",
                          configuration=options.configuration)
    dumps(folder, options.runs)
    calls = system_calls(folder)
    pages(folder)
    with tempfile.TemporaryDirectory() as scratch:
        sizes(folder, options.items, scratch)
    costs(folder, 300 * options.runs)
    return 1 if calls else 0


if __name__ == "__main__":
    sys.exit(main())
