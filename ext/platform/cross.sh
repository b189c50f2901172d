#!/bin/sh
# Fetches what `make cross` compiles with: zig, from PyPI; the source of zlib, from a package of Cargo;
# the headers of SQLite and ISA-L, which are the same everywhere, from this machine.
#
# usage: cross.sh FOLDER    FOLDER: gets zig/, zlib/, include/ and, at the end, the file ready
set -eu

ZIG=ziglang==0.17.1
ZLIB='libz-sys = "=1.1.22"'
PYTHON=${PYTHON:-/usr/bin/python3}

mkdir -p "$1/include"
cd "$1"
if [ "$(cat zig/done 2>&1)" != "$ZIG" ]; then
    "$PYTHON" -m venv --clear zig
    zig/bin/pip install --quiet --no-compile "$ZIG"
    echo "$ZIG" >zig/done
fi
if [ "$(cat zlib/done 2>&1)" != "$ZLIB" ]; then
    rm -rf zlib crate
    mkdir -p crate/src
    : >crate/src/lib.rs
    printf '[package]\nname = "zlib"\n[dependencies]\n%s\n[workspace]\n' "$ZLIB" >crate/Cargo.toml
    (cd crate && cargo vendor --quiet --no-delete vendor >/dev/null)
    mv crate/vendor/libz-sys/src/zlib zlib
    rm -rf crate
    echo "$ZLIB" >zlib/done
fi
cp zlib/zlib.h zlib/zconf.h include
find_header() { echo "#include <$1>" | cc -E - | sed -n "s|^# 1 \"\(/.*/$1\)\".*|\1|p" | head -n 1; }
for header in sqlite3.h sqlite3ext.h; do
    cp "$(find_header $header)" include
done
rm -rf include/isa-l
isal=$(find_header isa-l/igzip_lib.h 2>&1 || :)
if [ -f "$isal" ]; then cp -R "$(dirname "$isal")" include; fi
: >ready
