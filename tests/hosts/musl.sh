#!/bin/sh
# Builds Python for musl on x86_64, which no registry has, from Debian's source of Python 3.11, with SQLite's own and
# the zlib of packages. It has no ssl and no ctypes, which need other libraries. Nothing is installed on this machine.
#
# usage: musl.sh FOLDER CROSS LOADER SQLITE
#
# FOLDER/bin/python3 is what it builds. CROSS is the folder of `make cross`, LOADER that of musl, SQLITE its source.
set -eu

PACKAGE=python3.11
VERSION=3.11.2
SHA256=2411c74bda5bbcfcddaf4531f66d1adc73f247f529aee981b029513aefdbf849
# What pip and the package use of the standard library's modules in C.
MODULES='array|_bisect|_blake2|_contextvars|_csv|_datetime|_heapq|_json|_md5|_opcode|_pickle|_posixsubprocess|_queue'
MODULES="$MODULES|_random|_sha1|_sha256|_sha3|_sha512|_socket|_sqlite3|_statistics|_struct|binascii|cmath|fcntl|grp"
MODULES="$MODULES|math|mmap|pyexpat|resource|select|termios|unicodedata|zlib"

PYTHON=${PYTHON:-/usr/bin/python3}
mkdir -p "$1"
folder=$(cd "$1" && pwd) cross=$(cd "$2" && pwd) loader=$3 sqlite=$(cd "$4" && pwd)
[ ! -x "$folder/bin/python3" ] || exit 0
zig="$cross/zig/bin/python -m ziglang"
compiler="$zig cc -target x86_64-linux-musl"
export ZIG_GLOBAL_CACHE_DIR="$cross/cache"

"$PYTHON" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '${VERSION%.*}')" || {
    echo "Python ${VERSION%.*} is built by another Python ${VERSION%.*}, which $PYTHON is not"
    exit 1
}

# The source of the release, which Debian's patches are for.
fetch() {
    mkdir -p apt/lists/partial apt/archives/partial
    : >apt/status
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >apt/all.list
    sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/*.sources >apt/all.sources 2>/dev/null || :
    for get in update "source --download-only $PACKAGE"; do
        apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$PWD/apt" -o Dir::State="$PWD/apt" \
            -o Dir::State::status="$PWD/apt/status" -o Dir::Cache="$PWD/apt" -o APT::Sandbox::User=root $get >&2 || :
    done
    echo "$SHA256  ${PACKAGE}_$VERSION.orig.tar.gz" | sha256sum --check --quiet >&2 || {
        echo "Debian's registry has no source of $PACKAGE $VERSION"
        exit 1
    }
    mkdir source
    tar xzf "${PACKAGE}_$VERSION.orig.tar.gz" --strip-components=1 -C source
}

compile() {
    $compiler -O1 -w -c -o sqlite3.o "$sqlite/sqlite3.c"
    $compiler -O1 -w -c -o zlib.o "$cross"/zlib/[!g]*.c # zig makes one object of them
    $zig ar rc libraries/libsqlite3.a sqlite3.o
    $zig ar rc libraries/libz.a zlib.o
    # preadv2() and pwritev2() are newer than the oldest musl that a wheel's tag means.
    CC="$compiler -w -dynamic -Wl,--dynamic-linker=$loader" AR="$zig ar" READELF=$(command -v readelf) OPT=-O1 \
        ZLIB_CFLAGS="-I$cross/zlib" ZLIB_LIBS="-L$PWD/libraries -lz" \
        LIBSQLITE3_CFLAGS="-I$sqlite" LIBSQLITE3_LIBS="-L$PWD/libraries -lsqlite3" \
        source/configure -q --prefix="$folder" --host=x86_64-linux-musl --build=x86_64-linux-gnu \
        --with-build-python="$(command -v "$PYTHON")" --without-ensurepip --disable-test-modules \
        --enable-loadable-sqlite-extensions ac_cv_file__dev_ptmx=yes ac_cv_file__dev_ptc=no \
        ac_cv_buggy_getaddrinfo=no ac_cv_func_preadv2=no ac_cv_func_pwritev2=no
    {
        echo '*static*'
        grep -E "^($MODULES) " Modules/Setup.stdlib
    } >Modules/Setup.local
    make -s -j"$(nproc)" python pybuilddir.txt
}

rm -rf "${folder:?}"/*
mkdir -p "$folder/bin" "$folder/lib" "$folder/part/libraries"
cd "$folder/part"
fetch
compile >&2
rm -r source/Lib/test
mv source/Lib "../lib/$PACKAGE"
mkdir "../lib/$PACKAGE/lib-dynload"
mv build/*/_sysconfigdata* "../lib/$PACKAGE"
mv python ../bin/python3
rm -r "$folder/part"
