#!/usr/bin/env python3
"""Checks everything that a release needs, and creates its tag.

    scripts/dev release [--tag] [--skip-ci]

Without --tag it only checks. The working tree must be clean and on main; VERSION must be a
semantic version without a tag; CHANGELOG.md must have a section for it, of the last commit's day or
later, and nothing under Unreleased; a package must be able to depend on the version; the interface
must be its baseline; reuse lint, .ci/run and scripts/dev package-test must pass.
With --tag it then makes the annotated tag, named as the version, with that section as its text.
Pushing the tag is left to the maintainer. --skip-ci leaves out the two long checks.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

import install_tree
from libraries import ROOT, command_output


def git(*words):
    return command_output("git", "-C", ROOT, *words).strip()


def section(version):
    """The text of a version's section in CHANGELOG.md, and its date. Empty if there is none."""
    with open(os.path.join(ROOT, "CHANGELOG.md"), encoding="utf-8") as file:
        text = file.read()
    match = re.search(rf"^## {re.escape(version)} - (\d{{4}}-\d\d-\d\d)\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    unreleased = re.search(r"^## Unreleased\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    waits = bool(unreleased and unreleased.group(1).strip())
    return (match.group(2).strip(), match.group(1), waits) if match else ("", "", waits)


def problems():
    version = install_tree.version()
    found = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        found.append(f"VERSION contains '{version}': a semantic version such as 0.1.0 is needed")
    if git("status", "--porcelain"):
        found.append("the working tree has changes: commit them")
    if git("rev-parse", "--abbrev-ref", "HEAD") != "main":
        found.append("releases are made on main")
    if version in git("tag", "--list").split():
        found.append(f"the tag {version} exists: raise VERSION")
    text, day, waits = section(version)
    last = git("log", "-1", "--format=%cd", "--date=short")
    if not text:
        found.append(f"CHANGELOG.md has no section '## {version} - YYYY-MM-DD' with text")
    elif day < last:
        found.append(f"CHANGELOG.md dates {version} {day}, and the last commit is of {last}")
    if waits:
        found.append(f"CHANGELOG.md lists changes under Unreleased: move them to {version}")
    return found


MANIFEST = """\
// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "dependant",
  dependencies: [.package(url: "file://%s", .upToNextMinor(from: "%s"))],
  targets: [
    .executableTarget(
      name: "dependant", dependencies: [.product(name: "GrandCentral", package: "grandcentral")])
  ])
"""


def resolve(version):
    """Whether SwiftPM takes the version, tagged in a clone, for a package that depends on it by number."""
    with tempfile.TemporaryDirectory() as folder:
        clone, dependant = f"{folder}/grandcentral", f"{folder}/dependant"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        subprocess.run(["git", "-C", clone, "tag", "--force", version], check=True)
        os.makedirs(f"{dependant}/Sources/dependant")
        with open(f"{dependant}/Package.swift", "w", encoding="utf-8") as file:
            file.write(MANIFEST % (clone, version))
        with open(f"{dependant}/Sources/dependant/main.swift", "w", encoding="utf-8") as file:
            file.write("import GrandCentral\n")
        command = ["swift", "package", "--package-path", dependant, "resolve"]
        return subprocess.run(command).returncode == 0


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/dev release", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", action="store_true")
    parser.add_argument("--skip-ci", action="store_true")
    arguments = parser.parse_args()
    found = problems()
    for problem in found:
        print(f"release: {problem}", file=sys.stderr)
    if found:
        sys.exit(1)
    if not resolve(install_tree.version()):
        sys.exit("release: a package cannot depend on this version")
    commands = [[".build-reuse/bin/reuse", "lint", "--lines"]]
    if arguments.skip_ci:
        commands += [["scripts/dev", "test", "ParityTests"]]
    else:
        commands += [[".ci/run"], ["scripts/dev", "package-test", "--reproducible"]]
    # Before the checks, which take an hour.
    tools = [] if arguments.skip_ci else ["lintian", "mmdebstrap", "dpkg-shlibdeps"]
    for tool in [os.path.join(ROOT, commands[0][0]), *tools]:
        if shutil.which(tool) is None:
            sys.exit(f"release: there is no {os.path.basename(tool)}: scripts/dev setup --packages")
    for command in commands:
        if subprocess.run(command, cwd=ROOT).returncode != 0:
            sys.exit(f"release: {' '.join(command)} failed")
    version = install_tree.version()
    if arguments.tag:
        text = f"Grand Central {version}\n\n{section(version)[0]}\n"
        # The changelog's headings start as git's comments do.
        subprocess.run(
            ["git", "tag", "--annotate", "--cleanup=verbatim", "--file=-", version], cwd=ROOT,
            input=text, text=True, check=True)
        print(f"release: tagged {version}; push it with: git push origin {version}")
    else:
        print(f"release: {version} is ready; --tag makes its tag")


main()
