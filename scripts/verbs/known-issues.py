"""Runs programs about known issues of the C library on both libraries, and writes the results page.

    scripts/dev known-issues [--check | --print] [--ours FOLDER] [--jobs N] [REGEX]

The programs of KnownIssues are compiled once, against the toolchain's headers and modules. Each runs
on the toolchain's libdispatch.so and on ours, and ends by itself with a verdict. The run writes
Docs/KnownIssues.md and the article of the documentation site. On the toolchain's library the outcome of
a program may differ from run to run: the page states what this run observed.

--check runs all on ours only, and fails if a promise is broken, or kept though its program says that
ours breaks it, or if the page lacks a program. Many promises end at a time limit, which may pass
beside other work of the machine: what ours breaks then runs again, alone, up to twice. --print runs
and writes no page.
"""
import argparse
import concurrent.futures
import glob
import os
import platform
import re
import signal
import subprocess
import sys
import textwrap

from libraries import ROOT, command_output, environment, is_older, toolchain

SOURCES = os.path.join(ROOT, "KnownIssues")
BUILD = os.path.join(ROOT, ".build-dropin", "known-issues")
PAGE = os.path.join(ROOT, "Docs", "KnownIssues.md")
ARTICLE = os.path.join(ROOT, "Sources", "GrandCentral", "GrandCentral.docc", "Articles", "KnownIssues.md")
HELPER = [os.path.join(SOURCES, name) for name in ("Promise.c", "Promise.h")]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
# Seconds until a program without a verdict has broken its promise. Ours run beside other load.
DEADLINES = {"toolchain": 20, "ours": 120}
VERDICT = re.compile(r"(kept|broken)\. Promised: (.*)\. Happened: (.*)\n", re.S)


class Program:
    """A source file, and the comment at its top."""

    def __init__(self, path):
        self.path = path
        self.file = os.path.basename(path)
        self.name = self.file.split(".")[0]
        with open(path, encoding="utf-8") as file:
            text = file.read()
        comment = re.match(r"(?://.*\n)+", text)
        lines = [line[2:].strip() for line in comment.group().splitlines()] if comment else []
        paragraphs = [" ".join(p.split("\n")) for p in "\n".join(lines).split("\n\n")]
        self.notes = {}
        for paragraph in list(paragraphs):
            found = re.match(r"(Reported|Ours|Flags): (.*)", paragraph)
            if found:
                self.notes[found.group(1)] = found.group(2)
                paragraphs.remove(paragraph)
        if len(paragraphs) != 2:
            sys.exit(f"known-issues: KnownIssues/{self.file} must begin with a comment: a line that names the "
                     "defect, and a paragraph that describes it")
        self.defect, self.description = paragraphs
        self.binary = os.path.join(BUILD, self.name)

    def compile(self, tools):
        if not is_older(self.binary, [self.path, *HELPER, os.path.abspath(__file__)]):
            return ""
        helper = os.path.join(BUILD, "Promise.o")
        if self.file.endswith(".c"):
            return compiled(
                [*clang(tools), *self.notes.get("Flags", "").split(), self.path, helper, "-o", self.binary,
                 f"-L{tools}/lib/swift/linux", "-ldispatch", "-lBlocksRuntime", "-lpthread",
                 f"-Wl,-rpath,{tools}/lib/swift/linux"])
        return compiled(
            ["swiftc", "-swift-version", "6", "-warnings-as-errors", "-import-objc-header",
             HELPER[1], self.path, helper, "-o", self.binary])

    def run(self, library, folder):
        """The program's verdict, or what it printed instead of one."""
        variables = {**environment(folder), "KNOWN_ISSUES_DEADLINE": str(DEADLINES[library])}
        # The body of a program is a process group of its own, which the program ends.
        with subprocess.Popen(
                [self.binary], env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True) as child:
            try:
                output, _ = child.communicate(timeout=DEADLINES[library] + 30)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                output, _ = child.communicate()
        found = VERDICT.fullmatch(output)
        if not found or child.returncode != (found.group(1) == "broken"):
            sys.exit(f"known-issues: {self.file} gave no verdict on {library}, status {child.returncode}: {output}")
        return Outcome(*found.groups())


class Outcome:
    def __init__(self, word, promised, happened):
        self.is_kept, self.promised, self.happened = word == "kept", promised, happened

    def line(self):
        return f"{'kept' if self.is_kept else 'broken'}: {self.happened}"


