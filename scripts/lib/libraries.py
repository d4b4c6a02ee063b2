"""What the Python verbs share: where things are, and how a program runs on either library."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def command_output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def toolchain():
    compiler = os.path.realpath(command_output("sh", "-c", "command -v swiftc").strip())
    return os.path.dirname(os.path.dirname(compiler))


def is_older(path, sources):
    return not os.path.exists(path) or any(
        os.path.getmtime(source) > os.path.getmtime(path) for source in sources)


def environment(folder):
    clean = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
    return {**clean, "LD_LIBRARY_PATH": folder} if folder else clean
