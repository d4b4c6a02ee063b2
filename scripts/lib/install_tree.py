"""What an installation consists of: three components, each a set of files below a prefix.

`libdispatch` is the drop-in library with the runtime of blocks, and a program that starts others on
it. `dev` has the C headers with files for pkg-config and CMake. `command` is
`grandcentral`. `scripts/dev install` copies them to a prefix, `scripts/dev package` makes archives
and Debian packages of them.
"""
import os
import re
import shutil
import subprocess
import sys
import time

from libraries import ROOT, command_output, toolchain

COMPONENTS = ("libdispatch", "dev", "command")
# Below the prefix. The folder that LD_LIBRARY_PATH names holds nothing but libdispatch.so: with the
# runtime in it, a Swift program would load this runtime in place of its own.
LIBRARY = "lib/grandcentral"
RUNTIME = LIBRARY + "/runtime"
HEADERS = "include/grandcentral"
# What libdispatch.so needs and only a Swift toolchain has.
BLOCKS_RUNTIME = "libBlocksRuntime.so"
SCRATCH = ".build-package"

RUNNER = """\
#!/bin/sh
# Starts a program on Grand Central's libdispatch.so: with-grandcentral PROGRAM [ARGUMENT...]
case ${1:-} in
'' | -h | --help)
  echo "Usage: with-grandcentral PROGRAM [ARGUMENT...]"
  echo "Starts a program on Grand Central in place of the libdispatch.so that it was built with."
  [ "$#" -gt 0 ] && exit 0
  exit 64
  ;;
esac
folder=$(dirname "$(dirname "$(readlink -f "$0")")")/@LIBRARY@
if [ ! -e "$folder/libdispatch.so" ]; then
  echo "with-grandcentral: $folder/libdispatch.so is missing; install Grand Central again" >&2
  exit 126
fi
LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$@"
"""

PKG_CONFIG = """\
prefix=@PREFIX@
libdir=${prefix}/@LIBRARY@
includedir=${prefix}/@HEADERS@

Name: Grand Central
Description: Grand Central Dispatch for Linux
Version: @VERSION@
Cflags: -I${includedir}
Libs: -L${libdir} -Wl,-rpath,${libdir} -ldispatch
"""

# For clang -fblocks. The blocks' own functions come from the toolchain's library.
PKG_CONFIG_BLOCKS = """\
prefix=@PREFIX@
libdir=${prefix}/@RUNTIME@

Name: Grand Central with blocks
Description: Grand Central Dispatch for Linux, for clang and its blocks
Version: @VERSION@
Requires: grandcentral
Cflags: -fblocks
Libs: -L${libdir} -Wl,-rpath,${libdir} -lBlocksRuntime
"""

CMAKE = """\
# Defines the imported targets GrandCentral::dispatch, and GrandCentral::blocks for clang's blocks.
get_filename_component(_grandcentral_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET GrandCentral::dispatch)
  add_library(GrandCentral::dispatch SHARED IMPORTED)
  set_target_properties(GrandCentral::dispatch PROPERTIES
    IMPORTED_LOCATION "${_grandcentral_prefix}/@LIBRARY@/libdispatch.so"
    IMPORTED_SONAME "libdispatch.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_grandcentral_prefix}/@HEADERS@")
  add_library(GrandCentral::blocks SHARED IMPORTED)
  set_target_properties(GrandCentral::blocks PROPERTIES
    IMPORTED_LOCATION "${_grandcentral_prefix}/@RUNTIME@/libBlocksRuntime.so"
    IMPORTED_SONAME "libBlocksRuntime.so"
    INTERFACE_COMPILE_OPTIONS "-fblocks"
    INTERFACE_LINK_LIBRARIES GrandCentral::dispatch)
endif()
unset(_grandcentral_prefix)
"""

CMAKE_VERSION = """\
set(PACKAGE_VERSION "@VERSION@")
if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
"""


def say(text):
    """Prints a line at once: builds follow."""
    print(f"install: {text}", flush=True)


def version():
    with open(os.path.join(ROOT, "VERSION"), encoding="utf-8") as file:
        return file.read().strip()


# Two builds of one commit must give the same bytes, and the compiler leaves the length of a source
# file's path in the code that checks withoutActuallyEscaping(_:do:), whatever -file-prefix-map
# says. So the working tree is mounted here, for the compiler only.
BUILD_FOLDER = "/mnt"


def in_build_folder():
    """The words before a command that runs in BUILD_FOLDER; empty if the system does not allow it."""
    # Without privileges, a user namespace gives them for the mount.
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    words = ["unshare", "--mount", *user, "sh", "-c",
             'mount --bind "$1" "$2" && cd "$2" && shift 2 && exec "$@"', "sh", ROOT, BUILD_FOLDER]
    try:
        found = subprocess.run([*words, "swift", "--version"], capture_output=True).returncode == 0
    except FileNotFoundError:
        found = False
    return words if found else []


