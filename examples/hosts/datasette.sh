#!/bin/sh
# tracediff in Datasette: the diff as a table, and of tracediff the functions that read no file.
# usage: datasette.sh EXTENSION CONTROL TEST
#
# Traps: Datasette runs the SQL of whoever reaches it; with the default entry point, that reads files of this
# machine. Name sqlite3_tracediff_nofs_init. Datasette 0.65.2 left load_extension() open to them: use 0.65.5.
set -eu
quoted() { printf %s "$1" | sed "s/'/''/g; s/^/'/; s/\$/'/"; }
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

sqlite3 -bail "$folder/perf.db" <<END
.load "$1"
CREATE TABLE changes AS SELECT * FROM trace_step_diff($(quoted "$2"), $(quoted "$3"));
CREATE TABLE started AS SELECT min(ts_ns) AS ns FROM trace_events($(quoted "$3"));
END

# Of one column. `datasette perf.db --load-extension ...` without --get serves pages, and these answers as JSON.
ask() {
    encoded=$(printf %s "$2" | python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.stdin.read()))')
    datasette "$folder/perf.db" --load-extension "$1:sqlite3_tracediff_nofs_init" \
        --get "/perf.json?_shape=arrayfirst&sql=$encoded" |
        python3 -c 'import json, sys; print(*json.load(sys.stdin), sep="\n")'
}
ask "$1" "SELECT line FROM (SELECT format('%+.1f|%s|%s', diff_time, class, trace_short_name(name)) AS line
          FROM changes LIMIT 3) UNION ALL SELECT ns FROM started"
