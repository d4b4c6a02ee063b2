#!/usr/bin/env bash
# Builds the libdispatch.so that replaces the toolchain's; prints its size and dependencies.
#
#   scripts/dev dropin [release|debug] [FOLDER]     by default release, in .build-dropin/release
#   DROPIN_SANITIZER=address scripts/dev dropin     or thread: for programs with the same sanitizer
#   DROPIN_ARCHITECTURE=arm64 scripts/dev dropin    for another architecture (scripts/dev arm64)
#   DROPIN_FRAMES=1 scripts/dev dropin              with frame pointers, in release-frames
#
# The library is one module. Its sources, the engine's and those of the layer below are compiled
# together, without the modules that the compiler imports implicitly, because the Concurrency
# library itself needs libdispatch.so. The package's own targets compile the same sources without
# such flags.
source "$(dirname "$0")/../lib/common.sh"

mode=${1:-release}
out=${2:-.build-dropin/$mode${DROPIN_SANITIZER:+-$DROPIN_SANITIZER}${DROPIN_FRAMES:+-frames}}
[[ -n ${2:-} ]] || out+=${DROPIN_ARCHITECTURE:+-$DROPIN_ARCHITECTURE}
# The tools that come with the compiler, instead of the system's.
swift=$(readlink -f "$(command -v swiftc)")
clang=$(dirname "$swift")/clang
case $mode in
# Do not merge similar functions: a merged function calls its differing parts through a pointer, on
# fast paths too. Exclusive access is checked in all builds of the package, so in its tests, and not
# here: each check costs 40 instructions.
release)
  swift_flags=(-O -whole-module-optimization -Xllvm -swiftmergefunc-threshold=0
    -enforce-exclusivity=unchecked)
  c_flags=(-O2)
  ;;
debug) swift_flags=(-Onone -g) c_flags=(-O0 -g) ;;
*) echo "scripts/dev dropin [release|debug] [FOLDER]" >&2 && exit 64 ;;
esac
# DROPIN_FRAMES=1 keeps frame pointers, for profilers, and for the origins of a recording: without
# them a walk misses the function that calls the library. They cost 7 % of a sync's instructions.
if [[ -n ${DROPIN_FRAMES:-} ]]; then
  swift_flags+=(-Xcc -fno-omit-frame-pointer)
  c_flags+=(-fno-omit-frame-pointer)
fi
# DROPIN_SANITIZER=address or thread builds a library for finding mistakes, for programs that the
# toolchain's clang built with the same sanitizer. The sanitizer's runtime is in the program.
more=() definitions=(-z defs)
if [[ -n ${DROPIN_SANITIZER:-} ]]; then
  # Line tables only: full debug information would leave the module beside the sources.
  more+=("-sanitize=$DROPIN_SANITIZER" -gline-tables-only)
  c_flags+=("-fsanitize=$DROPIN_SANITIZER" -g)
  definitions=()
fi
case ${DROPIN_ARCHITECTURE:-} in
'') ;;
arm64)
  source scripts/lib/arm64.sh
  arm64_prepare
  swift_flags+=("${arm64_swiftc[@]}")
  c_flags+=("${arm64_clang[@]}")
  ;;
*) echo "dropin: there is no architecture '$DROPIN_ARCHITECTURE'; arm64 is one" >&2 && exit 64 ;;
esac

# The functions that a program calls until its first items have run (scripts/dev dropin-start).
order=scripts/lib/dropin-order.txt
# Do nothing if the library is newer than all its inputs.
inputs=(Sources/Primitives Sources/GrandCentralCore Sources/Board Sources/CDispatchExports
  Sources/CDispatchStorage Sources/CLinux scripts/verbs/dropin.sh "$order")
mkdir -p "$out"
exec 9>"$out/lock"
flock 9
if [[ -e $out/libdispatch.so && -z $(find "${inputs[@]}" -newer "$out/libdispatch.so" -print -quit) ]]; then
  echo "$out/libdispatch.so is up to date"
  exit 0
fi

