#!/usr/bin/env python3
"""Makes the release files: Debian packages, a tarball, checksums and a list of contents (SPDX).

    scripts/dev package [--output FOLDER] [--check]

Writes into .build-package/release-files by default:

    grandcentral-libdispatch_V_ARCH.deb   the drop-in library and with-grandcentral
    grandcentral-dev_V_ARCH.deb           C headers, files for pkg-config and CMake
    grandcentral_V_ARCH.deb               the command
    grandcentral-V-linux-MACHINE.tar.gz   all of these below one folder, for any prefix
    grandcentral-V.spdx.json              which files come from where, with licences and checksums
    SHA256SUMS

The same commit and toolchain give the same bytes: all times are the commit's. --check also runs
lintian over the packages. Needs dpkg-deb, dpkg-shlibdeps, strip; --check needs lintian (scripts/dev setup
--packages).
"""
import argparse
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import install_tree
from libraries import ROOT, command_output

MAINTAINER = "The Grand Central authors <maintainers@grandcentral.invalid>"
PACKAGES = {
    "libdispatch": (
        "grandcentral-libdispatch", "libs", "libdispatch.so with deadlock reports and a work-stealing pool",
        """A libdispatch.so that takes the place of the one that programs for Swift
were built with. Foundation, Swift Concurrency and C programs run on it
without being compiled again, started by with-grandcentral(1).
.
Deadlocks stop the program with the names of the queues and threads that
wait for each other. Quality of service has effect, the pool follows CPU
masks and container limits, and work never waits behind blocked threads."""),
    "dev": (
        "grandcentral-dev", "libdevel", "C headers of Grand Central Dispatch for Linux",
        """Headers, pkg-config and CMake files to compile C and C++ programs for the
library in grandcentral-libdispatch, with gcc or with clang and blocks.
.
The headers are in a folder of their own, so that they do not replace those
of another libdispatch."""),
    "command": (
        "grandcentral", "devel", "shows queues and threads of programs that use Grand Central",
        """The command grandcentral shows what the queues and threads of a running,
hanging or killed program do: deadlocks, queues stuck behind one item, thread
explosions and forgotten resumes first.
.
The program needs no preparation and does nothing for it. Recordings show
where the time goes, queue by queue."""),
}
DEPENDENCIES = {
    "dev": "grandcentral-libdispatch (= {version})",
    "command": "",
    "libdispatch": "",
}
RECOMMENDS = {"command": "grandcentral-libdispatch"}
# lintian's tags that are meant, with the reason, which the package contains.
OVERRIDES = {
    "libdispatch": [
        ("the library must not be found by programs that were not started on it",
         "custom-library-search-path *"),
        ("contains Swift's runtime: Debian has no package of this version", "embedded-library *"),
    ],
    "command": [
        ("contains Swift's runtime: Debian has no package of this version", "embedded-library *"),
    ],
    "dev": [],
}

COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Grand Central

Files: *
Copyright: 2026 the Grand Central authors
License: Apache-2.0
{runtime}
License: Apache-2.0
 On Debian systems, the text of the Apache License, Version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
"""
RUNTIME_COPYRIGHT = """
Files: {files}
Copyright: 2014-2026 Apple Inc. and the Swift project authors
License: Apache-2.0 with Swift exception

License: Apache-2.0 with Swift exception
 Apache License, Version 2.0, see /usr/share/common-licenses/Apache-2.0, with
 this exception: as an exception, if you use this Software to compile your
 source code and portions of this Software are embedded into the binary
 product as a result, you may redistribute such product without providing
 attribution as would otherwise be required by Sections 4(a), 4(b) and 4(d)
 of the License.
"""
CXX_COPYRIGHT = """
Files: usr/lib/grandcentral/libdispatch.so
Copyright: 2026 the Grand Central authors
 2014-2026 Apple Inc. and the Swift project authors
 1997-2022 Free Software Foundation, Inc.
License: Apache-2.0 and Apache-2.0 with Swift exception and GPL-3+ with GCC exception

License: GPL-3+ with GCC exception
 The parts of the C++ library that Swift's runtime needs. The GNU General Public
 License, Version 3, see /usr/share/common-licenses/GPL-3, or later, with the GCC
 Runtime Library Exception, Version 3.1, by which a work that was compiled with
 them may be conveyed under terms of its authors' choice.
"""
# Of the files that contain Swift's runtime, as SPDX says it.
LINKED = {
    "bin/grandcentral": "Apache-2.0 AND Apache-2.0 WITH Swift-exception",
    f"{install_tree.LIBRARY}/libdispatch.so":
        "Apache-2.0 AND Apache-2.0 WITH Swift-exception AND GPL-3.0-or-later WITH GCC-exception-3.1",
}
SWIFT_FILES = {"libdispatch": "usr/lib/grandcentral/runtime/*", "command": "usr/bin/grandcentral"}


def commit_time():
    """The time that every file gets: the commit's, or SOURCE_DATE_EPOCH."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    return int(command_output("git", "-C", ROOT, "log", "-1", "--format=%ct"))


