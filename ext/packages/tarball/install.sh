#!/bin/sh
# Installs tracediff as `make install` does: install.sh [PREFIX], by default /usr/local.
set -eu
cd "$(dirname "$0")"

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

case "${1-}" in
-h | --help) echo "usage: ./install.sh [PREFIX]    PREFIX: where lib/ and share/ are; default /usr/local" && exit ;;
-*) fail "unknown option '$1'; usage: ./install.sh [PREFIX]" ;;
esac
[ $# -le 1 ] || fail "expected one PREFIX, got $#; usage: ./install.sh [PREFIX]"
prefix=${1-/usr/local}
case "$prefix" in
/*) ;;
*) fail "PREFIX must be an absolute path, not '$prefix'" ;;
esac

machine=$(uname -sm)
[ "$machine" = "Linux @ARCH@" ] || fail "this package is for Linux @ARCH@, not for $machine"
libc=$(getconf GNU_LIBC_VERSION 2>/dev/null) ||
    fail "this package needs glibc @GLIBC@ or newer; this system has another C library"
oldest=$(printf '%s\n' "@GLIBC@" "${libc#glibc }" | sort -V | head -n 1)
[ "$oldest" = "@GLIBC@" ] || fail "this package needs glibc @GLIBC@ or newer, not ${libc#glibc }"
[ -f tracediff.so ] && [ -d sql ] || fail "tracediff.so or sql/ is missing: unpack the whole archive"

share=$prefix/share/tracediff
mkdir -p "$prefix/lib" "$share/shared" "$share/database" "$share/patterns" 2>/dev/null &&
    install -m 755 tracediff.so "$prefix/lib/libtracediff.so" 2>/dev/null &&
    ln -sf libtracediff.so "$prefix/lib/tracediff.so" &&
    install -m 644 sql/*.sql sql/brief.schema.json "$share" &&
    install -m 644 sql/shared/*.sql "$share/shared" &&
    install -m 644 sql/database/*.sql "$share/database" &&
    install -m 644 sql/patterns/*.sql "$share/patterns" || {
    echo "Cannot install into $prefix. For you alone: ./install.sh \$HOME/.local" >&2
    echo "For everyone on this machine, as root: ./install.sh" >&2
    exit 1
}
echo "Installed $prefix/lib/tracediff.so and $share"
PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" != 0 ] || ldconfig
if ldconfig -p 2>/dev/null | grep -qF "=> $prefix/lib/tracediff.so"; then
    echo "In sqlite3: .load tracediff"
else
    load=".load \"$prefix/lib/tracediff\""
    echo "In sqlite3: $load"
    echo "In each sqlite3 that you start: echo '$load' >> ~/.sqliterc"
fi
