"""Builds the module GrandCentral as scripts/dev build does, so that no verb compiles it again."""
import subprocess
import sys

from libraries import ROOT, command_output


def build(*targets):
    """Builds the targets; the compiler's output goes to standard error. Returns the build's folder."""
    script = f'source {ROOT}/scripts/lib/common.sh; set_build .; printf "%s\\n" "${{build[@]}}"'
    command = ["swift", "build", *command_output("bash", "-c", script).splitlines()]
    for target in targets:
        subprocess.run([*command, "--target", target], check=True, stdout=sys.stderr)
    return command_output(*command, "--show-bin-path").strip()