def architecture():
    return command_output("dpkg", "--print-architecture").strip()


def digest(path, algorithm="sha256"):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def compressed(text):
    return gzip.compress(text.encode(), 9, mtime=0)


def write(path, data, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    os.chmod(path, mode)


def manual(name, summary, usage):
    """A manual page with the program's own usage, so that the two always agree."""
    when = time.strftime("%Y-%m-%d", time.gmtime(commit_time()))
    body = usage.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    body = "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in body.splitlines())
    return (f'.TH {name.upper()} 1 {when} "Grand Central {install_tree.version()}"\n'
            f".SH NAME\n{name} \\- {summary}\n.SH DESCRIPTION\n.nf\n{body}\n.fi\n")


def add_manuals(component, root):
    if component == "command":
        name, program = "grandcentral", "usr/bin/grandcentral"
        usage = command_output(os.path.join(root, program), "--help")
    elif component == "libdispatch":
        name, program = "with-grandcentral", "usr/bin/with-grandcentral"
        usage = command_output(os.path.join(root, program), "--help")
    else:
        return
    summary = {"grandcentral": "shows queues and threads of programs that use Grand Central",
               "with-grandcentral": "starts a program on Grand Central's libdispatch.so"}[name]
    page = compressed(manual(name, summary, usage))
    write(os.path.join(root, f"usr/share/man/man1/{name}.1.gz"), page)


def shared_dependencies(component, root):
    """The packages of the C libraries that the component's files need, with their versions."""
    files = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names
             if name.endswith(".so") or folder.endswith("/bin") and name == "grandcentral"]
    if component == "dev" or not files:
        return []
    with tempfile.TemporaryDirectory() as scratch:
        write(os.path.join(scratch, "debian/control"), "Source: grandcentral\n\nPackage: any\nArchitecture: any\n")
        runtime = os.path.join(root, "usr", install_tree.RUNTIME)
        text = subprocess.run(
            ["dpkg-shlibdeps", "-O", "--ignore-missing-info", "--warnings=0", f"-l{runtime}",
             *(f"-e{path}" for path in sorted(files))],
            check=True, cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return [text.strip().removeprefix("shlibs:Depends=")] if text.strip() else []


def set_times(root, when):
    for folder, folders, names in os.walk(root, topdown=False):
        for name in names + folders:
            os.utime(os.path.join(folder, name), (when, when), follow_symlinks=False)
            path = os.path.join(folder, name)
            if os.path.isdir(path):
                os.chmod(path, 0o755)
    os.utime(root, (when, when))
    os.chmod(root, 0o755)


def debian_package(component, scratch, output):
    name, section, summary, description = PACKAGES[component]
    root = os.path.join(scratch, name)
    triplet = command_output("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
    tree = install_tree.Tree(root, "/usr", pkg_config=f"lib/{triplet}/pkgconfig")
    tree.add(component)
    add_manuals(component, root)

    documents = os.path.join(root, "usr/share/doc", name)
    swift = SWIFT_FILES.get(component)
    runtime = RUNTIME_COPYRIGHT.format(files=swift) if swift else ""
    if component == "libdispatch":
        runtime += CXX_COPYRIGHT
    write(os.path.join(documents, "copyright"), COPYRIGHT.format(runtime=runtime))
    version = install_tree.version()
    day = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(commit_time()))
    write(os.path.join(documents, "changelog.gz"), compressed(
        f"grandcentral ({version}) unstable; urgency=medium\n\n"
        f"  * Version {version}: see CHANGELOG.md of the sources.\n\n -- {MAINTAINER}  {day}\n"))
    overrides = "".join(f"# {reason}\n{name}: {tag}\n" for reason, tag in OVERRIDES[component])
    if overrides:
        write(os.path.join(root, "usr/share/lintian/overrides", name), overrides)

    depends = [DEPENDENCIES[component].format(version=version)] + shared_dependencies(component, root)
    size = sum(os.path.getsize(os.path.join(folder, file))
               for folder, _, files in os.walk(root) for file in files)
    fields = [
        ("Package", name), ("Source", "grandcentral" if name != "grandcentral" else ""),
        ("Version", version), ("Architecture", architecture()), ("Maintainer", MAINTAINER),
        ("Installed-Size", str(-(-size // 1024))),
        ("Depends", ", ".join(entry for entry in depends if entry)),
        ("Recommends", RECOMMENDS.get(component, "")),
        ("Section", section), ("Priority", "optional"),
        ("Description", summary + "\n" + "\n".join(" " + line for line in description.splitlines())),
    ]
    control = "".join(f"{key}: {value}\n" for key, value in fields if value)
    write(os.path.join(root, "DEBIAN/control"), control)
    sums = "".join(
        f"{digest(path, 'md5')}  {os.path.relpath(path, root)}\n" for path in sorted(
            os.path.join(folder, file) for folder, _, files in os.walk(os.path.join(root, "usr"))
            for file in files))
    write(os.path.join(root, "DEBIAN/md5sums"), sums)
    set_times(root, commit_time())
    path = os.path.join(output, f"{name}_{version}_{architecture()}.deb")
    subprocess.run(
        ["dpkg-deb", "--build", "--root-owner-group", "-Zxz", root, path], check=True,
        stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(commit_time())})
    return path


def tarball(scratch, output):
    """All components below one folder. Its programs find the library beside them."""
    version = install_tree.version()
    name = f"grandcentral-{version}-linux-{os.uname().machine}"
    root = os.path.join(scratch, name)
    tree = install_tree.Tree(root, "/", relocatable=True)
    for component in install_tree.COMPONENTS:
        tree.add(component)
    for file in ("LICENSE", "README.md", "CHANGELOG.md"):
        shutil.copyfile(os.path.join(ROOT, file), os.path.join(root, file))
    set_times(root, commit_time())
    path = os.path.join(output, name + ".tar.gz")

    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = commit_time()
        return entry

    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as stream, \
            tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for folder, folders, names in os.walk(root):
            folders.sort()
            for entry in ([] if folder != root else [""]) + sorted(folders) + sorted(names):
                full = os.path.join(folder, entry) if entry else root
                archive.add(full, os.path.relpath(full, scratch), recursive=False, filter=plain)
    return path, root


def bill_of_materials(root, output):
    """An SPDX 2.3 document of the tarball's files."""
    version = install_tree.version()
    swift = install_tree.swift_version()
    packages = [
        ("SPDXRef-GrandCentral", "grandcentral", version, "Apache-2.0"),
        ("SPDXRef-Swift", "swift-runtime", swift, "Apache-2.0 WITH Swift-exception"),
    ]
    files, relations = [], [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-GrandCentral")]
    paths = sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names)
    for index, path in enumerate(paths):
        name = os.path.relpath(path, root)
        is_swift = "/runtime/" in path
        files.append({
            "SPDXID": f"SPDXRef-File-{index}", "fileName": f"./{name}",
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest(path)}],
            "licenseConcluded": LINKED.get(name, packages[is_swift][3]),
            "copyrightText": "NOASSERTION"})
        relations.append((packages[is_swift][0], "CONTAINS", f"SPDXRef-File-{index}"))
    relations.append(("SPDXRef-GrandCentral", "DEPENDS_ON", "SPDXRef-Swift"))
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"grandcentral-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/grandcentral-{version}-"
                             + hashlib.sha256("".join(entry["checksums"][0]["checksumValue"]
                                                      for entry in files).encode()).hexdigest()[:32],
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(commit_time())),
            "creators": ["Organization: The Grand Central authors", "Tool: scripts/dev package"]},
        "packages": [{
            "SPDXID": identifier, "name": name, "versionInfo": number, "filesAnalyzed": False,
            "downloadLocation": "NOASSERTION", "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION"}
            for identifier, name, number, licence in packages],
        "files": files,
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
            for one, kind, other in relations],
    }
    path = os.path.join(output, f"grandcentral-{version}.spdx.json")
    write(path, json.dumps(document, indent=1, sort_keys=True) + "\n")
    return path


def check(packages):
    """lintian's verdict. An error or a warning fails."""
    result = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0", *packages])
    if result.returncode != 0:
        sys.exit("package: lintian found errors or warnings")


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/dev package", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", metavar="FOLDER",
                        default=os.path.join(ROOT, install_tree.SCRATCH, "release-files"))
    parser.add_argument("--check", action="store_true", help="runs lintian over the packages")
    arguments = parser.parse_args()
    output = os.path.abspath(arguments.output)
    shutil.rmtree(output, ignore_errors=True)
    os.makedirs(output)
    if not install_tree.in_build_folder():
        print(f"package: cannot mount the working tree at {install_tree.BUILD_FOLDER}; the command is built in "
              "place, and its bytes depend on the length of the folder's path", file=sys.stderr)
    install_tree.build()
    with tempfile.TemporaryDirectory() as scratch:
        packages = [debian_package(component, scratch, output) for component in PACKAGES]
        archive, root = tarball(scratch, output)
        made = packages + [archive, bill_of_materials(root, output)]
    sums = "".join(f"{digest(path)}  {os.path.basename(path)}\n" for path in sorted(made))
    write(os.path.join(output, "SHA256SUMS"), sums)
    print(sums, end="")
    if arguments.check:
        check(packages)


main()
