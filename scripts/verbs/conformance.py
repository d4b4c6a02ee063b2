"""Runs the C conformance suite on the toolchain's library and on a drop-in.

The programs of Tests/CConformance know only the C API. clang with blocks and gcc build them against
our headers and the toolchain's; each case runs in a process of its own. The headers are checked
first: with every compiler and language that they support, and their declarations, types and
constants against the lists and the toolchain's. Then the suite runs on the toolchain's library as
the oracle, then on ours.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

import conformance_fuzz
import conformance_headers

ROOT = conformance_headers.ROOT
SUITE = os.path.join(ROOT, "Tests/CConformance")
HEADERS = os.path.join(ROOT, "Sources/CDispatch/include")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
# The signals by which a fault ends a process.
STOPS = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT}
# The sanitizer's runtime, valgrind and the emulator have a thread of their own.
LAST_THREAD = "process_ends_with_its_last_worker"
# Cases that fail because the sanitizer's runtime replaces parts of the library: dispatch_once(),
# with its own predicate values, and submission, with blocks wrapped in what is no block object.
NOT_UNDER = {"thread": {
    "once_done_is_all_ones", "once_f_function_knows_what_the_fast_path_knows",
    "once_inside_itself_stops", "barrier_block_object_is_a_barrier", LAST_THREAD}}
# Runs a case under valgrind, whose reports end it. valgrind runs one thread at a time, and slowly.
MEMCHECK = ["valgrind", "-q", "--error-exitcode=99", "--fair-sched=yes"]
# Under valgrind, the deadlines of these cases pass while the engine starts.
NOT_UNDER_MEMCHECK = {"after_f_runs_in_the_order_of_time", LAST_THREAD}
# Builds the cases for arm64, with what scripts/dev arm64 fetches, and runs each in the emulator.
ARM64 = os.path.join(ROOT, ".build-arm64")
ARM64_FLAGS = ["--target=aarch64-unknown-linux-gnu", f"--sysroot={ARM64}/sdk", "-fuse-ld=lld"]
# The emulator refuses madvise(MADV_DONTFORK), without which there is no board to look at; and it is
# slow, so that a deadline passes while the engine starts.
NOT_UNDER_EMULATOR = {
    "snapshot_names_a_forgotten_resume", "snapshot_names_a_queue_that_is_stuck",
    "snapshot_shows_the_queue_of_the_item_that_takes_it", "when_stuck_f_calls_the_function_once",
    "after_f_runs_in_the_order_of_time", LAST_THREAD}
EMULATOR = [f"{ARM64}/qemu/usr/bin/qemu-aarch64", "-L", f"{ARM64}/sdk"]
# Cases that our library is known to fail at times: run and reported, but never counted.
LACKING = {}
MESSAGE = "BUG IN CLIENT OF GRAND CENTRAL"


class Toolchain:
    """The folders of Swift's clang with the peer's headers and library."""

    def __init__(self, arm64=False):
        self.flags = ARM64_FLAGS if arm64 else []
        text = subprocess.run(
            ["swiftc", "-print-target-info"], check=True, capture_output=True, text=True).stdout
        self.resources = json.loads(text)["paths"]["runtimeResourcePath"]
        self.libraries = os.path.join(f"{ARM64}/sdk/usr/lib/swift" if arm64 else self.resources, "linux")

    def header_flags(self, headers, compiler):
        """Our headers must compile without warnings. The peer's are system headers, for clang only."""
        blocks = ["-isystem", os.path.join(self.resources, "Block")]
        if headers == "ours":
            return ["-I" + HEADERS] + blocks
        lies = ["-D__has_feature(x)=0", "-D__has_extension(x)=0"] if compiler == "gcc" else []
        return ["-isystem", self.resources] + blocks + lies

    def link_flags(self):
        # No run path: each run sets the library.
        return ["-L" + self.libraries, "-ldispatch", "-lBlocksRuntime", "-lpthread", "-lm"]


class Variant:
    """The suite built by one compiler against one set of headers."""

    def __init__(self, compiler, headers, sanitizer=None):
        self.compiler, self.headers, self.sanitizer = compiler, headers, sanitizer
        self.name = f"{compiler}, {headers} headers" + (f", {sanitizer}" if sanitizer else "")

    def build(self, toolchain, folder):
        self.program = os.path.join(folder, f"suite-{self.compiler}-{self.headers}")
        sources = [os.path.join(SUITE, "Check.c")] + sorted(glob.glob(SUITE + "/Cases/*.c"))
        flags = ["-fblocks"] if self.compiler == "clang" else []
        if self.sanitizer:
            # A sanitized library resolves the sanitizer's functions in the program.
            flags += [f"-fsanitize={self.sanitizer}", "-rdynamic"]
        # valgrind reads this version.
        flags.append("-gdwarf-4")
        run([self.compiler, "-std=gnu11", "-g", "-O1", *toolchain.flags, *flags, *WARNINGS,
             *toolchain.header_flags(self.headers, self.compiler), *sources, "-o", self.program,
             *toolchain.link_flags()])


