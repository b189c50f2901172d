#!/bin/sh
# Two runs of many ranks, summarised by a Slurm job array, and merged into one database by a job after it. A second
# array asks the files that the path of the job goes over, and a last job adds their answers.
#
# usage: slurm_array.sh CONTROL TEST SHARDS DATABASE [TASKS [SBATCH_OPTION...]]
#
# CONTROL and TEST are directories of traces. SHARDS is a folder for the shards, and in log for what the jobs print.
# TASKS is the size of the arrays (default 100): each task takes every TASKSth file. Shards and answers that are there
# and whole are kept, so the same line goes on where jobs failed. The nodes see these paths and this checkout.
set -eu

# Runs a command of shards.py on the files of a run that are of this task of the array.
each() { # RUN COMMAND...
    run=$1 number=0
    shift
    words=$#
    for trace in "$run"/*.json "$run"/*.gz; do
        [ -e "$trace" ] || continue
        [ $((number % SLURM_ARRAY_TASK_COUNT)) != "$SLURM_ARRAY_TASK_ID" ] || set -- "$@" "$trace"
        number=$((number + 1))
    done
    [ $# = "$words" ] || "${PYTHON:-/usr/bin/python3}" "$@"
}

case ${1:-} in
    --make | --merge | --ask | --add) # HERE SHARDS DATABASE CONTROL TEST
        stage=$1 here=$2 shards=$3 database=$4 control=$5 test=$6 ;;
esac
case ${1:-} in
    --make)
        each "$control" "$here/shards.py" make control "$shards"
        each "$test" "$here/shards.py" make test "$shards"
        exit ;;
    --ask)
        each "$control" "$here/shards.py" ask "$database" "$shards"
        each "$test" "$here/shards.py" ask "$database" "$shards"
        exit ;;
    --merge | --add)
        exec "${PYTHON:-/usr/bin/python3}" "$here/shards.py" "${stage#--}" "$database" "$shards" ;;
esac

[ $# -ge 4 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd) control=$(cd "$1" && pwd) test=$(cd "$2" && pwd) tasks=${5:-100}
mkdir -p "$3/log" "$(dirname "$4")"
shards=$(cd "$3" && pwd) database=$(cd "$(dirname "$4")" && pwd)/$(basename "$4")
shift $(($# > 5 ? 5 : $#))

# Submits a stage after a job, if there is one.
stage() { # STAGE LOG AFTER [SBATCH_OPTION...]
    stage=$1 log=$2 after=$3
    shift 3
    sbatch --parsable --job-name="tracediff-$stage" --output="$shards/log/$log" \
        ${after:+"--dependency=afterany:${after%%;*}"} \
        "$@" "$here/slurm_array.sh" "--$stage" "$here" "$shards" "$database" "$control" "$test"
}

array=--array=0-$((tasks - 1))
made=$(stage make %A_%a.txt "" "$array" "$@")
merged=$(stage merge %j.txt "$made" "$@")
asked=$(stage ask %A_%a.txt "$merged" "$array" "$@")
added=$(stage add %j.txt "$asked" "$@")
echo "jobs $made to $added: job ${merged%%;*} writes $database, job ${added%%;*} adds the path of the job:" \
    "see $shards/log/${merged%%;*}.txt and ${added%%;*}.txt"
