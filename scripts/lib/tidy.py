"""Checks the house rules that the compiler and the formatter do not check. See CONTRIBUTING.md.

Prints one line for each breach: path:line: the breach and its remedy.
"""
import os
import re
import subprocess
import sys

import docpaths
import reflow

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
CORE = "Sources/GrandCentralCore"
ROOTS = ["Package.swift", "Sources", "Tests", "Verification", "Comparison", "Benchmarks", "Examples",
         "KnownIssues"]

# The modules that each module's files may import. Modules that are not listed are free.
IMPORTS = {
    "Sources/Primitives": {"CGrandCentralLinux", "Glibc", "Musl", "Synchronization"},
    # Only Platform/Imports.swift imports Primitives: the models compile the other files without it.
    CORE: {"CGrandCentralLinux"},
    "Verification/Sources/ModelChecker": {"CFibers", "Synchronization"},
    "Sources/Board": {"GrandCentralCore"},
    # _Concurrency by name: for its SPI, with the trait ExecutorFactory.
    "Sources/GrandCentral/": {
        "GrandCentralBoard", "GrandCentralCore", "Glibc", "Musl", "_Concurrency"},
}

problems = []


def report(path, line, text):
    problems.append(f"{path}:{line}: {text}")


def files(*roots, suffixes=(".swift",)):
    for root in roots:
        if os.path.isfile(root):
            yield root
        for folder, folders, names in os.walk(root):
            folders[:] = [
                f for f in folders if not f.startswith(".build") and not is_link(folder, f)
            ]
            for name in sorted(names):
                if name.endswith(suffixes):
                    yield os.path.join(folder, name)


def is_link(folder, name):
    return os.path.islink(os.path.join(folder, name))


