#!/usr/bin/env bash
# Measures what a drop-in library costs a program before it does anything.
#
#   scripts/dev dropin-start [FOLDER] [ROUNDS]
#
# Prints the library's size, its dependencies, and the run time of two C programs, one that only
# loads it and one that uses a queue. The runs alternate with runs on the toolchain's library.
source "$(dirname "$0")/../lib/common.sh"

ours=${1:-.build-dropin/release}
rounds=${2:-200}
[[ -e $ours/libdispatch.so ]] || scripts/dev dropin release "$ours"
swift=$(dirname "$(readlink -f "$(command -v swiftc)")")/../lib/swift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/start.c" <<'C'
#include <dispatch/dispatch.h>
static void nothing(void *context) { (void)context; }
int main(int count, char **arguments) {
  (void)arguments;
  if (count > 1) dispatch_sync_f(dispatch_queue_create("start", NULL), NULL, nothing);
  return count > 2 ? (int)(long)&dispatch_release : 0;
}
C
clang -O2 -fblocks -isystem "$swift" -isystem "$swift/Block" "$scratch/start.c" -o "$scratch/start" \
  -Wl,--no-as-needed -L"$swift/linux" -ldispatch -lBlocksRuntime

python3 - "$scratch/start" "$ours" "$swift/linux" "$rounds" <<'PYTHON'
import os, statistics, subprocess, sys, time

program, ours, peers, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


def needed(folder):
    text = subprocess.run(["readelf", "-d", f"{folder}/libdispatch.so"], capture_output=True, text=True).stdout
    return " ".join(line.split("[")[1].split("]")[0] for line in text.splitlines() if "(NEEDED)" in line)


def milliseconds(folder, arguments):
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{folder}:{peers}")
    start = time.perf_counter()
    subprocess.run([program, *arguments], check=True, env=environment)
    return (time.perf_counter() - start) * 1000


for name, folder in (("ours", ours), ("toolchain's", peers)):
    print(f"{name}: {os.path.getsize(folder + '/libdispatch.so')} bytes, needs {needed(folder)}")
for what, arguments in (("loads it", []), ("uses a queue", ["queue"])):
    times = {ours: [], peers: []}
    for _ in range(rounds):
        for folder in times:
            times[folder].append(milliseconds(folder, arguments))
    medians = [statistics.median(times[folder]) for folder in (ours, peers)]
    print(f"a program that {what}: {medians[0]:.2f} ms, with the toolchain's {medians[1]:.2f} ms")
PYTHON