# Swift's libraries, and the one of C++ that they need, are linked into this one from the archives
# of the toolchain: a program loads none of them, and a Swift program runs on any version of them.
# No symbol of theirs is visible outside. So the two runtimes of a Swift program share nothing, and
# what the library does with the program's own objects it asks of the program's runtime:
# Sources/CLinux/ProgramRuntime.c. Where the toolchain lacks the archives, for another architecture,
# and in sanitized libraries, Swift's libraries are loaded.
library=$(dirname "$(dirname "$swift")")/lib
archives=()
static=$library/swift_static/linux
if [[ -z ${DROPIN_ARCHITECTURE:-}${DROPIN_SANITIZER:-} && -e $static/libswiftCore.a ]]; then
  archives=("$static"/libswift{Synchronization,Glibc,Core}.a)
  # The archive's path; its name alone if there is none.
  cxx=$("$clang" -print-file-name=libstdc++.a)
  if [[ $cxx == /* ]]; then archives+=("$cxx"); else archives+=(-lstdc++); fi
  c_flags+=(-DGRANDCENTRAL_CONTAINS_RUNTIME -ffunction-sections)
  swift_flags+=(-Xfrontend -function-sections)
fi

scratch=$out/objects
mkdir -p "$scratch"
modules=(-ISources/CLinux/include -ISources/CDispatchStorage/include)

objects=()
for source in Sources/CLinux/*.c Sources/CDispatchStorage/*.c; do
  object=$scratch/$(basename "$source" .c).o
  "$clang" -c -fPIC -DGRANDCENTRAL_DROPIN "${c_flags[@]}" "${modules[@]}" "$source" -o "$object"
  objects+=("$object")
done

# The functions of Sources/CLinux/Children.c, which a sanitized library lacks.
children=
[[ -n ${DROPIN_SANITIZER:-} ]] ||
  children=$(sed -n 's/^WEAK .*[ *]\([a-z_]*\)(.*/\1;/p' Sources/CLinux/Children.c | tr '\n' ' ')
echo "{ global: dispatch_*; _dispatch_*; _os_object_*; libdispatch_init; grandcentral_*; $children" \
  "local: *; };" >"$scratch/exports.map"
# The order decides through which module the compiler finds the types of the C library, and with it
# which imports must be public: the exports come first.
mapfile -t sources < <(
  for folder in Sources/CDispatchExports Sources/GrandCentralCore Sources/Primitives Sources/Board; do
    find "$folder" -name '*.swift' | sort
  done)
# No incremental code generation: it leaves a hash in the library that depends on the folder, so two
# builds would differ.
compile=(swiftc "${swift_flags[@]}" "${more[@]}"
  -swift-version 6 -parse-as-library -warnings-as-errors
  -module-name GrandCentralDropIn -package-name grandcentral -DGRANDCENTRAL_DROPIN
  -Xfrontend -disable-implicit-concurrency-module-import
  -Xfrontend -disable-implicit-string-processing-module-import
  -Xfrontend -disable-incremental-llvm-codegen -Xfrontend -disable-all-autolinking
  "${modules[@]}" "${sources[@]}")
# A program may dlclose(3) a plug-in that needs this library, while threads of the engine sleep in
# it.
link=(-soname=libdispatch.so "--version-script=$scratch/exports.map" -z nodelete "${definitions[@]}")
if ((${#archives[@]} > 0)); then
  # What reflection finds by its section is in use. What a program links with copies of variables
  # must be bound when it starts, so not -Bsymbolic. The functions that every program calls lie side
  # by side, in few pages; the file may name some that are gone.
  link+=(--build-id=sha1 --wrap=_ZN5swift7runtime11environment10initializeEPv
    --gc-sections -z nostart-stop-gc --as-needed
    "--symbol-ordering-file=$order" --no-warn-symbol-ordering)
fi
options=()
for option in "${link[@]}"; do options+=(-Xlinker "$option"); done
# Under a temporary name until every step has succeeded.
made=$scratch/libdispatch.so
if ((${#archives[@]} > 0)); then
  "${compile[@]}" -c -o "$scratch/module.o"
  # In place of parts of the runtime that act when they are loaded: one reads the program's
  # arguments from /proc, one handles crashes, one reads SWIFT_ variables and warns of unknown ones
  # on standard error. A Swift program has the handler and the warnings already. The runtime
  # reads the handler's settings, a private struct of 88 bytes with pointers in Swift 6.3. The zeros
  # say that the handler is off; they are aligned for pointers and leave room for a larger struct.
  "$clang" -c -O2 -fPIC -x c - -o "$scratch/unused.o" <<'C'
long long _swift_backtraceSettings[64];
void __wrap__ZN5swift7runtime11environment10initializeEPv(void *context) {}
int _swift_backtrace_isThunkFunction(const char *name) { return 0; }
void *_swift_stdlib_getUnsafeArgvArgc(int *count) { *count = 0; return 0; }
void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count) {}
C
  # Makes the library FILE, which looks for libBlocksRuntime.so in FOLDER. The order of constructors
  # is that of the files: the runtime's before the library's.
  link_library() {
    "$clang" -shared -fuse-ld=lld -static-libgcc -o "$2" "${options[@]}" \
      "$static/$(uname -m)/swiftrt.o" \
      "$scratch"/{module,unused}.o "${archives[@]}" "${objects[@]}" \
      -L"$library/swift/linux" -Wl,-rpath,"$1" -lBlocksRuntime -lm -lpthread -ldl
  }
  link_library "$library/swift/linux" "$made"
  # scripts/dev install copies this one.
  mkdir -p "$out/installed"
  link_library '$ORIGIN/runtime' "$out/installed/libdispatch.so"
else
  "${compile[@]}" -emit-library -o "$made" "${options[@]}" \
    "${objects[@]}" -lswiftSynchronization -lswiftGlibc -lBlocksRuntime -lm -lpthread -ldl
fi

needed=$(readelf -d "$made" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if grep -qE 'libswift_Concurrency|libswift_StringProcessing|libdispatch' <<<"$needed"; then
  echo "A library that needs libdispatch.so itself is among them." >&2
  exit 1
fi
mv "$made" "$out/libdispatch.so"
echo "$out/libdispatch.so: $(stat -c %s "$out/libdispatch.so") bytes, needs" $needed