def clang(tools):
    headers = f"{tools}/lib/swift"
    return [f"{tools}/bin/clang", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", *WARNINGS, "-fblocks",
            "-isystem", headers, "-isystem", f"{headers}/Block"]


def compiled(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode else ""


def build(programs, jobs):
    os.makedirs(BUILD, exist_ok=True)
    tools = toolchain()
    helper = os.path.join(BUILD, "Promise.o")
    problems = []
    if is_older(helper, [*HELPER, os.path.abspath(__file__)]):
        problems.append(compiled([*clang(tools), "-c", HELPER[0], "-o", helper]))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        problems += pool.map(lambda program: program.compile(tools), programs)
    if any(problems):
        sys.exit("known-issues: " + "\n".join(filter(None, problems)))


def run_all(programs, libraries, jobs):
    """The outcomes by program and library. Programs that fill the CPUs run beside others: only order and
    deadlines decide."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {
            (program.name, library): pool.submit(program.run, library, folder)
            for library, folder in libraries.items() for program in programs}
        return {key: future.result() for key, future in running.items()}


def problems(programs, outcomes):
    """What --check reports: a line for each program of ours that is not as its comment says."""
    lines = []
    for program in programs:
        outcome = outcomes[program.name, "ours"]
        if not outcome.is_kept and "Ours" not in program.notes:
            lines.append(f"KnownIssues/{program.file}: promised: {outcome.promised}. On ours {outcome.happened}")
        if outcome.is_kept and "Ours" in program.notes:
            lines.append(f"KnownIssues/{program.file}: ours keeps the promise now; remove the line 'Ours:'")
    return lines


def page_problems(programs, outcomes):
    """The programs and promises that the page and the article do not show."""
    lines = []
    for path in (PAGE, ARTICLE):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for program in programs:
            if cell(program.defect) not in text or program.file not in text:
                lines.append(f"{os.path.relpath(path, ROOT)} lacks {program.file}: run scripts/dev known-issues")
    shown = set(re.findall(r"\w+\.(?:c|swift)(?=\))", open(PAGE, encoding="utf-8").read()))
    for name in shown - {program.file for program in programs}:
        lines.append(f"Docs/KnownIssues.md shows {name}, which is not there: run scripts/dev known-issues")
    return lines


def cell(text):
    return text.replace("|", "\\|")


def versions():
    with open(os.path.join(ROOT, "VERSION"), encoding="utf-8") as file:
        ours = file.read().strip()
    compiler = command_output("swiftc", "--version").splitlines()[0]
    kernel = platform.release().split("-")[0]
    return (f"Versions: the library of {compiler.strip()}; Grand Central {ours}; Linux {kernel} on "
            f"{platform.machine()}, {len(os.sched_getaffinity(0))} CPUs.")


def rows(programs, outcomes, link):
    for program in programs:
        theirs, ours = outcomes[program.name, "toolchain"], outcomes[program.name, "ours"]
        yield (f"| {cell(program.defect)} | {cell(theirs.line())} | {cell(ours.line())} | "
               f"{link(program)} |")


def summary(programs, outcomes, library):
    kept = sum(outcomes[program.name, library].is_kept for program in programs)
    return f"keeps {kept} of {len(programs)} promises"


def wrapped(text):
    return textwrap.fill(" ".join(text.split()), 100, break_long_words=False, break_on_hyphens=False)


def write(programs, outcomes):
    introduction = f"""
        Each row is a program of `KnownIssues`, written anew from the public description of a defect of the C
        library (swift-corelibs-libdispatch) on Linux. It makes one promise and prints whether it was kept. One
        binary ran on the toolchain's library and on the drop-in library of this project: the toolchain's
        {summary(programs, outcomes, 'toolchain')}, ours {summary(programs, outcomes, 'ours')}."""
    honesty = """
        On the toolchain's library the outcome may differ from run to run and from machine to machine. The table
        states what was observed in the run that made this page. "kept" in its column means that this run did not
        show the defect: it is mended in this version, or rare, or was never there. Such programs stay as checks of
        ours."""
    table = ["| the defect | the toolchain's library | ours | program |", "|---|---|---|---|"]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n\n".join([
            "# Known issues of the C library, on both libraries",
            "<!-- Made by scripts/dev known-issues. -->", wrapped(introduction), wrapped(honesty), wrapped(versions()),
            "\n".join(table + list(rows(
                programs, outcomes, lambda p: f"[{p.file}](../KnownIssues/{p.file})"))),
            "## The defects"] + [described(p, outcomes) for p in programs]) + "\n")
    with open(ARTICLE, "w", encoding="utf-8") as file:
        file.write("\n\n".join([
            "# Known issues of the C library", "<!-- Made by scripts/dev known-issues. -->",
            "Defects that are reported of the toolchain's library on Linux, run on both libraries.",
            "## Overview", wrapped(introduction), wrapped(honesty), wrapped(versions()),
            "\n".join(table + list(rows(programs, outcomes, lambda p: f"`{p.file}`")))]) + "\n")


def described(program, outcomes):
    parts = [f"### {program.name}", wrapped(program.description),
             wrapped(f"Promised: {outcomes[program.name, 'ours'].promised}.")]
    if outcomes[program.name, "toolchain"].is_kept:
        parts.append("This run did not show the defect on the toolchain's library.")
    if "Ours" in program.notes:
        parts.append(wrapped("Ours breaks the promise: " + program.notes["Ours"]))
    if "Reported" in program.notes:
        parts.append(wrapped("Reported: " + program.notes["Reported"]))
    return "\n\n".join(parts)


def check_the_check(programs):
    """Gives each program the outcome that its comment does not say: the check must report it."""
    for program in programs:
        word = "kept" if "Ours" in program.notes else "broken"
        if not problems([program], {(program.name, "ours"): Outcome(word, "a promise", "nothing")}):
            sys.exit(f"known-issues: the check is broken: it does not report {program.file}")


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/dev known-issues", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filter", nargs="?", default="", metavar="REGEX", help="programs whose file matches")
    parser.add_argument("--check", action="store_true", help="run on ours only, and fail if a promise is broken")
    parser.add_argument("--print", action="store_true", help="run on both, and write no page")
    parser.add_argument("--ours", metavar="FOLDER", default=os.path.join(ROOT, ".build-dropin", "release"),
                        help="the folder of the drop-in libdispatch.so; default: .build-dropin/release")
    parser.add_argument("--jobs", type=int, default=8, metavar="N", help="programs at once; default: 8")
    options = parser.parse_args()
    if not os.path.exists(os.path.join(options.ours, "libdispatch.so")):
        sys.exit(f"known-issues: there is no libdispatch.so in {options.ours}: run scripts/dev dropin")
    paths = [path for end in ("c", "swift") for path in glob.glob(f"{SOURCES}/*.{end}") if path not in HELPER]
    programs = [Program(path) for path in sorted(paths, key=os.path.basename)]
    chosen = [program for program in programs if re.search(options.filter, program.file)]
    if not chosen:
        sys.exit("known-issues: no program has such a name")
    build(chosen, options.jobs)
    ours = ":".join([os.path.abspath(options.ours), f"{toolchain()}/lib/swift/linux"])
    libraries = {"ours": ours} if options.check else {"toolchain": None, "ours": ours}
    outcomes = run_all(chosen, libraries, options.jobs)
    for program in chosen * 2 if options.check else []:
        if problems([program], outcomes):
            print(f"{program.name}: again, alone, since ours {outcomes[program.name, 'ours'].line()}")
            outcomes[program.name, "ours"] = program.run("ours", ours)
    for program in chosen:
        print(f"{program.name}: {outcomes[program.name, 'ours'].promised}")
        for library in libraries:
            print(f"    {library:<10}{outcomes[program.name, library].line()}")
    lines = problems(chosen, outcomes)
    check_the_check(chosen)
    if not options.check and not options.print:
        if options.filter:
            sys.exit("known-issues: the page shows all programs: leave REGEX out, or add --print")
        write(chosen, outcomes)
    if options.check and not options.filter:
        lines += page_problems(programs, outcomes)
    if lines:
        print("\n".join(lines), file=sys.stderr)
        sys.exit(f"known-issues: {len(lines)} problems")
    expected = sum("Ours" in program.notes for program in chosen)
    print(f"known-issues: ours keeps the promises of {len(chosen) - expected} programs, and breaks {expected} as they say")


if __name__ == "__main__":
    main()
