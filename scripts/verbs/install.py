#!/usr/bin/env python3
"""Installs the drop-in library, its runner, the C headers and the command.

    scripts/dev install [--prefix PREFIX] [--destdir FOLDER] [COMPONENT…]
    scripts/dev install --uninstall [--prefix PREFIX]

COMPONENT is `libdispatch`, `dev` or `command`; by default all three. PREFIX is /usr/local by
default. Below it, bin/with-grandcentral starts a program on the installed library, and
bin/grandcentral shows what hangs in it. The list of installed files is kept in
PREFIX/share/grandcentral/installed, from which --uninstall removes them. With --destdir, the files
go below FOLDER but are made for PREFIX. Needs patchelf and strip (scripts/dev setup --install).
"""
import argparse
import os
import shutil
import sys

import install_tree

RECORD = "share/grandcentral/installed"


def record_path(arguments):
    return os.path.join(arguments.destdir, arguments.prefix.lstrip("/"), RECORD)


def uninstall(arguments):
    """Removes what the record lists, and folders that are empty afterwards."""
    record = record_path(arguments)
    if not os.path.exists(record):
        sys.exit(f"install: {record} is missing: nothing is installed below {arguments.prefix}")
    with open(record, encoding="utf-8") as file:
        names = file.read().splitlines()
    root = os.path.dirname(os.path.dirname(os.path.dirname(record)))
    for name in names + [RECORD]:
        path = os.path.join(root, name)
        if os.path.lexists(path):
            os.remove(path)
        folder = os.path.dirname(path)
        while folder != root and not os.listdir(folder):
            os.rmdir(folder)
            folder = os.path.dirname(folder)
    print(f"install: removed {len(names)} files below {arguments.prefix}")


def install(arguments):
    components = arguments.components or install_tree.COMPONENTS
    for tool in ("patchelf", "strip"):
        if shutil.which(tool) is None:
            sys.exit(f"install: there is no {tool}: scripts/dev setup --install")
    install_tree.build(components)
    tree = install_tree.Tree(arguments.destdir, arguments.prefix)
    for component in components:
        tree.add(component)
    root = os.path.join(arguments.destdir, arguments.prefix.lstrip("/"))
    names = {os.path.relpath(path, root) for path in tree.files}
    record = record_path(arguments)
    if os.path.exists(record):
        with open(record, encoding="utf-8") as file:
            names.update(file.read().splitlines())
    tree.write(RECORD, "".join(name + "\n" for name in sorted(names)))
    print(f"install: {len(tree.files) - 1} files below {arguments.prefix}")


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
