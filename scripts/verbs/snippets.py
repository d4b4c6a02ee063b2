"""Compiles and runs the blocks of code of the documentation site.

    scripts/dev snippets [REGEX] [--ours FOLDER] [--keep]
    scripts/dev snippets [REGEX] --build FOLDER --swiftc COMMAND --through COMMAND
                         the Swift blocks of pages only, built by another compiler against the modules
                         in FOLDER, and run by an emulator (scripts/dev arm64)

Swift blocks are compiled in Swift 6 mode against this build's module, all in one program, and each runs
in a process of its own: it must end with status 0. A block begins with `import GrandCentral` and
`import Glibc`, is the body of a function, and is a task's if it awaits. Where the end of a line is a comment
behind a call of print or printf, the block must print that text. C blocks are programs: clang and gcc
compile each against our headers, and it runs on the toolchain's library, and on the library in FOLDER.

The examples in the comments of public declarations are compiled only, because they use what a program around
them would have: scripts/lib/examples.swift declares it.

Comments before a block say what else holds:

    <!-- program -->            the block is a whole file main.swift
    <!-- stops: TEXT -->        the process stops, and its standard error has TEXT
    <!-- illustrates: WHY -->   the block is not compiled
    <!-- compilers: clang -->   only these compilers know the block's language
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys

import modulebuild

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CATALOGUE = "Sources/GrandCentral/GrandCentral.docc"
FOLDER = ".build-docs/snippets"
SEEDS = "a block that must fail"
# The tutorial promises that these programs print the same. The argument of its programs: a tree
# that every checkout has.
SAME = ("hash_2_1", "hash_3_1", "hash_4_1", "hash_5_1")
TREE = "Sources/GrandCentral"
MODULES = ("GrandCentral", "GrandCentralDispatchBridge", "GrandCentralBoard", "GrandCentralCore",
           "GrandCentralPrimitives", "CGrandCentralLinux")
# Compiled with a trait only; its example is a whole program, which ExecutorFactoryTests runs.
NOT_IN_THIS_BUILD = "Sources/GrandCentral/ExecutorFactory.swift"
STOPS = {-signal.SIGILL, -signal.SIGTRAP, -signal.SIGABRT}
# Ends only a block that hangs.
LIMIT_SECONDS = int(os.environ.get("GRANDCENTRAL_DEADLINE", "120"))
BLOCK = re.compile(r"((?:^<!-- .*? -->\n)*)^```(swift|c)\n(.*?)^```$", re.M | re.S)
EXAMPLE = re.compile(r"^ */// ```swift\n((?: *///.*\n)*?) */// ```$", re.M)
MARK = re.compile(r"<!-- (\w+)(?:: (.*?))? -->")
MARKS = {"program", "stops", "illustrates", "compilers"}
PRINTED = re.compile(r"\bprintf?\(.*\);?[ ]*// (.+)$", re.M)


class Snippet:
    """A block of code: where it stands, its text, and what its comments ask for."""

    def __init__(self, path, line, language, text, marks):
        self.path, self.line, self.language, self.text, self.marks = path, line, language, text, marks
        name = os.path.splitext(os.path.basename(path))[0]
        self.name = re.sub(r"\W", "_", f"{name}_{line}")
        self.output = None
        unknown = set(marks) - MARKS
        if unknown:
            sys.exit(f"{path}:{line}: unknown mark {sorted(unknown)}; the marks are {sorted(MARKS)}")

    @property
    def place(self):
        return f"{self.path}:{self.line}"

    @property
    def is_task(self):
        """Whether the block itself awaits: outside the closures that begin on lines before."""
        return "dispatchMain()" not in self.text and re.search(r"\bawait\b", self.text) is not None

    @property
    def printed(self):
        return PRINTED.findall(self.text)


def snippets():
    found = []
    for path in ["README.md", *sorted(glob.glob(f"{CATALOGUE}/**/*.md", recursive=True))]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        fences = len(re.findall(r"^```(?:swift|c)$", text, re.M))
        blocks = list(BLOCK.finditer(text))
        if len(blocks) != fences:
            sys.exit(f"{path}: {fences} blocks of code begin, {len(blocks)} end")
        for block in blocks:
            # A block begins in the line after its fence.
            line = text.count("\n", 0, block.start(3)) + 1
            found.append(Snippet(path, line, block[2], block[3], dict(MARK.findall(block[1]))))
    for path in sorted(glob.glob(f"{CATALOGUE}/Resources/*.swift")):
        with open(path, encoding="utf-8") as file:
            found.append(Snippet(path, 1, "swift", file.read(), {"program": ""}))
    return found


def examples():
    """The blocks in the comments of declarations."""
    found = []
    for path in sorted(glob.glob("Sources/GrandCentral*/**/*.swift", recursive=True)):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if path == NOT_IN_THIS_BUILD:
            continue
        for block in EXAMPLE.finditer(text):
            lines = [re.sub(r"^ */// ?", "", line) for line in block[1].splitlines(keepends=True)]
            found.append(Snippet(path, text.count("\n", 0, block.start(1)) + 1, "swift", "".join(lines), {}))
    return found


def example_problems(group, swift):
    """Compiles the examples together, with what they use. Returns what is wrong."""
    if not group:
        return []
    files = ["scripts/lib/examples.swift"]
    for snippet in group:
        snippet.text = re.sub(r"^import \w+\n+", "", snippet.text)
        files.append(write(f"examples/{snippet.name}.swift", as_function(snippet)))
    report = swift.check(files)
    wrong = Snippet(SEEDS, 1, "swift", "DispatchQueue.global().asink {}\n", {})
    if not report and not swift.check([write("examples/wrong.swift", as_function(wrong))]):
        report = "a wrong example compiles: the check is broken"
    return [report] if report else []


def as_function(snippet):
    """A file whose function runs the block. Errors of the compiler name the block's own file and line."""
    effect = " async throws" if snippet.is_task else " throws"
    return (
        f"import Glibc\nimport GrandCentral\n\nfunc {snippet.name}(){effect} {{\n"
        f'#sourceLocation(file: "{snippet.path}", line: {snippet.line})\n{snippet.text}'
        "#sourceLocation()\n}\n")


