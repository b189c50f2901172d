#!/usr/bin/python3
"""Writes REFERENCE.md from tracediff_help: the functions by family, then the help page of each one.

usage: reference.py [--check]      --check: exit 1 if REFERENCE.md is out of date; write nothing

TRACEDIFF  the extension to ask (default dist/tracediff.so)
"""
import os
import sqlite3
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = os.path.join(HERE, "REFERENCE.md")
EXTENSION = os.environ.get("TRACEDIFF") or os.path.join(os.path.dirname(HERE), "dist", "tracediff.so")
HEAD = """# Reference

<!-- `make reference` writes this file from the help texts. Do not edit it. -->

Every function with the question that it answers, then its help page: arguments with their defaults, columns with their
units, and an example that runs. The [guide](README.md) explains the arguments that many functions share.
"""


def reference():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?)", (EXTENSION,))
    lists, pages, last = [], [], None
    for family, question, name, page in db.execute("SELECT family, question, name, text FROM tracediff_help"):
        if family != last:
            lists.append(f"\n**{family}**\n\n| question | function |\n|---|---|\n")
        lists.append(f"| {question} | [`{name}`](#{name}) |\n")
        pages.append(f"\n### {name}\n\n```text\n{page}\n```\n")
        last = family
    return "".join([HEAD, *lists, *pages])


def main(check):
    written = reference()
    if not check:
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(written)
        return 0
    with open(DOCUMENT, encoding="utf-8") as file:
        found = file.read()
    return 0 if written == found else f"{DOCUMENT} differs from tracediff_help: run `make reference`"


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
