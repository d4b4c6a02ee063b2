"""Finds what a page of Markdown names and the repository does not have: files, verbs, options, headings."""
import functools
import glob
import os
import re

CORE = "Sources/GrandCentralCore"
# Where a path of a page may begin, besides the page's own folder.
BEGINNINGS = ("", f"{CORE}/", "Sources/", "Tests/", "Tests/GrandCentralTests/", "Tests/Probes/",
              "Verification/", "Verification/Models/", "Verification/Sources/", "Comparison/",
              "Comparison/Sources/", "Comparison/Tests/", "Examples/Sources/")
# What is in a reader's own package.
READERS = {"Sources/squares/main.swift"}
ENDS = ("", ".swift", ".c", ".h", ".md", ".sh", ".py")
LINK = re.compile(r"\]\(([^()\s]+)\)")
# Not between two backquotes, where DocC has symbols.
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
VERB = re.compile(r"scripts/dev (?!--)([\w-]+)((?: [^\s`#;|&)]+)*)")
PATH = re.compile(r"[\w.+-]+(?:/[\w.+*-]+)+/?")


@functools.cache
def names():
    """The first parts of paths: the folders in which a path may begin."""
    found = set()
    for beginning in BEGINNINGS:
        found.update(entry for entry in os.listdir(beginning or ".")
                     if os.path.isdir(beginning + entry) and not entry.startswith(".build"))
    return found


@functools.cache
def headings(path):
    """The anchors of a page, as the usual forges make them."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```$", "", file.read(), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@functools.cache
def verb_text(verb):
    """The program of a verb, or nothing."""
    for path in glob.glob(f"scripts/verbs/{verb}.*"):
        with open(path, encoding="utf-8") as file:
            return file.read()
    return None


@functools.cache
def exists(path, folder):
    path = path.rstrip("/")
    find = glob.glob if "*" in path else os.path.exists
    places = [os.path.join(folder, path)] + [beginning + path for beginning in BEGINNINGS]
    return any(find(place + end) for place in places for end in ENDS)


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def listed(cell):
    """The files that a cell of a table names: `A`, `A+B`, and `+C` for `A+C`."""
    before = ""
    for name in SPAN.findall(cell):
        yield before + name if name.startswith("+") else name
        before = before if name.startswith("+") else name.split("+")[0]


def missing_in_tables(text, folder):
    """Of tables with a column `file`: names that are no file, and functions that are in none of its
    row's files. Returns pairs as missing() does."""
    head = None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith("|"):
            head = None
            continue
        row = cells(line)
        if head is None:
            head = row
        if "file" not in head or row == head or len(row) != len(head):
            continue
        names = list(listed(row[head.index("file")]))
        for name in names:
            if not exists(name, folder):
                yield number, f"names the file {name}"
        for function in SPAN.findall(row[head.index("functions")]) if "functions" in head else []:
            if not any(declares(source(name, folder), function) for name in names):
                yield number, f"names the function {function}"


def source(name, folder):
    for place in [os.path.join(folder, name)] + [beginning + name for beginning in BEGINNINGS]:
        if os.path.isfile(place + ".swift"):
            with open(place + ".swift", encoding="utf-8") as file:
                return file.read()
    return ""


def declares(text, name):
    return re.search(rf"\b(?:func|var|let) {name}\b", text) is not None


def missing(page, text):
    """Returns pairs of a line's number and what it names."""
    folder = os.path.dirname(page)
    yield from missing_in_tables(text, folder)
    for number, line in enumerate(text.split("\n"), 1):
        for target in LINK.findall(line):
            if re.match(r"\w+:", target):
                continue
            file, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(folder, file)) if file else page
            if not os.path.exists(path):
                yield number, f"links to {target}"
            elif anchor and anchor not in headings(path):
                yield number, f"links to the heading {target}"
        for verb, rest in VERB.findall(line):
            program = verb_text(verb)
            if program is None and verb.upper() != verb:
                yield number, f"names the verb {verb}"
            for option in re.findall(r"--[a-z-]+", rest):
                if program is not None and option not in program and option != "--help":
                    yield number, f"names the option {option} of {verb}"
        for span in SPAN.findall(line):
            if span in READERS or not PATH.fullmatch(span) or span.split("/")[0] not in names():
                continue
            if not exists(span, folder):
                yield number, f"names {span}"
