"""Checks the C headers: that every supported compiler and language can use them, and that they
declare all that the peer's declare."""
import os
import re
import subprocess

from libraries import ROOT

FOLDER = os.path.join(ROOT, "Tests/CConformance/Headers")
INCLUDE = os.path.join(ROOT, "Sources/CDispatch/include")
SYMBOLS = os.path.join(ROOT, "Tests/ParityTests/Lists/c-dispatch-linux.tsv")
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
C = ["c99", "gnu99", "c11", "c17", "gnu17", "c2x"]
CXX = ["c++11", "c++14", "c++17", "gnu++17", "c++20"]
COMPILERS = [  # program, flags, standards, source
    ("clang", ["-fblocks"], C, "Usability.c"),
    ("clang", [], C, "Usability.c"),
    ("gcc", [], C, "Usability.c"),
    ("clang++", ["-fblocks"], CXX, "Usability.cpp"),
    ("clang++", [], CXX, "Usability.cpp"),
    ("g++", [], CXX, "Usability.cpp"),
]
# Names that only the peer's headers need: include guards, and names for systems but Linux.
PEERS_OWN = re.compile(
    r"__DISPATCH_\w+__$|_dispatch_object_validate|DISPATCH_SOURCE_TYPE_DECL_|DISPATCH_WINDOWS")


class Failure(Exception):
    pass


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **more)
    if done.returncode:
        raise Failure(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def all_headers():
    for folder in ("dispatch", "os", "sys"):
        for name in sorted(os.listdir(os.path.join(INCLUDE, folder))):
            yield f"{folder}/{name}"


def usable(compiler, flags, standard, source, toolchain, scratch):
    """Checks that the program compiles without a warning, and succeeds on the peer's library."""
    program = os.path.join(scratch, f"{compiler}{''.join(flags)}-{standard}")
    run([compiler, f"-std={standard}", *flags, *STRICT, "-I" + INCLUDE,
         os.path.join(FOLDER, source), "-o", program, *toolchain.link_flags()])
    run([program], env={**os.environ, "LD_LIBRARY_PATH": toolchain.libraries})


def alone(header, scratch):
    """Checks that a header compiles without another before it."""
    path = os.path.join(scratch, header.replace("/", "-") + ".c")
    with open(path, "w") as file:
        file.write(f"#include <{header}>\n#include <{header}>\ntypedef int not_empty;\n")
    for compiler in (["clang", "-fblocks", "-std=c99"], ["gcc", "-std=c99"], ["g++", "-xc++"]):
        run([*compiler, *STRICT, "-I" + INCLUDE, "-fsyntax-only", path])


def symbols():
    with open(SYMBOLS) as file:
        for line in file:
            if not line.startswith("#"):
                yield line.rstrip("\n").split("\t")


def declarations(scratch):
    """Checks that every public name of the list is declared, functions with the list's types."""
    macros = set(defined(["-I" + INCLUDE]))
    lines = ["#include <dispatch/dispatch.h>", "#undef dispatch_once", "#undef dispatch_once_f"]
    count = 0
    for name, visibility, kind, _, type_ in symbols():
        if visibility != "public":
            continue
        count += 1
        if kind == "function":
            for said, meant in (("DISPATCH_RETURNS_RETAINED_BLOCK", ""),
                                ("struct __va_list_tag *", "va_list"),
                                ("__attribute__((noreturn))", "")):
                type_ = type_.replace(said, meant)
            lines.append(
                f"_Static_assert(__builtin_types_compatible_p(__typeof__({name}), "
                f'__typeof__({type_})), "{name}");')
        elif name not in macros and "_mach_" not in name:
            lines.append(f"_Static_assert(sizeof(&{name}) == sizeof(void *), \"{name}\");")
    if count < 100:
        raise Failure(f"the list of symbols has {count} public ones: that cannot be")
    path = os.path.join(scratch, "declarations.c")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    run(["clang", "-std=gnu17", "-fblocks", "-I" + INCLUDE, "-fsyntax-only", path])
    return f"{count} declarations"


def defined(flags):
    text = run(["clang", "-std=gnu17", "-fblocks", *flags, "-E", "-dM",
                "-include", "dispatch/dispatch.h", "-x", "c", os.devnull])
    for line in text.splitlines():
        yield re.match(r"#define (\w+)", line).group(1)


def macros(toolchain):
    """Checks that our headers define every macro of the peer's that a client may use."""
    ours = set(defined(["-I" + INCLUDE]))
    peers = set(defined(["-isystem", toolchain.resources]))
    wanted = {
        name for name in peers
        if re.match(r"DISPATCH_|dispatch_|OS_|os_|API_|[NU]SEC_PER_", name)
        and not PEERS_OWN.match(name)}
    if len(wanted) < 100:
        raise Failure(f"the peer's headers have {len(wanted)} macros: that cannot be")
    if wanted - ours:
        raise Failure(f"macros that our headers lack: {' '.join(sorted(wanted - ours))}")
    return f"{len(wanted)} macros"


def constants(toolchain, scratch):
    """Checks that values, sizes and signs equal the peer's."""
    count = 0
    for compiler, flags in (("clang", ["-fblocks"]), ("clang", []), ("gcc", [])):
        outputs = []
        for headers in ("ours", "peer"):
            program = os.path.join(scratch, "constants")
            run([compiler, "-std=gnu11", *flags, *toolchain.header_flags(headers, compiler),
                 os.path.join(FOLDER, "Constants.c"), "-o", program])
            outputs.append(run([program]).splitlines())
        differences = [f"{ours}   peer: {peer}" for ours, peer in zip(*outputs) if ours != peer]
        if differences or len(outputs[0]) != len(outputs[1]):
            raise Failure("\n".join(differences) or "the outputs have different lengths")
        count = max(count, len(outputs[0]))
    return f"{count} constants and types"


def swift_import(toolchain, scratch):
    program = os.path.join(scratch, "import")
    run(["swiftc", "-swift-version", "6", "-I", INCLUDE, os.path.join(FOLDER, "Import.swift"),
         "-o", program], cwd=scratch)
    run([program], env={**os.environ, "LD_LIBRARY_PATH": toolchain.libraries})


def check(toolchain, scratch, pool):
    """Prints a line for each check. Returns a line for each failure."""
    checks = [
        (f"{compiler} {' '.join(flags + [standard])}".replace("  ", " "), usable,
         (compiler, flags, standard, source, toolchain, scratch))
        for compiler, flags, standards, source in COMPILERS for standard in standards]
    checks += [(f"{header} alone", alone, (header, scratch)) for header in all_headers()]
    checks += [
        ("declared as the list says", declarations, (scratch,)),
        ("macros of the peer's headers", macros, (toolchain,)),
        ("values of the peer's headers", constants, (toolchain, scratch)),
        ("imported by Swift", swift_import, (toolchain, scratch))]
    print("headers")
    failures = []
    waiting = [(name, pool.submit(function, *arguments)) for name, function, arguments in checks]
    for name, future in waiting:
        try:
            detail = future.result()
            print(f"  ✓  {name}" + (f": {detail}" if detail else ""))
        except (Failure, subprocess.TimeoutExpired) as failure:
            failures.append(f"header check {name}: {failure}")
            print(f"  ✗  {name}\n{failure}")
    return failures
