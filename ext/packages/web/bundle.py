"""Writes the page: `bundle.py PAGE COMPILED EXAMPLES...`, where COMPILED is the path of .js and .wasm without these."""
import base64
import gzip
import json
import os
import sys

page, compiled, *examples = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def base64_of(data):
    return base64.b64encode(data).decode("ascii")


def source(name):
    return text(os.path.join(here, name))


with open(compiled + ".wasm", "rb") as file:
    data = {"binary": base64_of(gzip.compress(file.read(), 9, mtime=0)), "examples": {"control": [], "test": []}}
for path in sorted(examples):
    with open(path, "rb") as file:
        side = os.path.basename(os.path.dirname(path))
        data["examples"][side].append({"name": os.path.basename(path), "base64": base64_of(file.read())})
worker = text(compiled + ".js") + source("worker.js")
if "</script" in worker.lower() or "</script" in source("page.js").lower():
    sys.exit("a script would end the element that it is in")
html = source("page.html")
for place, what in (("page.css", source("page.css")), ("data", json.dumps(data)), ("worker", worker),
                    ("page", source("page.js"))):
    html = html.replace(f"/*{place}*/", what)
with open(page, "w", encoding="utf-8") as file:
    file.write(html)
