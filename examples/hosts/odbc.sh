#!/bin/sh
# tracediff over unixODBC, with isql and the driver sqliteodbc.
# usage: odbc.sh EXTENSION CONTROL TEST
#
# Traps: the driver says that integers have 32 bits, and programs cut ts_ns, unless BigInt=1. An extension that
# LoadExt cannot load is a line on stderr, and the connection opens without it. SELECT load_extension(...) works
# for whoever may ask SQL. isql ends with status 0 after an error, too.
set -eu
quoted() { printf %s "$1" | sed "s/'/''/g; s/^/'/; s/\$/'/"; }

control=$(quoted "$2") test=$(quoted "$3")
printed=$(isql -v -b -k -d'|' "Driver=SQLite3;Database=:memory:;BigInt=1;LoadExt=$1" 2>&1 <<END
SELECT format('%+.1f', diff_time), class, trace_short_name(name) FROM trace_step_diff($control, $test) LIMIT 3
SELECT min(ts_ns) FROM trace_events($test)
END
)
echo "$printed"
case $printed in *'[ISQL]ERROR'*) exit 1 ;; esac
