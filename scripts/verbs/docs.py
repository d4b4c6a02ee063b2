"""Makes the documentation site: a page for every public symbol, articles, and a tutorial.

    scripts/dev docs [--output DIR] [--base-path PATH] [--serve PORT]

The catalogue is Sources/GrandCentral/GrandCentral.docc. The toolchain's docc makes static pages of it
and of the symbol graph, for any web server; a warning is an error. The verb then checks that each
public symbol has a page with its summary, that a topic of the catalogue leads to it, and that no
page shows a name that users cannot name.
"""
import argparse
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile

import modulebuild
import symbolgraph

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CATALOGUE = "Sources/GrandCentral/GrandCentral.docc"


def convert(graphs, output, base_path):
    command = ["docc", "convert", CATALOGUE, "--additional-symbol-graph-dir", graphs,
               "--fallback-display-name", symbolgraph.MODULE,
               "--fallback-bundle-identifier", "grandcentral.GrandCentral",
               "--transform-for-static-hosting", "--warnings-as-errors", "--output-dir", output]
    if base_path:
        command += ["--hosting-base-path", base_path]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit("docs: docc reports the above; mend the article or the comment that it names")


def pages(output):
    """The pages of symbols: from the symbol's precise identifier to the page."""
    found = {}
    for folder, _, names in os.walk(os.path.join(output, "data", "documentation")):
        for name in names:
            if name.endswith(".json"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    page = json.load(file)
                precise = page.get("metadata", {}).get("externalID")
                if precise:
                    found[precise] = page
    return found


def problems(graph, found, loose):
    """What the site lacks, one line for each symbol; `loose` are the pages without a topic."""
    lines = []
    for symbol in graph["symbols"]:
        name, page = ".".join(symbol["pathComponents"]), found.get(symbol["identifier"]["precise"])
        written = "/Sources/" in (symbol.get("location") or {}).get("uri", "")
        if page is None:
            lines.append(f"{symbolgraph.place(symbol)}: {name} has no page")
        elif written and not page.get("abstract"):
            lines.append(f"{symbolgraph.place(symbol)}: the page of {name} has no summary")
    for page in found.values():
        for reference in page.get("references", {}).values():
            title = reference.get("title", "")
            if title.startswith("_") and reference.get("kind") == "symbol":
                lines.append(f"{page['metadata']['title']} shows {title}, which users cannot name")
    lines += [f"{CATALOGUE}: no topic of the landing page leads to {title}" for title in loose]
    return lines


def without_topic(output):
    """The titles of the pages that no topic of the landing page names: docc sorts them by kind. Left
    out are the operators, because docc reads no link that begins with a minus sign."""
    with open(os.path.join(output, "data", "documentation", "grandcentral.json"), encoding="utf-8") as file:
        page = json.load(file)
    return [
        page["references"][link]["title"] for section in page.get("topicSections", [])
        if section.get("generated") and section["title"] != "Operators" for link in section["identifiers"]]


def serve(output, port):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=output)
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/documentation/grandcentral")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/dev docs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default=".build-docs/site", metavar="DIR", help="default: %(default)s")
    parser.add_argument("--base-path", metavar="PATH", help="the path below which the site is published")
    parser.add_argument("--serve", type=int, metavar="PORT", help="serve the site on the loopback interface")
    options = parser.parse_args()
    output = os.path.abspath(options.output)
    os.chdir(ROOT)
    if os.path.exists(output) and not os.path.exists(os.path.join(output, "metadata.json")):
        if os.listdir(output):
            sys.exit(f"docs: {options.output} holds something other than a site; name a new or empty folder")
    folder = modulebuild.build()
    with tempfile.TemporaryDirectory() as graphs:
        graph = symbolgraph.make(folder, os.path.join(graphs, f"{symbolgraph.MODULE}.symbols.json"))
        shutil.rmtree(output, ignore_errors=True)
        os.makedirs(os.path.dirname(output), exist_ok=True)
        convert(graphs, output, options.base_path)
    found = pages(output)
    lines = problems(graph, found, without_topic(output))
    if lines:
        print("\n".join(sorted(set(lines))), file=sys.stderr)
        sys.exit(f"docs: {len(set(lines))} problems")
    print(f"docs: {len(graph['symbols'])} symbols, each with a page and its summary, in {options.output}")
    if options.serve is not None:
        serve(output, options.serve)


main()
