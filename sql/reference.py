#!/usr/bin/python3
"""Writes the reference into sql/README.md, from tracediff_help: the functions by family, then a page of each.

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
