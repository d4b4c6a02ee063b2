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


def lead_to_landing_page(output):
    """Makes the site's address lead to the landing page, where docc's own page finds nothing."""
    target = "documentation/grandcentral/"
    with open(os.path.join(output, "index.html"), "w", encoding="utf-8") as file:
        file.write(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{symbolgraph.MODULE}</title>'
            f'<meta http-equiv="refresh" content="0; url={target}"><a href="{target}">Documentation</a></html>\n')


class Site:
    """The pages of a converted catalogue, as docc's renderer reads them."""

    def __init__(self, output):
        self.pages = {}
        for folder, _, names in os.walk(os.path.join(output, "data")):
            for name in names:
                if name.endswith(".json"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        page = json.load(file)
                    if "identifier" in page:
                        self.pages[page["identifier"]["url"]] = page
        self.landing = next(url for url in self.pages if url.endswith(f"/documentation/{symbolgraph.MODULE}"))
        self.symbols = {
            page["metadata"]["externalID"]: page for page in self.pages.values()
            if "externalID" in page.get("metadata", {})}

    def reached(self):
        """The addresses of the pages to which topics lead from the landing page. The page of a
        requirement leads to its default implementations."""
        found, rest = set(), [self.landing]
        while rest:
            url = rest.pop()
            if url in self.pages and url not in found:
                found.add(url)
                for kind in ("topicSections", "defaultImplementationsSections"):
                    for section in self.pages[url].get(kind, []):
                        rest += section["identifiers"]
        return found

    def without_topic(self):
        """The titles of the pages that no topic of the landing page names: docc sorts them by kind. Left
        out are the operators, because docc reads no link that begins with a minus sign."""
        page = self.pages[self.landing]
        return [
            page["references"][link]["title"] for section in page["topicSections"]
            if section.get("generated") and section["title"] != "Operators"
            for link in section["identifiers"]]


def problems(graph, site):
    """What the site lacks, a line each."""
    lines = [f"{CATALOGUE}: no topic of the landing page names {title}" for title in site.without_topic()]
    reached = site.reached()
    found = {symbol["pathComponents"][0].split("(")[0] for symbol in graph["symbols"]}
    lines += [f"the symbol graph lacks {name}, which {symbolgraph.MODULE} exports"
              for name in symbolgraph.exported() - found]
    for symbol in graph["symbols"]:
        name = ".".join(symbol["pathComponents"])
        page = site.symbols.get(symbol["identifier"]["precise"])
        if page is None:
            lines.append(f"{symbolgraph.place(symbol)}: {name} has no page")
            continue
        if symbolgraph.is_ours(symbol) and not page.get("abstract"):
            lines.append(f"{symbolgraph.place(symbol)}: the page of {name} has no summary")
        if page["identifier"]["url"] not in reached:
            lines.append(f"{symbolgraph.place(symbol)}: no topic leads to the page of {name}")
    for page in site.symbols.values():
        for reference in page.get("references", {}).values():
            if reference.get("kind") == "symbol" and reference.get("title", "").startswith("_"):
                lines.append(f"{page['metadata']['title']} shows {reference['title']}, which users cannot name")
    return sorted(set(lines))


def check_the_check(graph, site):
    """Damages the site in memory, in one way at a time: the check must report each."""
    symbol = next(s for s in graph["symbols"] if s["pathComponents"] == ["DispatchQueue", "label"])
    precise = symbol["identifier"]["precise"]
    page = site.symbols[precise]
    parent = next(p for p in site.symbols.values() if p["metadata"]["title"] == "DispatchQueue")

    def reports(text, damaged=graph):
        if not any(text in line for line in problems(damaged, site)):
            sys.exit(f"docs: the check is broken: of a damaged site it does not report '{text}'")

    without = dict(graph, symbols=[s for s in graph["symbols"] if s["pathComponents"][0] != "DispatchQueue"])
    reports("the symbol graph lacks", without)
    del site.symbols[precise]
    reports("has no page")
    site.symbols[precise], summary = page, page["abstract"]
    page["abstract"] = []
    reports("has no summary")
    page["abstract"], topics = summary, parent["topicSections"]
    parent["topicSections"] = []
    reports("no topic leads")
    parent["topicSections"] = topics
    page["references"]["a hidden type"] = {"kind": "symbol", "title": "_Lane"}
    reports("users cannot name")


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
    if os.path.exists(output) and not os.path.isdir(os.path.join(output, "data", "documentation")):
        if not os.path.isdir(output) or os.listdir(output):
            sys.exit(f"docs: {options.output} holds something other than a site; name a new or empty folder")
    folder = modulebuild.build("GrandCentral")
    with tempfile.TemporaryDirectory() as graphs:
        graph = symbolgraph.make(folder, os.path.join(graphs, f"{symbolgraph.MODULE}.symbols.json"))
        shutil.rmtree(output, ignore_errors=True)
        os.makedirs(os.path.dirname(output), exist_ok=True)
        convert(graphs, output, options.base_path)
    lead_to_landing_page(output)
    site = Site(output)
    lines = problems(graph, site)
    if lines:
        print("\n".join(lines), file=sys.stderr)
        sys.exit(f"docs: {len(lines)} problems")
    check_the_check(graph, site)
    ours = sum(map(symbolgraph.is_ours, graph["symbols"]))
    print(f"docs: {len(graph['symbols'])} symbols have pages, to which topics lead; the {ours} of this package have "
          f"summaries. The site is in {options.output}")
    if options.serve is not None:
        serve(output, options.serve)


main()
