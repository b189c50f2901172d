#!/bin/sh
# Fetches what `make cross` and packages are compiled with.
#
# usage: cross.sh FOLDER WHAT    FOLDER/WHAT is written at the end; the rest is FOLDER/python, and for
#
# sources   zlib/, whose source is in a package of npm, the one of `make web`; isa-l/, whose source is in one of PyPI;
#           include/: their headers, and those of SQLite, which are the same everywhere, from this machine
# compiler  zig/, from PyPI
set -eu

ZIG=ziglang==0.17.1
ZIG_SHA256=ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54 # for Linux on x86_64
ISAL=isal==1.9.1 # has ISA-L 2.32
ISAL_SHA256=d210dca02a689ef2af709d2c62d2daac2e36b5d2fa06e6dc0d023c83fee77e91
ZLIB=zlib-sync@0.1.10 # has zlib 1.3.1
ZLIB_SHA256=bd2180fc18426cf464ecab1321bb31a1af81c36b927a28cdb26c3a56f302f2b6
PYTHON=${PYTHON:-/usr/bin/python3}

mkdir -p "$1"
cd "$1"
[ -x zig/bin/pip ] || "$PYTHON" -m venv zig

pinned() { # REQUIREMENT SHA256: a file of them
    printf '%s --hash=sha256:%s\n' "$1" "$2" >requirement.txt
}

fetch_compiler() {
    echo "  PIP  $ZIG"
    pinned "$ZIG" "$ZIG_SHA256"
    zig/bin/pip install --quiet --no-compile --no-deps --require-hashes --disable-pip-version-check -r requirement.txt
}

fetch_isal() {
    echo "  PIP  $ISAL"
    rm -rf isal isa-l
    pinned "$ISAL" "$ISAL_SHA256"
    zig/bin/pip download --quiet --no-deps --no-binary :all: --require-hashes --disable-pip-version-check -d isal \
        -r requirement.txt
    tar xzf isal/*.tar.gz -C isal
    mv isal/*/src/isal/isa-l .
    rm -r isal
}

fetch_zlib() {
    echo "  NPM  $ZLIB"
    rm -rf zlib
    archive=$(npm pack --silent "$ZLIB")
    echo "$ZLIB_SHA256  $archive" | sha256sum --check --quiet
    tar xzf "$archive" --strip-components=2 package/deps/zlib
    rm "$archive"
}

find_header() { echo "#include <$1>" | cc -E - | sed -n "s|^# 1 \"\(/.*/$1\)\".*|\1|p" | head -n 1; }

if [ "$2" = compiler ]; then
    fetch_compiler
else
    fetch_isal
    fetch_zlib
    rm -rf include
    mkdir -p include/isa-l
    cp isa-l/include/*.h include/isa-l
    cp zlib/zlib.h zlib/zconf.h "$(find_header sqlite3.h)" "$(find_header sqlite3ext.h)" include
fi
: >"$2"