def without_comments_and_strings(text):
    """Blanks comments and string contents and keeps the lines, so that only code has braces and names."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|#*"""(?:.|\n)*?"""#*|"(?:\\.|[^"\\\n])*"', re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def check_lengths(path, code):
    lines = code.split("\n")
    count = len(lines) - (lines[-1] == "")
    if count > LONGEST_FILE:
        report(path, LONGEST_FILE, f"{count} lines; split it by aspect (at most {LONGEST_FILE})")
    start = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+|[\w()]+\s+)*(?:func\s|init[?(<]|deinit\b)")
    for number, line in enumerate(lines):
        if not start.match(line) or re.match(r"\s*(?:\.|return|self|super)", line):
            continue
        length = body_length(lines, number)
        if length > LONGEST_FUNCTION:
            report(path, number + 1, f"a function of {length} lines (at most {LONGEST_FUNCTION})")


def body_length(lines, start):
    """The number of lines from a declaration to the end of its body; 0 if it has none."""
    depth, opened = 0, False
    for number in range(start, len(lines)):
        for character in lines[number]:
            if character == "{":
                depth, opened = depth + 1, True
            elif character == "}":
                depth -= 1
                if depth == 0 and opened:
                    return number - start + 1
                if depth < 0:
                    return 0
        if not opened and number > start + 12:
            return 0
    return 0


def check_imports(path, code):
    for number, line in enumerate(code.split("\n"), 1):
        found = re.match(
            r"\s*(?:@\w+(?:\(\w+\))?\s+)*(?:public |package |internal |private |fileprivate )?"
            r"import (?:class |struct |enum |func |protocol |typealias |var |let )?(\w+)", line)
        if not found:
            continue
        module = found.group(1)
        for root, allowed in IMPORTS.items():
            if path.startswith(root) and module not in allowed and not is_door(path, module):
                report(path, number, f"imports {module}; {root} may import {sorted(allowed)}")
        if path.startswith("Tests/GrandCentralTests") and module in ("Foundation", "Dispatch"):
            report(path, number, f"imports {module}; behaviour tests use GrandCentral alone")


def is_door(path, module):
    return module == "GrandCentralPrimitives" and path == CORE + "/Platform/Imports.swift"


def check_room(path, text):
    folder = path[len(CORE) + 1:].split("/")[0] if path.startswith(CORE) else "Primitives"
    first = text.split("\n", 1)[0]
    if not re.match(rf"// Room: {folder}\b", first):
        report(path, 1, f"begins with {first!r}; begin with '// Room: {folder}…'")


def check_files_of_room(path, text):
    """The README of a folder of the core, or of the primitives, names each file there; `+Part` is enough for a part."""
    folder = os.path.dirname(path)
    if not re.fullmatch(rf"({CORE}/\w+|Sources/Primitives)/README\.md", path):
        return
    for name in sorted(files(folder)):
        base = os.path.splitext(os.path.basename(name))[0]
        if base not in text and f"`+{base.partition('+')[2]}`" not in text:
            report(path, 1, f"does not name {name}")


def check_words(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line):
            report(path, number, "is unfinished: do it, or open an issue and remove the mark")
        if re.search(r"(?<![\w.])/(?:home|Users|root|work)/\w", line):
            report(path, number, "names a folder of one machine")
        if line.rstrip("\r") != line.rstrip():
            report(path, number, "ends in white space")


# A tracked file beyond this is a core dump, a recording or a build's product.
LARGEST_FILE_BYTES = 256 << 10


def check_size(path, count):
    if count > LARGEST_FILE_BYTES:
        report(path, 1, f"{count} bytes; keep what a program can make out of the repository")


HEADERS = "Sources/CDispatch/include/"
# In two parts, so that this line is not read as one.
LICENCE = "SPDX-" + "License-Identifier: Apache-2.0"


def check_licence(path, text):
    """The public headers are installed without REUSE.toml, which states the licence of all other files."""
    if path.startswith(HEADERS) and text.split("\n", 1)[0] != "// " + LICENCE:
        report(path, 1, f"lacks the line '// {LICENCE}': a header is installed without REUSE.toml")
    if path == "REUSE.toml" and not re.search(r'^path = "\*\*"$', text, re.M):
        report(path, 1, "does not cover every file: path = \"**\"")


VERSION_SOURCE = "Sources/GrandCentralCore/Platform/EngineVersion.swift"


def check_version(path, text):
    """The command prints the version that the packages have, and so does a board."""
    with open("VERSION", encoding="utf-8") as file:
        version = file.read().strip()
    if path == VERSION_SOURCE and f'"{version}"' not in text:
        report(path, 1, f"does not state {version}, the version in VERSION")


# Words that no file uses (CONTRIBUTING.md), in comments, messages, names of tests or identifiers: each
# stands for a thread, an object or a caller that has a name, or is a private term for a term of the field.
BANNED = re.compile(
    r"\b(who|whom|whoever|nobody|somebody|anybody|everybody|told|in vain|let be|(?:go|goes|going|went) on"
    r"|vigils?|doorbell|bell|summons|workplaces?|keepers?)\b", re.I)
WIDEST = 100
# Of the code of scripts, whose commands and expressions are long.
WIDEST_SCRIPT = 120


CONTRACT = "Docs/Contract.md"


def contract_rows():
    with open(CONTRACT, encoding="utf-8") as file:
        return set(re.findall(r"^\| ([A-Z]\d+) \|", file.read(), re.M))


def check_contract(path, text):
    """The table of promises names files that exist, and a test's header names rows of the table."""
    if path == CONTRACT:
        for number, line in enumerate(text.split("\n"), 1):
            shown = line.split("|")[3] if re.match(r"\| [A-Z]\d+ \|", line) else ""
            for name in re.findall(r"`([^`]+)`", shown):
                places = [f"Tests/{root}{name}{end}" for root in ("GrandCentralTests/", "")
                          for end in (".swift", ".c", "")]
                if not any(os.path.exists(place) for place in places):
                    report(path, number, f"names '{name}', which is no test")
    elif path.startswith("Tests/") and path.endswith(".swift"):
        header = re.match(r"(?://[^\n]*\n)*", text).group()
        known = contract_rows() if "contract row" in header else set()
        for row in re.findall(r"\b[A-Z]\d+\b", header.partition("contract row")[2]):
            if row not in known:
                report(path, 1, f"names the row {row}, which {CONTRACT} does not have")


