"""tracediff in apsw, and its rows in pandas.

usage: apsw_pandas.py EXTENSION CONTROL TEST

Traps: a NULL turns a column of integers into float64, which keeps 53 bits: ts_ns loses its last digits. Ask for
"Int64", which has a value for NULL. pandas.read_sql hides apsw's errors: give the rows to DataFrame.
"""
import sys

import apsw
import pandas

extension, control, test = sys.argv[1:]
db = apsw.Connection(":memory:")
db.enable_load_extension(True)
db.load_extension(extension)
db.enable_load_extension(False)

rows = db.execute("SELECT class, trace_short_name(name), diff_time FROM trace_step_diff(?, ?)", (control, test))
diff = pandas.DataFrame(rows, columns=["part", "name", "us"])
for row in diff.head(3).itertuples():
    print(f"{row.us:+.1f}|{row.part}|{row.name}")
events = pandas.DataFrame(db.execute("SELECT name, ts_ns FROM trace_events(?)", (test,)), columns=["name", "ts_ns"])
print(events.ts_ns.astype("Int64").min())
