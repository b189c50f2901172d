#!/usr/bin/python3
"""Writes the reference of every function into sql/README.md, from tracediff_help.

usage: reference.py [--check]      --check: exit 1 if the reference there is not this one

TRACEDIFF  the extension to ask (default dist/tracediff.so). What is outside the two marks stays.
"""
import os
import re
import sqlite3
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = os.path.join(HERE, "README.md")
EXTENSION = os.environ.get("TRACEDIFF") or os.path.join(os.path.dirname(HERE), "dist", "tracediff.so")
BEGIN = "<!-- Written by `make reference` from here on. -->\n"
END = "<!-- Up to here. -->\n"
KINDS = {"table": "Table functions", "scalar": "Scalar functions", "aggregate": "Aggregates"}


def reference():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?)", (EXTENSION,))
    functions = db.execute("SELECT function, kind, description FROM tracediff_help WHERE part = 'function'").fetchall()
    lists, pages = [], []
    for kind, heading in KINDS.items():
        lists += [f"\n{heading}:\n\n| function | gives |\n|---|---|\n"]
        for name, _, text in (function for function in functions if function[1] == kind):
            lists.append(f"| [`{name}`](#{name}) | {text} |\n")
            page = "\n".join(line.rstrip() for line, in db.execute("SELECT text FROM tracediff_help(?)", (name,)))
            pages.append(f"\n### {name}\n\n```text\n{page}\n```\n")
    return "".join(lists + pages) + "\n"


def main(check):
    with open(DOCUMENT, encoding="utf-8") as file:
        found = file.read()
    written = re.sub(f"(?s)(?<={re.escape(BEGIN)}).*(?={re.escape(END)})", lambda _: reference(), found)
    if check:
        return 0 if written == found else f"{DOCUMENT} is not what tracediff_help says: run `make reference`"
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(written)
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