def runner(group):
    """The main file of the program that runs the block whose name is its argument."""
    lines = ["import Glibc", "import GrandCentral", "",
             "switch CommandLine.arguments[1] {"]
    for snippet in group:
        if snippet.is_task:
            lines += [f'case "{snippet.name}":', "  takeOverConcurrency()",
                      f"  Task {{ do {{ try await {snippet.name}() }} catch {{ fatalError("
                      '"\\(error)") }', "    exit(0)", "  }", "  dispatchMain()"]
        else:
            lines.append(f'case "{snippet.name}": try {snippet.name}()')
    return "\n".join(lines + ["default: exit(64)", "}"]) + "\n"


class Swift:
    """Compiles against the module of this build, in the folder where scripts/dev build puts it."""

    def __init__(self, build=None, swiftc="swiftc", through=""):
        self.build = build or modulebuild.build("GrandCentral", "GrandCentralDispatchBridge")
        self.swiftc, self.through = shlex.split(swiftc), shlex.split(through)
        # The build keeps the objects of sources that have been removed or renamed.
        sources = {os.path.basename(path) for path in glob.glob("Sources/**/*.*", recursive=True)}
        self.objects = [
            path for module in MODULES
            for path in glob.glob(f"{self.build}/{module}.build/**/*.o", recursive=True)
            if os.path.basename(path).removesuffix(".o") in sources]

    def compile(self, files, program):
        """Returns what the compiler reports, or nothing."""
        return self.run(
            "-warnings-as-errors", "-Onone", "-j2", *files, *self.objects, "-o", program)

    def check(self, files):
        """Checks the types only. An example may leave a result unused."""
        return self.run("-typecheck", "-suppress-warnings", "-parse-as-library", *files)

    def run(self, *arguments):
        done = subprocess.run(
            [*self.swiftc, "-swift-version", "6", "-module-name", "Snippets", "-I", f"{self.build}/Modules",
             "-I", "Sources/CLinux/include", *arguments],
            check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout if done.returncode != 0 else ""


def write(name, text):
    path = os.path.join(FOLDER, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def run(snippet, command, environment=None, on=""):
    """Returns why a block that ran is wrong, or nothing."""
    try:
        done = subprocess.run(
            command, check=False, text=True, errors="replace", timeout=LIMIT_SECONDS,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=dict(os.environ, SWIFT_BACKTRACE="enable=no", **(environment or {})))
    except subprocess.TimeoutExpired:
        return f"{snippet.place}: does not end within {LIMIT_SECONDS} s{on}"
    snippet.output = done.stdout
    expected = snippet.marks.get("stops")
    if expected is not None:
        if done.returncode in STOPS and expected in done.stderr:
            return None
        return f"{snippet.place}: ends with {done.returncode} and not with '{expected}'{on}\n{done.stderr}"
    if done.returncode != 0:
        return f"{snippet.place}: ends with {done.returncode}{on}\n{done.stdout}{done.stderr}"
    lines = done.stdout.split("\n")
    missing = [text for text in snippet.printed if text not in lines]
    if missing:
        return f"{snippet.place}: does not print {missing}, but{on}\n{done.stdout}"
    return None


def swift_problems(group, swift, pool):
    """Compiles the blocks, all functions in one program, and runs each. Returns what is wrong."""
    if not group:
        return []
    functions = [s for s in group if "program" not in s.marks] + seeds("swift", compiles=True)
    jobs, commands = {}, []
    for snippet in [s for s in group if "program" in s.marks] + seeds("swift", compiles=False):
        text = f'import Glibc\n#sourceLocation(file: "{snippet.path}", line: {snippet.line})\n{snippet.text}'
        program = os.path.join(FOLDER, snippet.name, "run")
        jobs[snippet] = pool.submit(swift.compile, [write(f"{snippet.name}/main.swift", text)], program)
        commands.append((snippet, [*swift.through, program, TREE]))
    files = [write(f"functions/{s.name}.swift", as_function(s)) for s in functions]
    files.append(write("functions/main.swift", runner(functions)))
    program = os.path.join(FOLDER, "functions", "run")
    failed = swift.compile(files, program)
    commands += [(snippet, [*swift.through, program, snippet.name]) for snippet in functions]
    reports = {snippet: job.result() for snippet, job in jobs.items()}

    def outcome(pair):
        snippet, command = pair
        report = reports.get(snippet, failed)
        return snippet, [report or run(snippet, command)]

    problems = judged(pool.map(outcome, commands))
    sums = {s.place: s.output for s in group if s.name in SAME}
    if not problems and len(set(sums.values())) > 1:
        problems.append(f"the steps of the tutorial print different sums: {sums}")
    return problems


def c_problems(group, ours, pool):
    """Compiles the programs with each compiler, and runs them on each library. Returns what is wrong."""
    if not group:
        return []
    info = subprocess.run(["swiftc", "-print-target-info"], check=True, text=True, stdout=subprocess.PIPE)
    resources = json.loads(info.stdout)["paths"]["runtimeResourcePath"]
    libraries = {"the toolchain's library": f"{resources}/linux"}
    if ours:
        libraries["our library"] = os.path.abspath(ours)

    def outcome(pair):
        snippet, compiler = pair
        file = write(
            f"{snippet.name}/{compiler}.c", f'#line {snippet.line} "{snippet.path}"\n{snippet.text}')
        program = os.path.join(FOLDER, snippet.name, compiler)
        flags = ["-fblocks"] if compiler == "clang" else []
        done = subprocess.run(
            [compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", *flags, "-ISources/CDispatch/include",
             "-isystem", f"{resources}/Block", file, f"-L{resources}/linux", "-ldispatch", "-lBlocksRuntime",
             "-o", program], check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            return snippet, [f"{compiler}: {done.stdout}"]
        return snippet, [
            run(snippet, [program], {"LD_LIBRARY_PATH": f"{folder}:{resources}/linux"},
                f", built by {compiler}, on {name}")
            for name, folder in libraries.items()]

    pairs = [(s, c) for s in group + seeds("c") for c in s.marks.get("compilers", "clang gcc").split()]
    return judged(pool.map(outcome, pairs))


def judged(outcomes):
    """The problems of the blocks, each once; and a problem for each seed that has none."""
    problems = {}
    for snippet, found in outcomes:
        found = [problem for problem in found if problem]
        if snippet.path != SEEDS:
            problems.update(dict.fromkeys(found))
        elif not found:
            problems[f"the wrong block '{snippet.text.strip()}' passes: the check is broken"] = None
    return list(problems)


def seeds(language, compiles=None):
    """Wrong blocks, which every run compiles and runs too, and which must fail."""
    rows = [
        ("swift", False, {}, "let queue = DispatchQueue(name: 1)\n"),
        ("swift", False, {}, "func f() { let unused = 1 }\n"),
        ("swift", True, {}, 'print("one")  // two\n'),
        ("swift", True, {}, "exit(3)\n"),
        ("swift", True, {}, "try await Task.sleep(for: .zero)\nthrow CancellationError()\n"),
        ("swift", True, {"stops": "Deadlock"}, "DispatchQueue.main.async {}\n"),
        ("swift", True, {"stops": "another message"},
         'let queue = DispatchQueue(label: "a")\nqueue.sync { queue.sync {} }\n'),
        ("c", True, {}, "int main(void) { int unused; return 0; }\n"),
        ("c", True, {}, "int main(void) { return 1; }\n"),
        ("c", True, {}, '#include <stdio.h>\nint main(void) {\n  printf("one");  // two\n  return 0;\n}\n'),
    ]
    return [
        Snippet(SEEDS, number, kind, text, marks if fits else {"program": ""})
        for number, (kind, fits, marks, text) in enumerate(rows, 1)
        if kind == language and compiles in (None, fits)]


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/dev snippets", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("filter", nargs="?", default="", metavar="REGEX", help="matched against FILE:LINE")
    parser.add_argument("--ours", metavar="FOLDER", help="run C blocks on the libdispatch.so in FOLDER too")
    parser.add_argument("--keep", action="store_true", help=f"keep the programs in {FOLDER}")
    parser.add_argument("--build", metavar="FOLDER", help="the build to compile against")
    parser.add_argument("--swiftc", default="swiftc", metavar="COMMAND", help="the compiler and its options")
    parser.add_argument("--through", default="", metavar="COMMAND", help="what runs the programs")
    options = parser.parse_args()
    os.chdir(ROOT)
    if options.ours and not os.path.exists(os.path.join(options.ours, "libdispatch.so")):
        sys.exit(f"snippets: there is no libdispatch.so in {options.ours}")
    chosen = [s for s in snippets() if re.search(options.filter, s.place)]
    commented = [s for s in examples() if re.search(options.filter, s.place)]
    if options.build:
        chosen, commented = [s for s in chosen if s.language == "swift"], []
    if not chosen and not commented:
        sys.exit(f"snippets: no block of code stands at {options.filter}")
    compiled = [s for s in chosen if "illustrates" not in s.marks]
    shutil.rmtree(FOLDER, ignore_errors=True)
    swift = Swift(options.build, options.swiftc, options.through)
    with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
        types = pool.submit(example_problems, commented, swift)
        problems = swift_problems([s for s in compiled if s.language == "swift"], swift, pool)
        problems += c_problems([s for s in compiled if s.language == "c"], options.ours, pool)
        problems += types.result()
    if not options.keep:
        shutil.rmtree(FOLDER, ignore_errors=True)
    if problems:
        print("\n".join(problems), file=sys.stderr)
        sys.exit(f"snippets: {len(problems)} problems")
    print(f"snippets: {len(compiled)} blocks of articles compile and run, {len(chosen) - len(compiled)} illustrate; "
          f"{len(commented)} examples of comments compile")


main()
