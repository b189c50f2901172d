#!/bin/sh
# Builds SQLite's shell for the platforms that run here: Windows under wine, aarch64 under qemu, musl by its own
# loader. The compiler is that of `make cross`, the source of SQLite is in a package of npm.
#
# usage: platforms.sh FOLDER CROSS    FOLDER: where they are kept; CROSS: the folder of `make cross`
#
# FOLDER/PLATFORM/sqlite3  runs the shell of a platform
set -eu

PACKAGE=sqlite3@6.0.1
FLAGS='-O1 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_THREADSAFE=1'

mkdir -p "$1"
folder=$(cd "$1" && pwd)
cross=$(cd "$2" && pwd)
export ZIG_GLOBAL_CACHE_DIR="$cross/cache"
cd "$folder"

if [ ! -d source ]; then
    mkdir -p part
    (cd part && npm pack --silent "$PACKAGE" >/dev/null && tar -xzf ./*.tgz &&
        tar -xzf package/deps/sqlite-autoconf-*.tar.gz)
    mv part/sqlite-autoconf-* source
    rm -rf part
fi

build() { # PLATFORM TARGET RUNNER FLAG ...
    platform=$1 target=$2 runner=$3
    shift 3
    [ ! -x "$platform/sqlite3" ] || return 0
    echo "  ZIG  sqlite3 of $platform"
    mkdir -p "$platform"
    # shellcheck disable=SC2086 # FLAGS are several words
    "$cross/zig/bin/python" -m ziglang cc -target "$target" $FLAGS "$@" -Isource -o "$platform/shell.exe" \
        source/shell.c source/sqlite3.c
    printf '#!/bin/sh\nexec %s %s "$@"\n' "$runner" "$folder/$platform/shell.exe" >"$platform/part"
    chmod +x "$platform/part"
    mv "$platform/part" "$platform/sqlite3"
}

wine="env WINEPREFIX=$folder/wine WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml= DISPLAY= wine"
build linux-x86_64 x86_64-linux-gnu.2.17 ''
build linux-aarch64 aarch64-linux-gnu.2.17 'qemu-aarch64 -L /usr/aarch64-linux-gnu'
build musl-x86_64 x86_64-linux-musl '' -dynamic
build windows-x86_64 x86_64-windows-gnu "$wine" -municode
[ -d wine/drive_c ] || $wine wineboot --init >/dev/null 2>&1
