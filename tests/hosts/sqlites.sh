#!/bin/sh
# Runs the tests on other versions of SQLite than the system's: the oldest that is
# supported, and new ones. The extension is the one built for the system's. The
# sources, and most of the shells, are in packages of npm; a shell may be that of the version before.
#
# usage: sqlites.sh [FOLDER]    FOLDER: where they are built (default build/sqlite)
#
# CC, PYTHON, and what tests/run.py asks for, are taken from the environment; slow tests run only if SLOW is set.
set -eu
export SLOW="${SLOW:-skip}"

VERSIONS='3.38.2=sqlite3@5.0.3 3.52.0=sqlite3@6.0.1 3.54.1=better-sqlite3@13.2.0'
# what Debian's has and Python's module, Tcl's or the tests may use
FLAGS='-DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_MATH_FUNCTIONS
-DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_UNLOCK_NOTIFY'
CC=${CC:-gcc}
PYTHON=${PYTHON:-/usr/bin/python3}
tests=$(dirname "$0")

build() { # VERSION PACKAGE: into $folder/VERSION, which is there when all is well
    echo "Building SQLite $1, from $2 of npm"
    made=$folder/$1.part
    rm -rf "$made"
    mkdir -p "$made/source"
    (cd "$made/source" && npm pack --silent "$2" >/dev/null && tar -xzf ./*.tgz)
    for archive in "$made"/source/package/deps/sqlite-autoconf-*.tar.gz; do
        if [ -f "$archive" ]; then tar -xzf "$archive" -C "$made/source"; fi
    done
    source=$(dirname "$(find "$made/source" -name sqlite3.c)")
    # shellcheck disable=SC2086 # FLAGS are several words
    $CC -O2 -fPIC $FLAGS -shared -Wl,-soname,libsqlite3.so.0 -o "$made/libsqlite3.so.0" \
        "$source/sqlite3.c" -pthread -ldl -lm
    if [ -f "$source/shell.c" ]; then cp "$source/shell.c" "$folder/shell.c"; fi # else that of the version before
    $CC -O1 -I"$source" -o "$made/sqlite3" -xc - -xnone "$made/libsqlite3.so.0" <"$folder/shell.c"
    rm -rf "$made/source"
    mv "$made" "$folder/$1"
}

mkdir -p "${1:-build/sqlite}"
folder=$(cd "${1:-build/sqlite}" && pwd)
status=0
for each in $VERSIONS; do
    version=${each%%=*}
    if [ ! -d "$folder/$version" ]; then build "$version" "${each#*=}"; fi
    (
        export LD_LIBRARY_PATH="$folder/$version" PATH="$folder/$version:$PATH"
        found=$($PYTHON -c 'import sqlite3; print(sqlite3.sqlite_version)')
        if [ "$found" != "$version" ]; then
            echo "$PYTHON has SQLite $found, not the $version in $LD_LIBRARY_PATH"
            exit 1
        fi
        echo "The tests on SQLite $version:"
        $PYTHON "$tests/run.py"
    ) || status=1
done
exit $status
