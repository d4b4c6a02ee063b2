"""Programs that hang or are slow, and the command that looks at them."""
import os
import subprocess
import sys
import time

from libraries import ROOT


def build(*products, configuration="debug"):
    """Builds programs of the package, and returns their folder."""
    for product in products:
        subprocess.run(["swift", "build", "-c", configuration, "--product", product], cwd=ROOT,
                       check=True, stdout=subprocess.DEVNULL)
    return os.path.join(ROOT, ".build", configuration)


class Probe:
    """A probe that has printed its first line; ends with the block."""

    def __init__(self, *command, environment=None):
        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **(environment or {})})
        self.child.stdout.readline()

    def __enter__(self):
        return self.child

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()


def run(*command, environment=None):
    """Runs a command without its messages. Returns what it prints."""
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env={**os.environ, **(environment or {})}).stdout


def first_line(command, *arguments):
    """Runs `dump`; returns its first line."""
    dump = subprocess.run([command, "dump", *arguments], text=True, stdout=subprocess.PIPE,
                          check=False)
    return dump.stdout.partition("\n")[0]


def wait_for_line(command, process, prefix):
    """Dumps until the first line begins as the scene has it."""
    for _ in range(600):
        if first_line(command, str(process), "--stuck-after", "0").startswith(prefix):
            return
        time.sleep(0.1)
    sys.exit(f"the dump never begins with '{prefix}'")


def record(command, file, *program, options=()):
    """Records a probe until it has printed its line. The file is complete afterwards."""
    recorder = subprocess.Popen(
        [command, "record", *options, "-o", file, "--", *program], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    # The probe ends with its input. It must not end before the recorder has found its board.
    recorder.stdout.readline()
    while not os.path.exists(file) or os.path.getsize(file) < 9:
        time.sleep(0.01)
    recorder.stdin.close()
    recorder.wait()