def check_paths(path, text):
    """What a page names exists: files, functions, the verbs of scripts/dev and their options, headings."""
    if path.endswith(".md"):
        for line, what in docpaths.missing(path, text):
            report(path, line, f"{what}, which is not there")
    for row in contributing_rows() if path == "CONTRIBUTING.md" else []:
        if not re.search(rf"`{row}\b", text):
            report(path, 1, f"has no row for {row}")


def contributing_rows():
    """What the tables of CONTRIBUTING.md list: every verb, and every folder of tests."""
    verbs = [f"scripts/dev {os.path.splitext(name)[0]}" for name in os.listdir("scripts/verbs")]
    return sorted(verbs + [f"Tests/{name}" for name in os.listdir("Tests") if name.endswith("Tests")])


def words(line):
    """The line with its identifiers as words: `isToldOf` is "is Told Of". The names of the system's
    headers that begin with two underscores are left out."""
    line = re.sub(r"\b__\w+", " ", line)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", line).replace("_", " ")


def check_columns(path, text):
    """Reports lines beyond the last column. Free are tables, examples and single words in Markdown, links,
    and code whose excess is a string that no formatter breaks."""
    is_markdown, in_example = path.endswith(".md"), False
    is_script = path.startswith("scripts/") or path.endswith((".py", ".sh"))
    for number, line in enumerate(text.split("\n"), 1):
        widest = WIDEST_SCRIPT if is_script and not line.lstrip().startswith("#") else WIDEST
        if is_markdown and line.lstrip().startswith("```"):
            in_example = not in_example
        if len(line) <= widest or "://" in line or is_markdown and (in_example or line.startswith("|")):
            continue
        if is_markdown and " " not in re.sub(r"`[^`]+`", "", line.strip()):
            continue
        strings = [len(m.group()) for m in re.finditer(r'"(?:\\.|[^"\\])*"', line)]
        if not is_markdown and not line.lstrip().startswith(("//", "#", "///")) and max(strings, default=0) > 40:
            continue
        report(path, number, f"has {len(line)} columns (at most {widest}); scripts/dev format wraps Markdown and Swift")


