"""Drives Chromium without a window, through a pipe of the DevTools protocol.

<https://chromedevtools.github.io/devtools-protocol/>: messages are JSON texts that end with a zero
byte, on the descriptors 3 and 4 of the browser.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# A browser on a busy machine takes seconds for its start; one that is silent for this long hangs.
LIMIT = 180

KEY_CODES = {
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Escape": 27, "Enter": 13,
}


def find():
    """Returns the path of the browser, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Page:
    """A page of a browser of its own. Use it as a context."""

    def __init__(self, width=1280, height=800, dark=False, touch=False, scale=1):
        self.folder = tempfile.mkdtemp(prefix="grandcentral-chromium-")
        out_read, out_write = os.pipe()
        in_read, in_write = os.pipe()
        arguments = [
            find(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
            "--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage",
            "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={self.folder}", f"--window-size={width},{height}", "about:blank",
        ]
        script = f'exec "$@" 3<&{out_read} 4>&{in_write}'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", *arguments], pass_fds=(out_read, in_write),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(out_read)
        os.close(in_write)
        self.output, self.input = out_write, in_read
        self.pending = b""
        self.count = 0
        self.session = None
        self.errors = []
        self.requests = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        self.scale, self.touch = scale, touch
        self.resize(width, height)
        if touch:
            self.call("Emulation.setTouchEmulationEnabled", enabled=True)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(20)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.output)
        os.close(self.input)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        """Returns the next message of the browser."""
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.input], [], [], LIMIT)
            part = os.read(self.input, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("the browser has ended or hangs")
            self.pending += part
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def note(self, message):
        """Keeps errors of the page and the addresses that it asks for."""
        parameters = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def call(self, method, **parameters):
        """Calls a method and returns its result."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def resize(self, width, height):
        """Changes the size of the page. A point of the page has `scale` pixels of the picture."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=self.scale, mobile=self.touch)

    def open(self, path):
        """Opens a file and waits until it is loaded."""
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        begin = time.monotonic()
        while self.evaluate("document.readyState") != "complete":
            if time.monotonic() - begin > LIMIT:
                raise RuntimeError("the page does not load")
            time.sleep(0.02)

    def evaluate(self, expression):
        """Returns the value of an expression; waits for a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def settle(self):
        """Waits until the page has drawn what it was asked for."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def key(self, key):
        """Presses a key."""
        text = key if len(key) == 1 else ""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      windowsVirtualKeyCode=KEY_CODES.get(key, 0),
                      **({"text": text} if kind == "keyDown" and text else {}))
        self.settle()

    def type(self, text):
        """Types a text."""
        for letter in text:
            self.key(letter)

    def mouse(self, kind, x, y, **options):
        """Sends an event of the mouse: mouseMoved, mousePressed, mouseReleased or mouseWheel."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **options)

    def click(self, x, y):
        """Clicks at a point."""
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.settle()

    def drag(self, x, y, to_x, to_y):
        """Drags from one point to another."""
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        for part in range(1, 6):
            self.mouse("mouseMoved", x + (to_x - x) * part / 5, y + (to_y - y) * part / 5,
                       button="left", buttons=1)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)
        self.settle()

    def wheel(self, x, y, by):
        """Turns the wheel at a point."""
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=by)
        self.settle()

    def picture(self, path):
        """Writes a picture of the page."""
        self.settle()
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
