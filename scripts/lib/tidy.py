"""Checks the house rules that the compiler and the formatter do not check. See CONTRIBUTING.md.

Prints one line for each breach: path:line: the breach and its remedy.
"""
import os
import re
import sys

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
CORE = "Sources/GrandCentralCore"
ROOTS = ["Package.swift", "Sources", "Tests", "Verification", "Comparison", "Benchmarks", "Examples"]

# The modules that each module's files may import. Modules that are not listed are free.
IMPORTS = {
    "Sources/Primitives": {"CGrandCentralLinux", "Glibc", "Musl", "Synchronization"},
    # Only Platform/Imports.swift imports Primitives: the models compile the other files without it.
    CORE: {"CGrandCentralLinux"},
    "Verification/Sources/ModelChecker": {"CFibers", "Synchronization"},
    # _Concurrency by name: for its SPI, with the trait ExecutorFactory.
    "Sources/GrandCentral/": {"GrandCentralCore", "Glibc", "Musl", "_Concurrency"},
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


def check_words(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line):
            report(path, number, "is unfinished: do it, or open an issue and remove the mark")
        if re.search(r"(?<![\w.])/(?:home|Users|root|work)/\w", line):
            report(path, number, "names a folder of one machine")
        if line.rstrip("\r") != line.rstrip():
            report(path, number, "ends in white space")


# Words that no file uses (CONTRIBUTING.md), in comments, messages, names of tests or identifiers: each
# stands for a thread, an object or a caller that has a name, or is a private term for a term of the field.
BANNED = re.compile(
    r"\b(who|whom|whoever|nobody|somebody|anybody|everybody|told|in vain|let be|(?:go|goes|going|went) on"
    r"|vigils?|doorbell|bell|summons|workplaces?|keepers?)\b", re.I)
WIDEST_COMMENT = 100


def words(line):
    """The line with its identifiers as words: `isToldOf` is "is Told Of". The names of the system's
    headers that begin with two underscores are left out."""
    line = re.sub(r"\b__\w+", " ", line)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", line).replace("_", " ")


def comments(text):
    """The line number and text of each line comment, alone or after code."""
    for number, line in enumerate(text.split("\n"), 1):
        bare = re.sub(r'"(?:\\.|[^"\\])*"', lambda m: " " * len(m.group()), line)
        if "//" in bare:
            yield number, line[bare.index("//"):], line


def check_comments(path, text):
    for number, comment, line in comments(text):
        if len(line) > WIDEST_COMMENT and line.lstrip().startswith("//"):
            report(path, number, f"is a comment beyond column {WIDEST_COMMENT}")


def check_prose(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        for word in BANNED.findall(words(line)):
            report(path, number, f"says \"{word}\": name the thread, the object or the caller")


def self_test():
    """Checks that each rule about prose reports a text that breaks it, and no other text."""
    seeds = [
        (check_comments, "// " + "x" * 98, 1), (check_comments, "// " + "x" * 97, 0),
        (check_comments, "let a = 1  // " + "x" * 98, 0),
        (check_prose, "// The thread that waits is notified.", 0),
        (check_prose, "// Who waits is notified.", 1),
        (check_prose, "/// It comes in vain and is told.", 2),
        (check_prose, "let a = 1  // nobody reads it", 1),
        (check_prose, 'check(ran.wait(), "the parent goes on")', 1),
        (check_prose, "@Test func `is kept by a vigil`() {", 1),
        (check_prose, "let isToldOf = parentGoesOn()", 2),
        (check_prose, "int faults_become_nobody(void);", 1),
        (check_prose, "getrusage(__rusage_who_t(0), &usage)", 0),
        (check_prose, "let whole = stolden + bellows", 0),
        (check_prose, "Anybody may call it.", 1), (check_prose, "Any thread may call it.", 0),
    ]
    for check, text, expected in seeds:
        problems.clear()
        check("seed.swift", text)
        if len(problems) != expected:
            sys.exit(f"tidy: {text!r}: {len(problems)} problems, expected {expected}: {problems}")
    problems.clear()
    # The words are looked for in every kind of file of every folder.
    covered = set(prose_files())
    for path in PROSE_SAMPLES:
        if path not in covered:
            sys.exit(f"tidy: the rule about words does not reach {path}")


PROSE_SAMPLES = [
    "README.md", "CHANGELOG.md", "Docs/Verification.md", "Sources/GrandCentralCore/Pool/README.md",
    "Sources/CLinux/CLinux.c", "Tests/Probes/FaultProbe/FaultProbe.swift", "Tests/CConformance/Check.c",
    "Tests/ParityTests/Lists/missing.tsv", "Tests/Support/Sources/CFaults/include/CFaults.h",
    "Verification/Models/main.swift", "Comparison/Package.swift", "Examples/Package.swift",
    "Benchmarks/Package.swift", "scripts/dev", "scripts/verbs/tidy.sh", ".ci/run",
]


def prose_files():
    """Every text of the project, but for this file, which lists the words."""
    found = files(
        *ROOTS, "Docs", "scripts", ".ci", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md",
        suffixes=(".swift", ".c", ".h", ".cpp", ".md", ".tsv", ".sh", ".py", "run", "dev"))
    return [path for path in found if path != "scripts/lib/tidy.py"]


def main():
    self_test()
    for path in files(*ROOTS):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        code = without_comments_and_strings(text)
        check_lengths(path, code)
        check_imports(path, code)
        check_words(path, text)
        if not path.startswith("Benchmarks"):
            check_comments(path, text)
        if path.startswith((CORE, "Sources/Primitives")):
            check_room(path, text)
    others = files(
        "scripts", ".ci", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md",
        suffixes=(".sh", ".md", "run", "dev"))
    for path in others:
        with open(path, encoding="utf-8") as file:
            check_words(path, file.read())
    for path in prose_files():
        with open(path, encoding="utf-8") as file:
            check_prose(path, file.read())
    print("\n".join(problems), file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
