#!/bin/sh
# Two runs of many ranks, summarised by a Slurm job array, and merged into one database by a job after it.
#
# usage: slurm_array.sh CONTROL TEST SHARDS DATABASE [TASKS [SBATCH_OPTION...]]
#
# CONTROL and TEST are directories of traces. SHARDS is a folder for the shards, and in log for what the jobs print.
# TASKS is the size of the array (default 100): each task takes every TASKSth file. Shards that are there and whole are
# kept, so the same line goes on where jobs failed. The nodes see these paths and this checkout.
set -eu

# The shards of a side that are of this task of the array.
part() {
    here=$1 shards=$2 side=$3 run=$4 number=0
    set --
    for trace in "$run"/*.json "$run"/*.gz; do
        [ -e "$trace" ] || continue
        [ $((number % SLURM_ARRAY_TASK_COUNT)) != "$SLURM_ARRAY_TASK_ID" ] || set -- "$@" "$trace"
        number=$((number + 1))
    done
    [ $# = 0 ] || "${PYTHON:-/usr/bin/python3}" "$here/shards.py" make "$side" "$shards" "$@"
}

case ${1:-} in
    --part) # HERE SHARDS CONTROL TEST
        part "$2" "$3" control "$4"
        part "$2" "$3" test "$5"
        exit ;;
    --merge) # HERE SHARDS DATABASE
        exec "${PYTHON:-/usr/bin/python3}" "$2/shards.py" merge "$4" "$3" ;;
esac

[ $# -ge 4 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) control=$(cd "$1" && pwd) test=$(cd "$2" && pwd) tasks=${5:-100}
mkdir -p "$3/log" "$(dirname "$4")"
shards=$(cd "$3" && pwd) database=$(cd "$(dirname "$4")" && pwd)/$(basename "$4")
shift $(($# > 5 ? 5 : $#))
array=$(sbatch --parsable --job-name=tracediff --array=0-$((tasks - 1)) --output="$shards/log/%A_%a.txt" "$@" \
    "$here/slurm_array.sh" --part "$here" "$shards" "$control" "$test")
merge=$(sbatch --parsable --job-name=tracediff-merge --dependency="afterany:${array%%;*}" --output="$shards/log/%j.txt" "$@" \
    "$here/slurm_array.sh" --merge "$here" "$shards" "$database")
echo "array job $array, then job $merge writes $database: see $shards/log/${merge%%;*}.txt"
