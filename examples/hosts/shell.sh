#!/bin/sh
# tracediff in the sqlite3 shell.
# usage: shell.sh EXTENSION CONTROL TEST
#
# Trap: `.load tracediff` does not look into the current directory. Write ./tracediff, or install it as root.
# A shell that was built without .load, such as Apple's, loads no extension at all.
set -eu
quoted() { printf %s "$1" | sed "s/'/''/g; s/^/'/; s/\$/'/"; }

sqlite3 -batch -bail :memory: <<END
.load "$1"
SELECT format('%+.1f', diff_time), class, trace_short_name(name)
FROM trace_step_diff($(quoted "$2"), $(quoted "$3")) LIMIT 3;
SELECT min(ts_ns) FROM trace_events($(quoted "$3"));
END
