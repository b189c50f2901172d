#!/bin/sh
# Finds what goals of make need and this machine lacks, as Debian calls it.
#
#   CC=gcc PYTHON=python3 SETUP=yes needed.sh GOAL ...
#
# With SETUP it installs all of it at once, as root or with sudo that asks for no password. Otherwise it prints the
# one line that does, and fails. CC, PYTHON, CROSS and QEMU are the programs that make uses; LDFLAGS are those of CROSS.
set -u
goals=" $* "
missing=

# Whether one of the goals is among those named.
for_goals() {
    for goal in "$@"; do
        case $goals in *" $goal "*) return 0 ;; esac
    done
    return 1
}

# lacks PACKAGES COMMAND ...: the packages are missing if the command fails.
lacks() {
    packages=$1
    shift
    "$@" >/dev/null 2>&1 </dev/null || missing="$missing $packages"
}

has() { command -v "$1"; }
compiler=${CC%% *} preprocessor=$CC
has "$compiler" >/dev/null || preprocessor=gcc
has_header() { echo "#include <$1>" | $preprocessor -E -; }
links() { echo 'int main(void) { return 0; }' | $CROSS ${LDFLAGS:-} -x c - "-l$1" -o /dev/null; }
has_fuzzer() { test -e "$(clang -print-runtime-dir)/libclang_rt.fuzzer-$(uname -m).a"; }
has_tcl_sqlite() { echo 'exit [catch {package require sqlite3}]' | tclsh; }
has_odbc() { isql --version && odbcinst -q -d -n SQLite3; }
has_emscripten() { emcc --version && NODE_PATH=${NODE_PATH:-}:/usr/share/nodejs node -e 'require("acorn")'; }
may_install() { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }

# Installs what is missing, or says how to.
install_missing() {
    missing=$(echo $missing)
    [ -n "$missing" ] || return 0
    update="apt-get update -qq" install="apt-get install -y --no-install-recommends $missing" sudo=
    if [ "$(id -u)" = 0 ]; then
        line="$update && $install"
    elif ! command -v sudo >/dev/null; then
        line="su -c '$update && $install'"
    else
        sudo=sudo line="sudo $update && sudo $install"
    fi
    if ! command -v apt-get >/dev/null; then
        echo "Missing, under the names that Debian has for them: $missing"
        exit 1
    elif [ -z "${SETUP:-}" ] || ! may_install; then
        echo "Missing: $missing. Run: $line"
        exit 1
    fi
    echo "Installing $missing"
    $sudo $update && DEBIAN_FRONTEND=noninteractive $sudo $install -qq >/dev/null || exit 1
    missing=
}

# ISA-L is used where it is there: asked for once, and done without where the system does not have it.
install_wanted() {
    if has_header isa-l/igzip_lib.h >/dev/null 2>&1 || [ -e build/asked ] ||
        ! command -v apt-get >/dev/null || ! may_install; then
        return
    fi
    echo "Installing libisal-dev, if there is one"
    mkdir -p build && : > build/asked
    sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    { $sudo apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y --no-install-recommends libisal-dev -qq
    } >/dev/null 2>&1 ||
        echo "  there is none: gzip is decoded by zlib"
}

if for_goals setup-hosts; then # the programs that examples/hosts is tested in
    lacks sqlite3 has sqlite3
    lacks npm has npm
    lacks golang-go has go
    lacks cargo has cargo
    lacks nasm has nasm
    lacks default-jdk-headless has javac
    lacks maven has mvn
    lacks locales has localedef
    lacks python3-venv "$PYTHON" -c 'import ensurepip'
    lacks libdbd-sqlite3-perl perl -MDBD::SQLite -e1
    lacks "tcl libsqlite3-tcl" has_tcl_sqlite
    lacks "php-cli php-sqlite3" php -r 'new SQLite3("");'
    lacks "unixodbc odbcinst libsqliteodbc" has_odbc
    lacks "r-base-core r-cran-rsqlite" Rscript -e 'library(RSQLite)'
    lacks "python3-networkx python3-pandas python3-plotly python3-psutil python3-yaml" \
        "$PYTHON" -c 'import networkx; import pandas; import plotly; import psutil; import yaml'
    lacks slurmctld has slurmctld
    lacks slurmd has slurmd
    lacks slurm-client has sbatch
    lacks munge has munged
    install_missing
    exit
fi

# What builds for other systems.
of_cross="cross platforms suite-windows suite-aarch64 dist wheel npm deb tarball test-packages"

# Compilers, with or without a version, are in the packages of their names.
case $compiler in
    gcc | gcc-[0-9]* | clang | clang-[0-9]*) lacks "$compiler" has "$compiler" ;;
    *) has "$compiler" >/dev/null || { echo "CC=$CC: there is no program $compiler" && exit 1; } ;;
esac
lacks libsqlite3-dev has_header sqlite3ext.h
lacks zlib1g-dev has_header zlib.h
for_goals demo test check sanitize valgrind sqlites bench db pages setup setup-pages && lacks sqlite3 has sqlite3
for_goals $of_cross test check plain sanitize tsan valgrind sqlites bench reference pages setup setup-pages web \
    test-web && lacks python3 has "$PYTHON"
for_goals $of_cross charts pages setup-pages sqlites web test-web && lacks npm has npm
for_goals web test-web && lacks "emscripten node-acorn" has_emscripten
for_goals pages setup-pages test-web && lacks chromium has chromium
for_goals test-web && lacks firefox-esr has firefox-esr
for_goals test-web && lacks "webkit2gtk-driver xvfb" has WebKitWebDriver
for_goals pages setup-pages && lacks python3-plotly "$PYTHON" -c 'import plotly'
for_goals valgrind check && lacks valgrind has valgrind
for_goals strict fuzz check && lacks clang has clang
for_goals aarch64 && lacks gcc-aarch64-linux-gnu has "$CROSS"
for_goals aarch64 && lacks qemu-user-static has "$QEMU"
for_goals aarch64 && lacks zlib1g-dev:arm64 links z
for_goals $of_cross && lacks nasm has nasm
for_goals $of_cross && lacks python3-venv "$PYTHON" -c 'import ensurepip'
for_goals platforms suite-windows && lacks "wine wine64" has wine
for_goals platforms && lacks qemu-user has qemu-aarch64
for_goals suite-aarch64 && lacks qemu-user-static has qemu-aarch64-static
for_goals platforms && lacks libc6-arm64-cross test -d /usr/aarch64-linux-gnu/lib
for_goals platforms && lacks musl test -e /lib/ld-musl-x86_64.so.1
install_missing
[ -z "${SETUP:-}" ] || install_wanted
if for_goals fuzz check; then # clang, which is there now, says which
    lacks "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" has_fuzzer
    install_missing
fi
