#!/bin/sh
# Records runs of two programs in turn, for trace_ab: control, test, test, control, control, test, ...
#
#   record_runs.sh RUNS FOLDER CONTROL TEST
#
# RUNS is the number of runs per side: 5 is a good one, 3 the least. FOLDER is made. CONTROL and TEST
# are commands for sh, each of which records a trace of one run into the folder that TRACE_FOLDER
# names, as in
#
#   record_runs.sh 5 runs 'python train.py' 'python train.py --compile'
#
# with torch.profiler.tensorboard_trace_handler(os.environ["TRACE_FOLDER"], use_gzip=True).
#
# The runs are FOLDER/control/01, ... and FOLDER/test/01, ...; FOLDER/runs.csv has their order, start
# (seconds since 1970), length and exit status. The turns keep a machine that grows warm or busy from
# looking like a difference. Run each command once before: first runs compile and fill caches.
#
# Exit status: 0; 1 a command failed or left no trace, and the rest was not run; 2 wrong arguments.
fail() { status=$1; shift; echo "record_runs: $*" >&2; exit "$status"; }

[ $# = 4 ] || fail 2 "usage: record_runs.sh RUNS FOLDER CONTROL TEST"
case $1 in ''|*[!0-9]*|0*) fail 2 "'$1' is not a number of runs";; esac
runs=$1 folder=$2 control=$3 test=$4
[ ! -e "$folder" ] || fail 2 "'$folder' exists: name a new folder"
mkdir -p "$folder" || fail 2 "cannot make '$folder'"
folder=$(cd "$folder" && pwd) || exit 2
echo "number,side,run,start,seconds,status" > "$folder/runs.csv"

# one SIDE: records a run of a side.
one() {
    TRACE_FOLDER=$folder/$1/$(printf %02d "$pair")
    export TRACE_FOLDER
    mkdir -p "$TRACE_FOLDER"
    number=$((number + 1))
    echo "run $number of $((2 * runs)): $1" >&2
    start=$(date +%s)
    sh -c "$2"
    status=$?
    echo "$number,$1,$1/$(printf %02d "$pair"),$start,$(($(date +%s) - start)),$status" >> "$folder/runs.csv"
    [ "$status" = 0 ] || fail 1 "'$2' ended with $status: see $TRACE_FOLDER"
    [ -n "$(ls "$TRACE_FOLDER")" ] || fail 1 "'$2' left nothing in $TRACE_FOLDER, which TRACE_FOLDER names"
}

number=0 pair=0
while [ "$pair" -lt "$runs" ]; do
    pair=$((pair + 1))
    if [ $((pair % 2)) = 1 ]; then
        one control "$control"
        one test "$test"
    else
        one test "$test"
        one control "$control"
    fi
done
