"""Builds the module GrandCentral as scripts/dev build does, so that no verb compiles it again."""
import subprocess
import sys

FLAGS = ["-Xswiftc", "-warnings-as-errors"]


def build(*targets):
    """Builds the targets; the compiler's output goes to standard error. Returns the build's folder."""
    for target in targets:
        subprocess.run(["swift", "build", *FLAGS, "--target", target], check=True, stdout=sys.stderr)
    found = subprocess.run(
        ["swift", "build", *FLAGS, "--show-bin-path"], check=True, text=True, stdout=subprocess.PIPE)
    return found.stdout.strip()