class Library:
    def __init__(self, name, folder, is_ours, toolchain):
        self.name, self.is_ours = name, is_ours
        self.environment = dict(os.environ)
        # The toolchain's other libraries, the blocks runtime first, come after the drop-in's
        # folder.
        # Cases stop on purpose, and symbolising each stack would take most of the time.
        self.environment.setdefault("SWIFT_BACKTRACE", "enable=no")
        # A sanitizer's report fails the case at once. A forked child may have threads.
        self.environment.setdefault("TSAN_OPTIONS", "halt_on_error=1:die_after_fork=0")
        self.environment.setdefault("ASAN_OPTIONS", "detect_leaks=0")
        self.environment["LD_LIBRARY_PATH"] = ":".join([folder, toolchain.libraries])


class Case:
    def __init__(self, line):
        self.kind, self.name, self.text = line.split("\t")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"conformance: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def cases_of(variant, library, wrapper):
    text = subprocess.run(
        [*wrapper, variant.program, "--list"], check=True, capture_output=True, text=True,
        env=library.environment).stdout
    return [Case(line) for line in text.splitlines()]


def verdict(variant, library, case, limit, wrapper=()):
    """'passed', or the reason of the failure. None for a case that this library need not pass."""
    for _ in range(1 if library.is_ours else conformance_fuzz.ORACLE_TRIES):
        result = verdict_of_one_run(variant, library, case, limit, wrapper)
        if result in (None, "passed"):
            break
    return result


def verdict_of_one_run(variant, library, case, limit, wrapper):
    if case.name in NOT_UNDER.get(variant.sanitizer, ()):
        return None
    # A process that a fault stops does not free its memory.
    if wrapper is MEMCHECK and (case.name in NOT_UNDER_MEMCHECK or case.kind.startswith("stops")):
        return None
    if wrapper is EMULATOR and case.name in NOT_UNDER_EMULATOR:
        return None
    if "beyond" in case.kind and not library.is_ours:
        return None
    # A process group of its own, so that the children of a case that hangs end with it.
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            [*wrapper, variant.program, case.name], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=errors, env=library.environment, start_new_session=True)
        try:
            status = child.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    if status is None:
        return f"not done after {limit} s. {text.strip()}"
    if case.kind.startswith("stops"):
        return verdict_on_stop(library, case, status, text)
    if status == 0:
        return "passed"
    how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit {status}"
    return f"{how}: {text.strip()}"


def verdict_on_stop(library, case, status, text):
    if status >= 0 or -status not in STOPS:
        return f"continued, and ended with {status}. {text.strip()}"
    if not library.is_ours:
        return "passed"
    lacking = [word for word in [MESSAGE] + case.text.split("|") if word not in text]
    return f"the message lacks {lacking}: {text.strip()}" if lacking else "passed"


