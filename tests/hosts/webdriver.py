"""Drives Firefox through its Marionette, and GTK's WebKit through WebKitWebDriver on a display of Xvfb, both in
WebDriver and without a network.

    FIREFOX, WEBKIT  the programs (default: firefox-esr or firefox, and WebKitWebDriver, from the PATH)
"""
import base64
import glob
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import browser

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
PREFERENCES = {"marionette.port": 0, "network.proxy.type": 1, "network.proxy.http": "127.0.0.1",
               "network.proxy.http_port": 9, "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9,
               "network.dns.disabled": True, "datareporting.policy.dataSubmissionEnabled": False,
               "browser.shell.checkDefaultBrowser": False}


class Driver:
    """A browser with one tab. Scripts run in the page's own scope, through an element that the page allows."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="tracediff")
        self.processes = []
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
        self.environment.update(HOME=self.profile, XDG_RUNTIME_DIR=self.profile, MOZ_CRASHREPORTER_DISABLE="1")
        try:
            self.begin()
        except BaseException:
            self.close()
            raise

    def run(self, *command, stdout=subprocess.DEVNULL):
        self.processes.append(subprocess.Popen(command, env=self.environment, stdout=stdout, stderr=subprocess.DEVNULL))

    def awaited(self, condition):
        until = time.monotonic() + browser.PATIENCE
        while not (found := condition()):
            if time.monotonic() > until:
                raise RuntimeError("the browser does not start")
            time.sleep(0.05)
        return found

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, path):
        self.navigate(f"file://{path}")
        self.wait("document.readyState === 'complete'")
        return self

    def value(self, script):
        """The result of a script or of its promise."""
        text = self.script("""
            const [script, done] = arguments, element = document.createElement("script");
            element.textContent = `window.told = (async () => (${script}))();`;
            document.head.append(element);
            element.remove();
            window.told.then(value => ({value}), error => ({error: `${error}`})).then(JSON.stringify).then(done);
            """, script)
        answer = json.loads(text)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer.get("value")

    def wait(self, condition):
        until = time.monotonic() + browser.PATIENCE
        while not self.value(condition):
            if time.monotonic() > until:
                raise RuntimeError(f"never true: {condition}; {self.problems()}")
            time.sleep(0.05)

    def problems(self):
        """Requests for anything outside the page."""
        return [name for name in self.value("performance.getEntriesByType('resource').map(entry => entry.name)")
                if not name.startswith(("file:", "data:", "blob:"))]


def start(kind):
    """A browser, or None if it is missing or does not work."""
    try:
        return kind() if kind.program else None
    except (OSError, RuntimeError):
        return None


class Firefox(Driver):
    program = os.environ.get("FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")

    def begin(self):
        with open(os.path.join(self.profile, "user.js"), "w", encoding="ascii") as file:
            file.writelines(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
                            for name, value in PREFERENCES.items())
        self.run(self.program, "--headless", "--marionette", "--no-remote", "--profile", self.profile)
        path = os.path.join(self.profile, "MarionetteActivePort")
        self.awaited(lambda: os.path.exists(path) and os.path.getsize(path))
        with open(path, encoding="ascii") as file:
            self.socket = socket.create_connection(("127.0.0.1", int(file.read())))
        self.stream, self.number = self.socket.makefile("rb"), 0
        self.receive()
        self.call("WebDriver:NewSession", capabilities={})
        self.call("WebDriver:SetTimeouts", script=1000 * browser.PATIENCE)

    def receive(self):
        length = b""
        while not length.endswith(b":"):
            length += self.stream.read(1)
        return json.loads(self.stream.read(int(length[:-1])))

    def call(self, method, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, method, parameters]).encode()
        self.socket.sendall(b"%d:%b" % (len(message), message))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{method}: {error['message']}")
        return result

    def navigate(self, url):
        self.call("WebDriver:Navigate", url=url)

    def script(self, script, *arguments):
        return self.call("WebDriver:ExecuteAsyncScript", script=script, args=arguments)["value"]

    def choose(self, selector, files):
        found = self.call("WebDriver:FindElement", using="css selector", value=selector)["value"]
        self.call("WebDriver:ElementSendKeys", id=found[ELEMENT], text="\n".join(files))

    def press(self, selector):
        found = self.call("WebDriver:FindElement", using="css selector", value=selector)["value"]
        self.call("WebDriver:ElementClick", id=found[ELEMENT])

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("WebDriver:TakeScreenshot", full=False)["value"]))

    def close(self):
        if hasattr(self, "socket"):
            self.stream.close()
            self.socket.close()
        super().close()


class WebKit(Driver):
    program = os.environ.get("WEBKIT") or shutil.which("WebKitWebDriver")

    def begin(self):
        with open(os.path.join(self.profile, "display"), "wb") as file:
            self.run("Xvfb", "-displayfd", "1", "-screen", "0", "1280x1000x24", "-nolisten", "tcp", stdout=file)
        self.environment["DISPLAY"] = ":" + self.awaited(lambda: self.said("display")).strip()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.run(self.program, "--host=127.0.0.1", f"--port={self.port}")
        self.address = f"http://127.0.0.1:{self.port}/"
        self.awaited(self.answers)
        mini, = glob.glob("/usr/lib/*/webkit2gtk-4.1/MiniBrowser")
        self.address += "session/" + self.call("POST", "session", capabilities={"alwaysMatch": {
            "webkitgtk:browserOptions": {"binary": mini, "args": ["--automation"]}}})["sessionId"] + "/"
        self.call("POST", "timeouts", script=1000 * browser.PATIENCE)

    def said(self, name):
        with open(os.path.join(self.profile, name), encoding="ascii") as file:
            return file.read()

    def answers(self):
        try:
            return self.call("GET", "status")
        except OSError:
            return None

    def call(self, method, path, **body):
        request = urllib.request.Request(self.address + path, method=method,
                                         data=json.dumps(body).encode() if method == "POST" else None)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=2 * browser.PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()}") from None

    def navigate(self, url):
        self.call("POST", "url", url=url)

    def script(self, script, *arguments):
        return self.call("POST", "execute/async", script=script, args=arguments)

    def element(self, selector):
        return self.call("POST", "element", using="css selector", value=selector)[ELEMENT]

    def choose(self, selector, files):
        self.call("POST", f"element/{self.element(selector)}/value", text="\n".join(files))

    def press(self, selector):
        self.call("POST", f"element/{self.element(selector)}/click")

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "screenshot")))

    def close(self):
        if "session/" in getattr(self, "address", ""):
            try:
                self.call("DELETE", "")
            except (OSError, RuntimeError):
                pass
        super().close()
