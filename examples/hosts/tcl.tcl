#!/usr/bin/tclsh
# tracediff in Tcl.
# usage: tcl.tcl EXTENSION CONTROL TEST
#
# Trap: in braces, $name is a parameter of the query. In double quotes Tcl puts the text into the SQL, and a
# directory called it's breaks it.
package require sqlite3

lassign $argv extension control test
sqlite3 db :memory:
db enable_load_extension 1
db eval {SELECT load_extension($extension)}
db enable_load_extension 0

db eval {
    SELECT format('%+.1f', diff_time) AS us, class, trace_short_name(name) AS name
    FROM trace_step_diff($control, $test) LIMIT 3
} {
    puts "$us|$class|$name"
}
puts [db onecolumn {SELECT min(ts_ns) FROM trace_events($test)}]