def run_all(variants, library, pattern, limit, jobs, wrapper):
    """Results by case name, then by variant."""
    results, kinds = {}, {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = {}
        for variant in variants:
            for case in cases_of(variant, library, wrapper):
                if re.search(pattern, case.name):
                    kinds[case.name] = case
                    waiting[pool.submit(verdict, variant, library, case, limit, wrapper)] = (case, variant)
        for future in concurrent.futures.as_completed(waiting):
            case, variant = waiting[future]
            results.setdefault(case.name, {})[variant.name] = future.result()
    return results, kinds


def print_table(library, variants, results, kinds):
    """Prints a line for each case, and the sums. Returns a line for each failure."""
    failures = []
    print(f"\n{library.name}")
    for name in sorted(results):
        marks = []
        for variant in variants:
            result = results[name].get(variant.name)
            marks.append("·" if result is None else "✓" if result == "passed" else "✗")
        kind = "" if kinds[name].kind == "case" else f"  [{kinds[name].kind}]"
        print(f"  {' '.join(marks)}  {name}{kind}")
        for variant in variants:
            result = results[name].get(variant.name)
            if result not in (None, "passed"):
                lacking = library.is_ours and LACKING.get(name)
                known = f"LACKING, {lacking}; " if lacking else ""
                print(f"      {variant.name}: {known}{result}")
                if not lacking:
                    failures.append(f"{name} on {library.name}, {variant.name}: {result}")
    for variant in variants:
        mine = [results[n][variant.name] for n in results if variant.name in results[n]]
        passed, skipped = mine.count("passed"), mine.count(None)
        print(f"  {variant.name}: {passed} passed, {len(mine) - passed - skipped} failed, "
              f"{skipped} beyond this library or emulator")
    return failures


def print_reach(variants):
    """Prints the public functions of the list that no case calls. There must be none."""
    called = set()
    for variant in variants:
        called |= set(re.findall(r" U (\w+)", run(["nm", "-D", variant.program])))
    public = {s[0] for s in conformance_headers.symbols() if s[1:3] == ["public", "function"]}
    exported = {s[0] for s in conformance_headers.symbols() if s[2] == "function"}
    print(f"\ncalled by the suite: {len(called & public)} of {len(public)} public functions, "
          f"{len(called & exported)} of {len(exported)} exported ones")
    if public - called and len(variants) == 4:
        sys.exit(f"conformance: no case calls {' '.join(sorted(public - called))}")


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/dev conformance", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--ours", metavar="FOLDER", help="also run on the drop-in libdispatch.so in this folder: .build-dropin/release")
    parser.add_argument("--only-ours", action="store_true", help="not on the toolchain's library")
    parser.add_argument("--no-headers", action="store_true", help="not the headers")
    parser.add_argument("--filter", default="", metavar="REGEX", help="cases whose name matches")
    parser.add_argument("--fuzz", type=float, default=0, metavar="SECONDS",
                        help="random programs, on each library; first, that they notice faults")
    parser.add_argument("--seed", type=int, default=1, help="of the first random program")
    parser.add_argument("--sanitize", choices=("thread", "address", "undefined"),
                        help="the cases alone, built by clang with this sanitizer")
    parser.add_argument("--memcheck", action="store_true",
                        help="the cases alone, built by clang, under valgrind's memcheck")
    parser.add_argument("--arm64", action="store_true",
                        help="the cases alone, built by clang, in an emulator (scripts/dev arm64)")
    parser.add_argument("--limit", type=int, default=60, metavar="SECONDS", help="for each case")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2))
    parser.add_argument("--variant", default="", metavar="REGEX", help="compilers and headers")
    options = parser.parse_args()

    if options.arm64 and not os.path.exists(EMULATOR[0]):
        sys.exit("conformance: there is no emulator: scripts/dev arm64 fetches it")
    toolchain = Toolchain(options.arm64)
    wrapper = MEMCHECK if options.memcheck else EMULATOR if options.arm64 else ()
    libraries = []
    if not options.only_ours:
        libraries.append(
            Library("the toolchain's library", toolchain.libraries, False, toolchain))
    if options.ours:
        folder = os.path.abspath(options.ours)
        if not os.path.exists(os.path.join(folder, "libdispatch.so")):
            sys.exit(f"conformance: there is no libdispatch.so in {folder}")
        libraries.append(Library(f"the library in {options.ours}", folder, True, toolchain))
    variants = [Variant(c, h) for c in ("clang", "gcc") for h in ("ours", "peer")]
    if options.sanitize:
        variants = [Variant("clang", "ours", options.sanitize)]
    if options.memcheck or options.arm64:
        variants = [Variant("clang", "ours")]
    if options.memcheck:
        options.limit = max(options.limit, 300)
        for library in libraries:
            library.environment.setdefault("LIFETIME_ROUNDS", "9")
            library.environment.setdefault("GRANDCENTRAL_DEADLINE", "200")
    variants = [v for v in variants if re.search(options.variant, v.name)]

    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            failures = []
            if not options.no_headers:
                failures += conformance_headers.check(toolchain, folder, pool)
            list(pool.map(lambda variant: variant.build(toolchain, folder), variants))
            if options.fuzz:
                fuzzer = conformance_fuzz.Fuzzer(toolchain, HEADERS, folder, options.limit, run)
                print("\nfaults that random programs must notice")
                failures += fuzzer.notices_every_fault(libraries[-1], pool)
                for library in libraries:
                    print(f"\nrandom programs on {library.name}, from seed {options.seed}")
                    failures += fuzzer.run_for(
                        library, options.fuzz, options.seed, pool, options.jobs)
        print_reach(variants)
        for library in libraries:
            results, kinds = run_all(
                variants, library, options.filter, options.limit, options.jobs,
                wrapper)
            failures += print_table(library, variants, results, kinds)
            if not results:
                sys.exit("conformance: no case has such a name")
    if failures:
        # Once more at the end, since the end is what a reader of a long log sees.
        sys.exit("\n".join([f"\nconformance: {len(failures)} failed", *failures]))
    print("conformance: all passed")


if __name__ == "__main__":
    main()
