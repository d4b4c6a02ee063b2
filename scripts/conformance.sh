#!/usr/bin/env bash
# The C conformance suite: programs that know only the C API, built by clang with blocks and by gcc,
# against our headers and the toolchain's, each case in a process of its own. First the headers themselves
# (every compiler and language they are for; declarations, types and constants against the lists and the
# toolchain's), then the toolchain's library as the oracle, then ours.
#
#   scripts/conformance.sh [--ours FOLDER] [--filter REGEX] …     --help tells the rest
#
# FOLDER holds a drop-in libdispatch.so.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 scripts/conformance.py "$@"
