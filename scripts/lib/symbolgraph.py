"""The symbol graph of the module GrandCentral, as its users see it.

The compiler describes each module by itself. The module that users import re-exports the types of
the engine's core, and a graph does not list what its module re-exports. So the graphs of both
modules are joined under one name, and what users cannot name is left out.
"""
import collections
import json
import os
import platform
import subprocess
import tempfile

MODULE = "GrandCentral"
MODULES = ("GrandCentralCore", MODULE)


def extract(build, folder):
    """Writes the graphs of MODULES, built in the folder `build`, into `folder`; returns them."""
    maps = sorted(
        os.path.join(build, name, "module.modulemap") for name in os.listdir(build)
        if os.path.exists(os.path.join(build, name, "module.modulemap")))
    machine = {"arm64": "aarch64"}.get(platform.machine(), platform.machine())
    for module in MODULES:
        subprocess.run(
            ["swift-symbolgraph-extract", "-module-name", module,
             "-target", f"{machine}-unknown-linux-gnu", "-minimum-access-level", "public",
             "-skip-inherited-docs", "-output-dir", folder, "-I", os.path.join(build, "Modules"),
             "-I", "Sources/CLinux/include"]
            + [word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")],
            check=True)
    graphs = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            graphs.append((name, json.load(file)))
    return graphs


def is_hidden(symbol):
    """Whether the name begins with an underscore, or that of a declaration around it does."""
    return any(part.startswith("_") for part in symbol["pathComponents"])


def place(symbol):
    """The file and line of a declaration, for messages."""
    location = symbol.get("location")
    if not location:
        return "no file"
    uri = location["uri"]
    return f"{uri[uri.index('/Sources/') + 1:] if '/Sources/' in uri else uri}:{location['position']['line'] + 1}"


def joined(graphs):
    """One graph of all symbols that users can name, in place of the graphs of the modules."""
    symbols, hidden, links = {}, set(), []
    for _, graph in graphs:
        for symbol in graph["symbols"]:
            precise = symbol["identifier"]["precise"]
            if is_hidden(symbol):
                hidden.add(precise)
            else:
                symbols[precise] = symbol
        links += graph["relationships"]
    above = collections.defaultdict(set)
    for link in links:
        if link["kind"] in ("inheritsFrom", "conformsTo"):
            above[link["source"]].add((link["kind"], link["target"], link.get("targetFallback")))
    kept = {}
    for link in links:
        if link["source"] in hidden:
            continue
        for target, fallback in _visible(link, hidden, above):
            new = dict(link, target=target)
            if fallback:
                new["targetFallback"] = fallback
            kept[(new["kind"], new["source"], target)] = new
    first = graphs[0][1]
    return {
        "metadata": dict(first["metadata"], generator="GrandCentral"),
        "module": dict(first["module"], name=MODULE),
        "symbols": [_renamed(symbol) for symbol in symbols.values()],
        "relationships": list(kept.values()),
    }


def _visible(link, hidden, above):
    """The target of a link, or, if it is hidden, what the target itself derives from."""
    if link["target"] not in hidden:
        return [(link["target"], link.get("targetFallback"))]
    if link["kind"] not in ("inheritsFrom", "conformsTo"):
        return []
    found = []
    for kind, target, fallback in above[link["target"]]:
        if kind == link["kind"]:
            found += _visible({"kind": kind, "target": target, "targetFallback": fallback}, hidden, above)
    return found


def _renamed(symbol):
    """The symbol with the name of the module that users import, wherever it states its module."""
    text = json.dumps(symbol).replace('"GrandCentralCore"', f'"{MODULE}"')
    return json.loads(text)


def make(build, path):
    """Writes the joined graph of a build to `path`, and returns it."""
    with tempfile.TemporaryDirectory() as folder:
        graph = joined(extract(build, folder))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(graph, file)
    return graph
