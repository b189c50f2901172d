"""Drives a headless Chromium without a network through a pipe, in its DevTools protocol:
https://chromedevtools.github.io/devtools-protocol/

    CHROMIUM  the program (default: chromium, from the PATH)
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
         "--proxy-server=127.0.0.1:9", "--remote-debugging-pipe", "--password-store=basic"]
PATIENCE = 60


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="tracediff")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (theirs_in, theirs_out)]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
        self.process = subprocess.Popen(
            [CHROMIUM, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"], close_fds=False, env=environment,
            preexec_fn=lambda: (os.dup2(theirs[0], 3), os.dup2(theirs[1], 4)),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (theirs_in, theirs_out, *theirs):
            os.close(fd)
        self.reader, self.writer = ours_in, ours_out
        self.pending, self.number, self.events, self.tabs = b"", 0, [], []

    def close(self):
        try:
            self.call("Browser.close")
        except (OSError, RuntimeError):
            self.process.kill()
        self.process.wait()
        os.close(self.reader)
        os.close(self.writer)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, until):
        """The next message; None when it is `until`."""
        while b"\0" not in self.pending:
            if not select.select([self.reader], [], [], max(0, until - time.monotonic()))[0]:
                return None
            read = os.read(self.reader, 1 << 20)
            if not read:
                raise RuntimeError("Chromium has ended")
            self.pending += read
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while (answer := self.receive(until)) is not None:
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)
        raise RuntimeError(f"{method}: no answer")

    def open(self, path, width=1280, height=900, dark=False, mobile=False):
        target = self.tabs.pop() if self.tabs else self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, target, session, path, width, height, dark, mobile)


def start():
    """A browser, or None if the program exists but does not work."""
    made = None
    try:
        made = Browser()
        made.call("Browser.getVersion")
    except (OSError, RuntimeError):
        if made:
            made.close()
        return None
    return made


class Page:
    """A file drawn in a tab."""

    def __init__(self, browser, target, session, path, width, height, dark, mobile):
        self.browser, self.target, self.session = browser, target, session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.bringToFront")  # others are not drawn
        self.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        if mobile:
            self.call("Emulation.setTouchEmulationEnabled", enabled=True)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=f"file://{path}")
        self.wait("document.readyState === 'complete' && "
                  "(!document.querySelector('.library') || !!document.querySelector('[data-drawn]'))")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def value(self, script):
        """The result of a script or of its promise."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait(self, condition):
        until = time.monotonic() + PATIENCE
        while not self.value(condition):
            if time.monotonic() > until:
                raise RuntimeError(f"never true: {condition}; {self.problems()}")
            time.sleep(0.05)

    def problems(self):
        """Messages of the console, failures, and network requests."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            parameters, method = event["params"], event["method"]
            if method == "Runtime.exceptionThrown":
                found.append(json.dumps(parameters["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled":
                found.append(json.dumps(parameters["args"]))
            elif method == "Log.entryAdded":
                found.append(parameters["entry"]["text"])
            elif method == "Page.javascriptDialogOpening":
                found.append(f"dialog: {parameters['message']}")
            elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(
                    ("file:", "data:", "blob:")):
                found.append(parameters["request"]["url"])
        return found

    def choose(self, selector, files):
        """Gives files, or a folder, to an input."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=files)

    def press(self, selector):
        """Presses like a user, which some features require."""
        self.call("Runtime.evaluate", expression=f"document.querySelector({json.dumps(selector)}).click()",
                  userGesture=True)

    def move(self, x, y, kind="mouseMoved", **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, key, code):
        """Presses a key and waits briefly until the page has seen it, because the page may have been left."""
        self.value("void (window.keyed = new Promise(done => addEventListener('keyup', () => setTimeout(done),"
                   " {once: true, capture: true})))")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))
        self.value("Promise.race([window.keyed, new Promise(done => setTimeout(done, 1000))])")

    def screenshot(self, path, whole=True):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        """Leaves the tab to the next page, because a new tab takes twice the time."""
        self.browser.call("Target.detachFromTarget", sessionId=self.session)
        self.browser.tabs.append(self.target)
