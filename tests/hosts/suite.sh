#!/bin/sh
# Runs the quick tests on another platform: in Python for Windows under wine, in Debian's for aarch64 under qemu. Tests
# that need another program are skipped; the names of all that are skipped are printed, too.
#
# usage: suite.sh FOLDER PLATFORM EXTENSION [ARGUMENT ...]      PLATFORM: windows-x86_64 or linux-aarch64
#
# Python is kept in FOLDER. The arguments are those of tests/run.py.
set -eu

# These are about the files of this project, or what other programs make of it.
LEFT_OUT='test_bench test_citations test_cluster test_dashboards test_database test_documents test_fault test_fuzz
    test_host test_hosts test_joins test_make test_notebook test_packages test_pages test_platforms test_readers
    test_tree test_unit test_web'

cd "$(dirname "$0")/../.."
folder=$1 platform=$2
TRACEDIFF=$(realpath "$3")
shift 3
case $platform in
windows-x86_64)
    what=windows
    # Windows takes it for a folder of the drive that the tests are run on.
    TMPDIR=$(mktemp -d -p /dev/shm)
    export TMPDIR PYTHONUTF8=1
    trap 'rm -rf "$TMPDIR"' EXIT
    ;;
linux-aarch64)
    what=debian-arm64
    export SLACK="${SLACK:-20}" # qemu takes ten times as long
    ;;
*)
    echo "suite.sh: the tests run on windows-x86_64 and linux-aarch64, not on $platform" >&2
    exit 2
    ;;
esac
sh tests/hosts/foreign.sh "$folder" "$what"
export TRACEDIFF FOREIGN=1 SLOW="${SLOW:-skip}" PYTHONDONTWRITEBYTECODE=1
# shellcheck disable=SC2086 # they are several; wine writes to a pipe, not to a file
"$folder/$what/python" -u tests/run.py "$@" -x $LEFT_OUT 2>&1 </dev/null | sed -u 's/\r$//' | tee "$folder/$what/said"
cat build/skipped.txt
tail -n 1 "$folder/$what/said"
tail -n 1 "$folder/$what/said" | grep -q ' passed, 0 failed, '
