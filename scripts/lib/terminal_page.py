"""What a program prints in a terminal, as a page of HTML."""
import html
import os
import pty
import re
import struct
import subprocess
import fcntl
import termios

COLORS = {"31": "#ff6b6b", "32": "#69db7c", "33": "#ffd43b"}
STYLE = """
body { margin: 0; background: #0d1117; }
pre { display: inline-block; margin: 0; padding: 14px 18px; color: #e6edf3;
      font: 13px/1.5 'DejaVu Sans Mono', monospace; }
"""


class Terminal:
    """A terminal in which a command runs."""

    def __init__(self, command, columns=120, lines=40):
        self.main, own = pty.openpty()
        fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        self.child = subprocess.Popen(command, stdin=own, stdout=own, stderr=own, env=environment)
        os.close(own)
        self.text = ""

    def read(self):
        """Adds what the command prints next. Returns whether it has not ended."""
        try:
            part = os.read(self.main, 65536)
        except OSError:  # EIO: no process has the terminal open.
            return False
        self.text += part.decode(errors="replace")
        return part != b""

    def read_all(self):
        """Returns what the command prints until it ends."""
        while self.read():
            pass
        self.child.wait()
        os.close(self.main)
        return self.text.replace("\r\n", "\n")


def spans(text):
    """The text as HTML. Understands the colours that the command uses."""
    page = ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if not code:
            page += html.escape(part)
        elif code[1] in ("", "0"):
            page += "</span>"
        else:
            codes = code[1].split(";")
            color = next((COLORS[code] for code in codes if code in COLORS), "inherit")
            weight = "bold" if "1" in codes else "normal"
            page += f'<span style="color: {color}; font-weight: {weight}">'
    return page


def page(command, output):
    """The page: the command behind a prompt, and its output."""
    prompt = f'<span style="color: {COLORS["32"]}">$</span> {html.escape(command)}\n'
    return f'<meta charset="utf-8"><style>{STYLE}</style><pre>{prompt}{spans(output.rstrip())}</pre>'
