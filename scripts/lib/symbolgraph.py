"""The symbol graph of the module GrandCentral, as its users see it.

The compiler describes each module by itself. The module that users import re-exports the types of
the engine's core, and a graph does not list what its module re-exports. So the graphs of both
modules are joined under one name, and what users cannot name is left out.
"""
import collections
import json
import os
import platform
import re
import subprocess
import tempfile

MODULE = "GrandCentral"
MODULES = ("GrandCentralCore", MODULE)
# What is between these classes is hidden from users, and from the graph.
INHERITED = [("DispatchQueue", "DispatchObject"), ("DispatchSource", "DispatchObject")]
# Stands between the identifiers of a member and of the type that gets it from a protocol.
SYNTHESIZED = "::SYNTHESIZED::"


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


def exported():
    """The names that the module re-exports, as its file states them."""
    with open(f"Sources/{MODULE}/{MODULE}.swift", encoding="utf-8") as file:
        return set(re.findall(r"^@_exported import \w+ GrandCentralCore\.(\w+)$", file.read(), re.M))


def is_ours(symbol):
    """Whether the declaration stands in this package. Others are those of the standard library's
    protocols, which our types get."""
    return "/Sources/" in (symbol.get("location") or {}).get("uri", "")


def place(symbol):
    """The file and line of a declaration, for messages."""
    location = symbol.get("location")
    if not location:
        return "no file"
    uri = location["uri"]
    return f"{uri[uri.index('/Sources/') + 1:] if '/Sources/' in uri else uri}:{location['position']['line'] + 1}"


def joined(graphs):
    """One graph of all symbols that users can name, in place of the graphs of the modules."""
    symbols, links = {}, []
    for _, graph in graphs:
        symbols.update((symbol["identifier"]["precise"], symbol) for symbol in graph["symbols"])
        links += graph["relationships"]
    # Initialisers that exist so that the compiler refuses a call: Queues/DispatchQueue+Make.
    refused = {precise for precise in symbols if "_NamedQueue" in precise}
    for precise in refused:
        del symbols[precise]
    links = _adopt(symbols, [
        link for link in links if refused.isdisjoint({link["source"], link["target"]})])
    for child, parent in INHERITED:
        links.append({
            "kind": "inheritsFrom", "source": _class(symbols, child), "target": _class(symbols, parent)})
    first = graphs[0][1]
    return {
        "metadata": first["metadata"],
        "module": dict(first["module"], name=MODULE),
        "symbols": [_renamed(symbol) for symbol in symbols.values()],
        "relationships": links,
    }


def _class(symbols, name):
    """The precise identifier of a class."""
    return next(
        precise for precise, symbol in symbols.items()
        if symbol["pathComponents"] == [name] and symbol["kind"]["identifier"] == "swift.class")


def _adopt(symbols, links):
    """Moves members that extend foreign or hidden types to the types of ours that get them.

    `Clock.dispatchUptime` extends a protocol of the standard library, and `DispatchQueue`'s
    initialiser a protocol that users do not see. The graph has a copy of each such member in the type
    that gets it: the copy takes the member's place. Returns the links.
    """
    foreign = {
        link["source"] for link in links
        if link["kind"] == "memberOf" and link["target"] not in symbols and SYNTHESIZED not in link["source"]}
    kept_copies = {precise.split(SYNTHESIZED)[0] for precise in symbols if SYNTHESIZED in precise}
    for precise in foreign:
        if precise not in kept_copies:
            raise ValueError(f"{place(symbols[precise])}: extends a foreign type, and no type of ours gets it")
        del symbols[precise]
    copies = collections.defaultdict(list)
    for precise in symbols:
        original = precise.split(SYNTHESIZED)[0]
        if original not in symbols and any(f"{len(name)}{name}" in original for name in MODULES):
            copies[original].append(precise)
    names = {found[0]: original for original, found in copies.items() if len(found) == 1}
    for precise, original in names.items():
        symbol = symbols.pop(precise)
        symbol["identifier"]["precise"] = original
        symbols[original] = symbol
    kept = []
    for link in links:
        if link["source"] in names:
            kept.append({"kind": link["kind"], "source": names[link["source"]], "target": link["target"]})
        elif link["source"] not in foreign:
            kept.append(link)
    return kept


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
