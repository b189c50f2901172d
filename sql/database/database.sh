#!/bin/sh
# Writes traces into a database of ordinary tables, for `make db`. to_database.sql lists the tables.
#
# usage: sh database.sh CONTROL TEST OUT [ARGS [CONTROL_MEMORY TEST_MEMORY]]
#
# TRACEDIFF names the extension, by default dist/tracediff.so. CONTROL or TEST may be empty. The last two are allocator
# snapshots (memory.sql). A rename replaces OUT once the new file is complete and on the disk; until then OUT stays
# unchanged. A killed run leaves a directory OUT.XXXXXX.
set -eu

fail() {
    printf '%s\n' "$1" >&2
    exit 1
}

usage='make db CONTROL=traces/a TEST=traces/b OUT=perf.db    one of CONTROL and TEST is enough; ARGS=yes keeps args'
control=${1:-} test=${2:-} out=${3:-} args=${4:-no} control_memory=${5:-} test_memory=${6:-}
[ -n "$control$test" ] || fail "Which traces? $usage"
[ -n "$out" ] || fail "Which file shall be written? $usage"
case $args in
    yes) args=1 ;;
    no) args=0 ;;
    *) fail "ARGS is yes or no, not '$args'. $usage" ;;
esac
case $out in /*) ;; *) out=./$out ;; esac
named=$out
[ ! -L "$out" ] || out=$(readlink -f "$out")
[ ! -d "$out" ] || fail "OUT='$out' is a directory: name the file"
if [ -s "$out" ] && [ "$(head -c 15 "$out" | tr -d '\0')" != 'SQLite format 3' ]; then
    fail "OUT='$out' exists and is not a database: it stays as it is"
fi
# SQLite would apply them to the new file.
for left in "$out-wal" "$out-journal"; do
    [ ! -s "$left" ] || fail "'$left' says that a program is writing to '$out': close it first"
done

here=$(dirname "$0")
new=$(mktemp -d "$out.XXXXXX") || fail "Cannot write beside OUT='$out'"
trap 'rm -rf "$new"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Quotes any text as an SQL string.
quoted() {
    printf "CAST(X'%s' AS TEXT)" "$(printf %s "$1" | od -An -v -tx1 | tr -d ' \n')"
}

side() {
    [ -z "$2" ] || echo "INSERT INTO temp.input VALUES ('$1', $(quoted "$2"), $args);"
}

snapshots() {
    [ -z "$2" ] || echo "INSERT INTO temp.memory_input VALUES ('$1', $(quoted "$2"));"
}

# Nobody sees the file before it is complete, so it needs no journal.
{
    echo "SELECT load_extension($(quoted "${TRACEDIFF:-$here/../../dist/tracediff.so}"));"
    echo "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
    echo "CREATE TEMP TABLE input (side TEXT, path TEXT, with_args INTEGER);"
    side control "$control"
    side test "$test"
    echo "BEGIN;"
    cat "$here/tables.sql" "$here/summaries.sql" "$here/to_database.sql" \
        "$here/diffs.sql" "$here/views.sql"
    if [ -n "$control_memory$test_memory" ]; then
        echo "CREATE TEMP TABLE memory_input (side TEXT, path TEXT);"
        snapshots control "$control_memory"
        snapshots test "$test_memory"
        cat "$here/memory.sql"
    fi
    echo "COMMIT;"
} > "$new/sql"
sqlite3 -batch -bail -init /dev/null "$new/db" < "$new/sql" > /dev/null
sync "$new/db"
mv -fT "$new/db" "$out"
sync "$(dirname "$out")"
printf "Wrote %s\nList its tables: sqlite3 '%s' .tables\n" "$named" "$(printf %s "$named" | sed "s/'/'\\\\''/g")"
