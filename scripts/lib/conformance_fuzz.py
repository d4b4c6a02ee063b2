"""Runs random C programs (Tests/CConformance/Fuzz) on a library, with faults that they must detect."""
import os
import re
import subprocess
import time

from libraries import ROOT

SUITE = os.path.join(ROOT, "Tests/CConformance")
FAULTS = os.path.join(SUITE, "Fuzz/Sabotage.c")
# Each program meets most faults many times, so this number shows every fault.
PROGRAMS_FOR_A_FAULT = 20
# Faults that the toolchain's library has itself, so programs for it make no such promise.
BEYOND = {"any width"}
# The toolchain's library shows that a case or program is fair, so one success of three tries is
# enough there: it starves and crashes at times in what polls or ends lifetimes. Ours has one try.
ORACLE_TRIES = 3


class Fuzzer:
    def __init__(self, toolchain, headers, folder, limit, run):
        self.limit = limit
        self.program = os.path.join(folder, "fuzz")
        self.sabotage = os.path.join(folder, "sabotage.so")
        flags = ["clang", "-std=gnu11", "-fblocks", "-g", "-O1", "-Wall", "-Wextra", "-Werror",
                 "-I" + headers]
        run([*flags, SUITE + "/Check.c", SUITE + "/Fuzz/Fuzz.c", "-o", self.program,
             *toolchain.link_flags()])
        run([*flags, "-Wno-unknown-attributes", "-fPIC", "-shared", FAULTS, "-o", self.sabotage,
             "-ldl"])

    def outcome(self, library, seed, fault=None):
        """None if the program kept every promise, otherwise a description of the failure."""
        for _ in range(1 if library.is_ours or fault else ORACLE_TRIES):
            result = self.outcome_of_one_run(library, seed, fault)
            if result is None:
                break
        return result

    def outcome_of_one_run(self, library, seed, fault):
        environment = {**library.environment, "FUZZ_SEED": str(seed)}
        if library.is_ours:
            environment["FUZZ_BEYOND"] = "1"
        if fault:
            # The program detects a fault that makes it wait by its own deadline.
            environment |= {"LD_PRELOAD": self.sabotage, "FUZZ_FAULT": fault,
                            "GRANDCENTRAL_DEADLINE": "2"}
        try:
            done = subprocess.run(
                [self.program, "fuzz"], env=environment, capture_output=True, text=True,
                errors="replace", timeout=self.limit)
        except subprocess.TimeoutExpired:
            return f"not done after {self.limit} s"
        if done.returncode == 0:
            return None
        return f"ended with {done.returncode}: {done.stderr.strip()}"

    def faults(self):
        with open(FAULTS) as file:
            return sorted(set(re.findall(r'breaks\("([^"]+)"\)', file.read())))

    def notices_every_fault(self, library, pool):
        failures = []
        faults = [fault for fault in self.faults() if library.is_ours or fault not in BEYOND]
        outcomes = pool.map(lambda fault: (fault, self.first_notice(library, fault)), faults)
        for fault, seed in outcomes:
            print(f"  {'✓' if seed else '✗'}  {fault}: "
                  + (f"noticed by program {seed}" if seed else "not noticed"))
            if not seed:
                failures.append(f"no random program noticed the fault: {fault}")
        return failures

    def first_notice(self, library, fault):
        return next((seed for seed in range(1, PROGRAMS_FOR_A_FAULT + 1)
                     if self.outcome(library, seed, fault)), None)

    def run_for(self, library, seconds, first_seed, pool, jobs):
        """Runs programs for a time. Returns a line with the seed of each that failed."""
        end, seed, failures = time.monotonic() + seconds, first_seed, []
        while time.monotonic() < end:
            batch = range(seed, seed + 4 * jobs)
            for number, outcome in zip(batch, pool.map(lambda s: self.outcome(library, s), batch)):
                if outcome:
                    failures.append(f"random program on {library.name}, --seed {number}: {outcome}")
                    print(f"  ✗  {failures[-1]}")
            seed = batch.stop
        print(f"  {seed - first_seed} programs, {len(failures)} failed")
        return failures
