#!/usr/bin/env python3
"""Installs the drop-in library, its runner, the C headers and the command.

    scripts/dev install [--prefix PREFIX] [--destdir FOLDER] [COMPONENT…]
    scripts/dev install --uninstall [--prefix PREFIX]

COMPONENT is `libdispatch`, the drop-in library; `dev`, its C headers, pkg-config and CMake files;
or `command`, the command grandcentral. By default all three. PREFIX is /usr/local by default. The
list of installed files is kept in PREFIX/share/grandcentral/installed, from which --uninstall
removes them. With --destdir, the files go below FOLDER but are made for PREFIX. Needs Swift,
binutils and Python.
"""
import argparse
import os
import shutil
import sys
import tempfile

import install_tree
from install_tree import say

RECORD = "share/grandcentral/installed"


def root_folder(arguments):
    return os.path.join(arguments.destdir, arguments.prefix.lstrip("/"))


def record_path(arguments):
    return os.path.join(root_folder(arguments), RECORD)


def uninstall(arguments):
    """Removes what the record lists, and folders that are empty afterwards."""
    record = record_path(arguments)
    if not os.path.exists(record):
        sys.exit(f"install: {record} is missing: nothing is installed below {arguments.prefix}")
    with open(record, encoding="utf-8") as file:
        names = file.read().splitlines()
    root = root_folder(arguments)
    for name in names + [RECORD]:
        path = os.path.join(root, name)
        if os.path.lexists(path):
            os.remove(path)
        folder = os.path.dirname(path)
        while folder != root and not os.listdir(folder):
            os.rmdir(folder)
            folder = os.path.dirname(folder)
    say(f"removed {len(names) + 1} files below {arguments.prefix}")


def check(arguments):
    """Fails before the builds if what follows them cannot succeed."""
    for tool in ("swift", "strip"):
        if shutil.which(tool) is None:
            sys.exit(f"install: there is no {tool}; scripts/dev setup looks for what is missing")
    root = root_folder(arguments)
    try:
        os.makedirs(root, exist_ok=True)
        tempfile.TemporaryFile(dir=root).close()
    except OSError as error:
        sys.exit(f"install: cannot write below {root}: {error.strerror}; name a folder with --prefix, "
                 "such as --prefix ~/.local")


def install(arguments):
    components = arguments.components or install_tree.COMPONENTS
    check(arguments)
    install_tree.build(components)
    tree = install_tree.Tree(arguments.destdir, arguments.prefix)
    for component in components:
        tree.add(component)
    root = root_folder(arguments)
    names = {os.path.relpath(path, root) for path in tree.files}
    record = record_path(arguments)
    if os.path.exists(record):
        with open(record, encoding="utf-8") as file:
            names.update(file.read().splitlines())
    tree.write(RECORD, "".join(name + "\n" for name in sorted(names)))
    say(f"{len(tree.files)} files below {arguments.prefix}; --uninstall removes them")
    if arguments.destdir == "/":
        print("\n".join(usage(arguments.prefix, components)))


def usage(prefix, components):
    """What to type now: the settings that this shell lacks, and the installed programs."""
    programs = os.path.join(prefix, "bin")
    if components != ["dev"] and programs not in os.environ.get("PATH", "").split(":"):
        yield f"  export PATH={programs}:$PATH"
    if "dev" in components:
        if prefix not in ("/usr", "/usr/local"):
            yield f"  export PKG_CONFIG_PATH={prefix}/lib/pkgconfig"
        yield "  cc FILE.c $(pkg-config --cflags --libs grandcentral)"
    if "libdispatch" in components:
        yield "  with-grandcentral PROGRAM"
    if "command" in components:
        yield "  grandcentral --help"


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/dev install", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", default="/usr/local", help="an absolute path")
    parser.add_argument("--destdir", default="/", metavar="FOLDER")
    parser.add_argument("--uninstall", action="store_true")
    parser.add_argument("components", nargs="*", metavar="COMPONENT")
    arguments = parser.parse_args()
    if not os.path.isabs(arguments.prefix):
        parser.error(f"--prefix must be an absolute path, not '{arguments.prefix}'")
    for component in arguments.components:
        if component not in install_tree.COMPONENTS:
            parser.error(f"there is no component '{component}': {', '.join(install_tree.COMPONENTS)}")
    arguments.destdir = os.path.abspath(arguments.destdir)
    uninstall(arguments) if arguments.uninstall else install(arguments)


main()