def build(components=COMPONENTS):
    """Builds what the components contain: the drop-in, and the command with Swift's runtime, which
    needs no toolchain. The compiler optimises each as a whole, on one processor, so the two builds
    run side by side."""
    begin = time.monotonic()
    library = None
    if "libdispatch" in components:
        say("builds libdispatch.so if it has changed: one to two minutes on two CPUs, without output")
        library = subprocess.Popen(["scripts/dev", "dropin"], cwd=ROOT)
    try:
        if "command" in components:
            say("builds the command grandcentral if it has changed: two to four minutes on two CPUs")
            build_command()
    finally:
        failed = library is not None and library.wait() != 0
    if failed:
        sys.exit("install: scripts/dev dropin failed")
    if library is not None or "command" in components:
        say(f"built in {time.monotonic() - begin:.0f} s")


def build_command():
    before = in_build_folder()
    folder = BUILD_FOLDER if before else ROOT
    # Paths of the working tree, and a hash of them, would make two builds of one commit differ.
    done = subprocess.run(
        [*before, "swift", "build", "-c", "release", "--product", "grandcentral",
         "--static-swift-stdlib", "--disable-local-rpath", "--scratch-path", SCRATCH,
         "-Xswiftc", "-file-prefix-map", "-Xswiftc", f"{folder}=.",
         "-Xcc", f"-ffile-prefix-map={folder}=.",
         "-Xswiftc", "-Xfrontend", "-Xswiftc", "-disable-incremental-llvm-codegen",
         # Without debug information, which differs and of which the build id is a hash too.
         "-Xlinker", "-s"],
        cwd=ROOT)
    if done.returncode != 0:
        sys.exit("install: the build of the command failed")


class Tree:
    """Writes components into `root`, for use below `prefix`: they differ while a package is made.

    A relocatable tree may be used wherever it is put.
    """

    def __init__(self, root, prefix, relocatable=False, pkg_config="lib/pkgconfig"):
        self.root, self.prefix, self.relocatable, self.files = root, prefix, relocatable, []
        self.pkg_config = pkg_config

    def path(self, name):
        path = os.path.join(self.root, self.prefix.lstrip("/"), name)
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        self.files.append(path)
        return path

    def write(self, name, text, mode=0o644):
        prefix = "${pcfiledir}/../.." if self.relocatable else self.prefix
        names = {"PREFIX": prefix, "LIBRARY": LIBRARY, "RUNTIME": RUNTIME, "HEADERS": HEADERS,
                 "VERSION": version()}
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub("@([A-Z]+)@", lambda match: names[match.group(1)], text))
        os.chmod(path, mode)

    def copy(self, source, name, mode=0o644):
        path = self.path(name)
        # A new file, so that a program that runs the old one keeps it: cp(1) would write into it.
        if os.path.exists(path):
            os.remove(path)
        shutil.copyfile(source, path)
        os.chmod(path, mode)
        return path

    def add(self, component):
        getattr(self, "_" + component)()

    def _libdispatch(self):
        # It finds what it needs beside itself; in all else it is the one that tests use.
        built = os.path.join(ROOT, ".build-dropin/release/installed/libdispatch.so")
        if not os.path.exists(built):
            sys.exit("install: this Swift toolchain lacks the archives that libdispatch.so contains "
                     "(swift_static): install one from https://www.swift.org/install")
        blocks = os.path.join(toolchain(), "lib/swift/linux", BLOCKS_RUNTIME)
        for source, folder in (built, LIBRARY), (blocks, RUNTIME):
            copied = self.copy(source, f"{folder}/{os.path.basename(source)}")
            subprocess.run(["strip", "--strip-unneeded", copied], check=True)
        self.write("bin/with-grandcentral", RUNNER, 0o755)

    def _dev(self):
        headers = os.path.join(ROOT, "Sources/CDispatch/include")
        for folder, _, names in sorted(os.walk(headers)):
            for name in sorted(names):
                source = os.path.join(folder, name)
                if name.endswith(".h"):
                    self.copy(source, f"{HEADERS}/{os.path.relpath(source, headers)}")
        self.write(f"{self.pkg_config}/grandcentral.pc", PKG_CONFIG)
        self.write(f"{self.pkg_config}/grandcentral-blocks.pc", PKG_CONFIG_BLOCKS)
        cmake = "lib/cmake/GrandCentral/GrandCentralConfig"
        self.write(cmake + ".cmake", CMAKE)
        self.write(cmake + "Version.cmake", CMAKE_VERSION)

    def _command(self):
        program = self.copy(
            os.path.join(ROOT, SCRATCH, "release/grandcentral"), "bin/grandcentral", 0o755)
        subprocess.run(["strip", program], check=True)


def swift_version():
    return re.search(r"Swift version (\S+)", command_output("swiftc", "--version")).group(1)