def check_prose(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        for word in BANNED.findall(words(line)):
            report(path, number, f"says \"{word}\": name the thread, the object or the caller")


def function(lines):
    return "func f() {\n" + "  work()\n" * (lines - 2) + "}\n"


# For each rule, texts that break it and texts that do not, with the number of problems.
SEEDS = [
    (check_columns, "seed.swift", "// " + "x" * 98, 1),
    (check_columns, "seed.swift", "// " + "x" * 97, 0),
    (check_columns, "seed.swift", "let a = 1  // " + "x" * 98, 1),
    (check_columns, "seed.swift", 'fail("' + "x" * 98 + '")', 0),
    (check_columns, "seed.swift", '// "' + "x" * 98 + '"', 1),
    (check_columns, "seed.c", "  call(" + "a, " * 40, 1),
    (check_columns, "seed.sh", "# " + "x" * 99, 1),
    (check_columns, "seed.py", "a = " + "b + " * 30, 1),
    (check_columns, "seed.md", "word " * 21, 1),
    (check_columns, "seed.md", "word " * 20, 0),
    (check_columns, "seed.md", "| " + "word " * 30, 0),
    (check_columns, "seed.md", "```\n" + "word " * 30 + "\n```\n" + "word " * 30, 1),
    (check_prose, "seed.swift", "// The thread that waits is notified.", 0),
    (check_prose, "seed.swift", "// Who waits is notified.", 1),
    (check_prose, "seed.swift", "/// It comes in vain and is told.", 2),
    (check_prose, "seed.swift", "let a = 1  // nobody reads it", 1),
    (check_prose, "seed.c", 'check(ran.wait(), "the parent goes on")', 1),
    (check_prose, "seed.swift", "@Test func `is kept by a vigil`() {", 1),
    (check_prose, "seed.swift", "let isToldOf = parentGoesOn()", 2),
    (check_prose, "seed.c", "int faults_become_nobody(void);", 1),
    (check_prose, "seed.c", "getrusage(__rusage_who_t(0), &usage)", 0),
    (check_prose, "seed.swift", "let whole = stolden + bellows", 0),
    (check_prose, "seed.md", "Anybody may call it.", 1),
    (check_prose, "seed.md", "Any thread may call it.", 0),
    (check_lengths, "seed.swift", "let a = 1\n" * 401, 1),
    (check_lengths, "seed.swift", "let a = 1\n" * 400, 0),
    (check_lengths, "seed.swift", function(61), 1),
    (check_lengths, "seed.swift", function(60), 0),
    (check_imports, "Sources/GrandCentralCore/Pool/Seed.swift", "import Foundation", 1),
    (check_imports, "Sources/GrandCentralCore/Pool/Seed.swift", "import GrandCentralPrimitives", 1),
    (check_imports, "Sources/GrandCentralCore/Pool/Seed.swift", "import CGrandCentralLinux", 0),
    (check_imports, "Sources/GrandCentralCore/Platform/Imports.swift", "import GrandCentralPrimitives", 0),
    (check_imports, "Sources/Primitives/Seed.swift", "internal import GrandCentralCore", 1),
    (check_imports, "Tests/GrandCentralTests/Seed.swift", "import Dispatch", 1),
    (check_imports, "Tests/GrandCentralTests/Seed.swift", "import GrandCentral", 0),
    (check_room, "Sources/GrandCentralCore/Pool/Seed.swift", "// Room: Lanes/Seed. It counts.", 1),
    (check_room, "Sources/GrandCentralCore/Pool/Seed.swift", "import CGrandCentralLinux", 1),
    (check_room, "Sources/GrandCentralCore/Pool/Seed.swift", "// Room: Pool/Seed. It counts.", 0),
    (check_room, "Sources/Primitives/Seed.swift", "// Room: Primitives/Seed. It counts.", 0),
    (check_words, "seed.swift", "// TO" + "DO: the rest", 1),
    (check_words, "seed.swift", 'open("/ho' + 'me/me/file")', 1),
    (check_words, "seed.swift", "let a = 1 ", 1),
    (check_words, "seed.swift", "let a = 1", 0),
    (check_version, VERSION_SOURCE, 'var text: String { "0.0.9" }\n', 1),
    (check_licence, HEADERS + "dispatch/seed.h", "// Seeds.\n", 1),
    (check_licence, HEADERS + "dispatch/seed.h", "// " + LICENCE + "\n// Seeds.\n", 0),
    (check_licence, "Sources/CLinux/seed.h", "// Seeds.\n", 0),
    (check_licence, "REUSE.toml", 'path = "Sources/**"\n', 1),
    (check_contract, CONTRACT, "| Q1 | It is light. | `Queues/SeedTests`, `Queues/SyncTests` |", 1),
    (check_contract, "Tests/Seed.swift", "// Seeds: contract rows Q1 and Z9.\nimport Testing", 1),
    (check_contract, "Tests/Seed.swift", "// Seeds: contract row Q1.\nimport Testing", 0),
    (check_paths, "seed.md", "`Pool/Seed`, `scripts/dev seed`, `scripts/dev test --seed`, [a](Seed.md)", 4),
    (check_paths, "seed.md", "[a](README.md#seed), `Tests/Seed*`, `Sources/Seed/`", 3),
    (check_paths, "seed.md", "`Pool/Pool+Park`, `scripts/dev VERB`, [a](README.md#try-it), `a/b`, ``Pool/Seed``", 0),
    (check_paths, "seed.swift", "// `Pool/Seed`", 0),
    (check_paths, CORE + "/Pool/README.md", "| file | content |\n|---|---|\n| `Pool`, `+Seed` | `Seed` |", 1),
    (check_paths, CORE + "/Pool/README.md", "| file | content |\n|---|---|\n| `Pool`, `+Park` | `Seed` |", 0),
    (check_paths, "seed.md", "| file | functions |\n|---|---|\n| `Pool/Pool+Park` | `park`, `seed` |", 1),
    (check_files_of_room, CORE + "/QoS/README.md", "`DispatchQoS`, `DispatchWorkItemFlags`, `QoSPropagation`", 1),
    (check_files_of_room, CORE + "/QoS/README.md", "`DispatchQoS`, `LegacyPriority`, `+Seed`", 2),
    (check_files_of_room, "Docs/README.md", "", 0),
    (check_paths, "seed.md", "| file | functions |\n|---|---|\n| `Pool/Seed` | `park` |", 3),
    (check_paths, "CONTRIBUTING.md", "| `scripts/dev test` | tests |", len(contributing_rows()) - 1),
    (check_size, "core.4711", LARGEST_FILE_BYTES + 1, 1),
    (check_size, "Docs/images/seed.png", LARGEST_FILE_BYTES, 0),
]


def self_test():
    """Checks that each rule reports a text that breaks it, and no other text."""
    for check, path, text, expected in SEEDS:
        problems.clear()
        check(path, text)
        if len(problems) != expected:
            sys.exit(f"tidy: {text!r}: {len(problems)} problems, expected {expected}: {problems}")
    problems.clear()
    # A wrapped paragraph has the same words, no line too many columns, and is not wrapped again.
    for text in ("word " * 60, "- " + "word " * 60, "word\n" + "`a b` " * 60 + "- # 1. 2) word"):
        wrapped = reflow.reflow(text)
        if wrapped.split() != text.split() or reflow.reflow(wrapped) != wrapped or any(
                len(line) > WIDEST for line in wrapped.split("\n")):
            sys.exit(f"tidy: a paragraph is wrapped as {wrapped!r}")
    # The words are looked for in every kind of file of every folder.
    covered = set(prose_files())
    for path in PROSE_SAMPLES:
        if path not in covered:
            sys.exit(f"tidy: the rule about words does not reach {path}")


PROSE_SAMPLES = [
    "README.md", "CHANGELOG.md", "Docs/Verification.md",
    "Sources/GrandCentral/GrandCentral.docc/Tutorials/HashingFiles.tutorial", "Sources/GrandCentralCore/Pool/README.md",
    "Sources/CLinux/Threads.c", "Tests/Probes/FaultProbe/FaultProbe.swift", "Tests/CConformance/Check.c",
    "Tests/ParityTests/Lists/missing.tsv", "Tests/Support/Sources/CFaults/include/CFaults.h",
    "Verification/Models/main.swift", "Comparison/Package.swift", "Examples/Package.swift",
    "Benchmarks/Package.swift", "KnownIssues/HangUp.c", "scripts/dev", "scripts/verbs/tidy.sh", ".ci/run",
]


def prose_files():
    """Every text of the project, but for this file, which lists the words."""
    found = files(
        *ROOTS, "Docs", "scripts", ".ci", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md",
        suffixes=(".swift", ".c", ".h", ".cpp", ".md", ".tutorial", ".tsv", ".sh", ".py", "run", "dev"))
    return [path for path in found if path != "scripts/lib/tidy.py"]


def tracked_files():
    """Every file under version control; none in a copy of the sources without the repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=False)
    return [path for path in listed.stdout.split("\0") if path]


def main():
    self_test()
    for path in files(*ROOTS):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        code = without_comments_and_strings(text)
        check_lengths(path, code)
        # The steps of the tutorial are programs of users.
        if ".docc/" not in path:
            check_imports(path, code)
        check_words(path, text)
        check_version(path, text)
        check_contract(path, text)
        if path.startswith((CORE, "Sources/Primitives")):
            check_room(path, text)
    others = files(
        "scripts", ".ci", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md",
        suffixes=(".sh", ".md", "run", "dev"))
    for path in others:
        with open(path, encoding="utf-8") as file:
            check_words(path, file.read())
    for path in files("REUSE.toml", HEADERS, suffixes=(".h",)):
        with open(path, encoding="utf-8") as file:
            check_licence(path, file.read())
    for path in prose_files():
        with open(path, encoding="utf-8") as file:
            text = file.read()
        check_prose(path, text)
        check_paths(path, text)
        check_files_of_room(path, text)
        if path == CONTRACT:
            check_contract(path, text)
        if not path.endswith(".tsv"):
            check_columns(path, text)
    for path in tracked_files():
        if os.path.exists(path):
            check_size(path, os.path.getsize(path))
    print("\n".join(problems), file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
