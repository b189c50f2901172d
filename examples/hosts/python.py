#!/usr/bin/python3
"""tracediff in Python's sqlite3.

usage: python.py EXTENSION CONTROL TEST

Trap: Python may have been built without enable_load_extension: pyenv's, and Apple's, are. Use Debian's, or
apsw from PyPI, which brings its own SQLite. Python 3.12 has db.load_extension(path, entrypoint=...), too.
"""
import sqlite3
import sys

extension, control, test = sys.argv[1:]
db = sqlite3.connect(":memory:")
if not hasattr(db, "enable_load_extension"):
    sys.exit(f"{sys.executable} was built without loadable extensions: use Debian's Python, or apsw from PyPI")
db.enable_load_extension(True)
db.execute("SELECT load_extension(?)", (extension,))
db.enable_load_extension(False)  # SQL alone can load nothing from here on

diff = """SELECT format('%+.1f', diff_time), class, trace_short_name(name)
          FROM trace_step_diff(?, ?) LIMIT 3"""
for row in db.execute(diff, (control, test)):
    print("|".join(row))
print(db.execute("SELECT min(ts_ns) FROM trace_events(?)", (test,)).fetchone()[0])
