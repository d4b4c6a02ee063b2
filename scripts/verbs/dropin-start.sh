#!/usr/bin/env bash
# Measures what a drop-in library costs a program before it does anything.
#
#   scripts/dev dropin-start [FOLDER] [ROUNDS]
#   scripts/dev dropin-start --order [FOLDER]
#
# Prints the library's size, its dependencies, and of two C programs, one that only loads it and one
# that uses a queue, the run time, the instructions (callgrind) and the resident memory. The runs
# alternate with runs on the toolchain's library.
#
# --order writes scripts/lib/dropin-order.txt: the functions of the library that the second program
# calls. The linker puts them side by side. The names of a changed function may change, so write the
# file again when the memory has grown.
source "$(dirname "$0")/../lib/common.sh"

order=
if [[ ${1:-} == --order ]]; then
  order=scripts/lib/dropin-order.txt
  shift
fi

ours=${1:-.build-dropin/release}
rounds=${2:-200}
[[ -e $ours/libdispatch.so ]] || scripts/dev dropin release "$ours"
swift=$(dirname "$(readlink -f "$(command -v swiftc)")")/../lib/swift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Does what its arguments say: uses a queue, runs an item, prints the process's status.
cat >"$scratch/start.c" <<'C'
#include <dispatch/dispatch.h>
#include <fcntl.h>
#include <unistd.h>
static void nothing(void *context) { (void)context; }
static void item(void) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_async_f(group, dispatch_get_global_queue(0, 0), NULL, nothing);
  dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
  dispatch_release(group);
}
static void status(void) {
  char text[4096];
  ssize_t bytes = read(open("/proc/self/status", O_RDONLY), text, sizeof text);
  if (write(1, text, (size_t)bytes) != bytes) _exit(1);
}
int main(int count, char **arguments) {
  for (int i = 1; i < count; i++) {
    switch (arguments[i][0]) {
    case 'q': dispatch_sync_f(dispatch_queue_create("start", NULL), NULL, nothing); break;
    case 'i': item(); break;
    case 's': status(); break;
    }
  }
  return count > 9 ? (int)(long)&dispatch_release : 0;
}
C
clang -O2 -fblocks -isystem "$swift" -isystem "$swift/Block" "$scratch/start.c" -o "$scratch/start" \
  -Wl,--no-as-needed -L"$swift/linux" -ldispatch -lBlocksRuntime

python3 - "$scratch" "$ours" "$swift/linux" "$rounds" "$order" <<'PYTHON'
import os, re, statistics, subprocess, sys, time

scratch, ours, peers, rounds, order = sys.argv[1:]
program, profile = scratch + "/start", scratch + "/profile"


def needed(folder):
    text = subprocess.run(["readelf", "-d", f"{folder}/libdispatch.so"], capture_output=True, text=True).stdout
    return " ".join(line.split("[")[1].split("]")[0] for line in text.splitlines() if "(NEEDED)" in line)


def run(folder, words, before=()):
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{folder}:{peers}")
    return subprocess.run(
        [*before, program, *words], check=True, env=environment, capture_output=True, text=True)


def milliseconds(folder, words):
    start = time.perf_counter()
    run(folder, words)
    return (time.perf_counter() - start) * 1000


def instructions(folder, words):
    callgrind = ["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={profile}"]
    said = run(folder, words, callgrind).stderr
    return int(re.search(r"Collected : (\d+)", said).group(1))


def resident(folder, words):
    return int(re.search(r"VmRSS:\s+(\d+)", run(folder, [*words, "status"]).stdout).group(1))


def called(library):
    """The functions of the library in the profile. The format gives a name at its first use only."""
    names, found, image = {}, set(), None
    for line in open(profile, encoding="utf-8"):
        entry = re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?", line)
        if not entry:
            continue
        call, kind, number, name = entry.groups()
        if name:
            names[kind, number] = name.strip()
        if call:
            continue
        if kind == "ob":
            image = names[kind, number]
        elif image == library:
            found.add(re.sub(r"'\d+$", "", names[kind, number]))
    return sorted(name for name in found if not name.startswith("0x"))


if order:
    instructions(ours, ["queue", "item"])
    names = called(os.path.realpath(f"{ours}/libdispatch.so"))
    with open(order, "w", encoding="utf-8") as file:
        file.write("# Written by scripts/dev dropin-start --order.\n" + "\n".join(names) + "\n")
    print(f"{order}: {len(names)} functions")
    sys.exit()

for name, folder in (("ours", ours), ("toolchain's", peers)):
    print(f"{name}: {os.path.getsize(folder + '/libdispatch.so')} bytes, needs {needed(folder)}")
for what, words in (("loads it", []), ("uses a queue", ["queue"])):
    times = {ours: [], peers: []}
    for _ in range(int(rounds)):
        for folder in times:
            times[folder].append(milliseconds(folder, words))
    medians = [statistics.median(times[folder]) for folder in (ours, peers)]
    counts = [instructions(folder, words) / 1e6 for folder in (ours, peers)]
    sizes = [resident(folder, words) / 1e3 for folder in (ours, peers)]
    print(f"a program that {what}, and one with the toolchain's:")
    for unit, (own, other) in (("ms", medians), ("million instructions", counts), ("MB resident", sizes)):
        print(f"  {own:.2f} {unit}, {other:.2f}: {own / other:.2f}")
PYTHON
