#!/bin/sh
# A gate for CI: fails if a step of TEST is slower than one of CONTROL, and prints why.
#
#   gate.sh CONTROL TEST [PERCENT [MS]]
#
# trace_gate decides: it fails if a step is clearly slower, and its mean and its median are both longer by more than
# PERCENT (default 5) and by more than MS (default 0.1). It passes if neither is, clear or not. Else it is not known.
#
# Exit status: 0 pass; 1 fail; 2 not known, or cannot be compared: a trace cannot be read, has no
# steps, or has other ranks, another world size or another device than the other one.
#
# TRACEDIFF names the extension; by default it is that of this checkout, else the installed one.
cannot() { echo "gate: $1" >&2; exit 2; }

number() {
    case $1 in ''|.|*[!0-9.]*|*.*.*) cannot "'$1' is not a number of 0 or more";; esac
}

# An argument as SQL: in hex, so that no character in it means anything.
text() { printf "CAST(x'%s' AS TEXT)" "$(printf %s "$1" | od -An -v -tx1 | tr -d ' \n')"; }

case $# in 2|3|4) ;; *) cannot "usage: gate.sh CONTROL TEST [PERCENT [MS]]";; esac
percent=${3-5} ms=${4-0.1}
number "$percent"
number "$ms"
command -v sqlite3 >/dev/null || cannot "there is no sqlite3: install SQLite's shell"
built=$(dirname -- "$0")/../../dist/tracediff.so
[ -e "$built" ] || built=tracediff
newline='
'
said=$(sqlite3 -batch -bail -init /dev/null -list -noheader :memory: <<SQL
SELECT 1 WHERE load_extension($(text "${TRACEDIFF:-$built}")) NOT NULL;
CREATE TABLE trace AS SELECT $(text "$1") AS base, $(text "$2") AS new;
CREATE TABLE gate AS
SELECT trace.*, g.*, mean_percent NOT NULL AS compares
FROM trace, trace_gate(base, new, $percent) AS g
WHERE least_ms = $ms;
SELECT status FROM gate;
SELECT iif(compares, outcome, 'cannot be compared') || ': ' ||
       iif(compares, printf('%.3f -> %.3f ms per step, mean %+.1f %%, median %+.1f %%'
                            || ' (limits: +$percent %% and +$ms ms)',
                            control_ms, test_ms, mean_percent, median_percent), '') ||
       iif(compares AND reason NOT NULL, ': ', '') || coalesce(reason, '')
FROM gate;
SELECT s.text
FROM gate, trace_summary(base, new, gate.ranks, gate.ranks) AS s
WHERE compares AND (outcome <> 'pass' OR kind = 'caution');
SELECT printf('  %+10.1f us  %-13s %s', cause.diff_time, coalesce(cause.class, cause.kind), cause.text)
FROM gate, trace_verdict(base, new, gate.ranks, gate.ranks) AS v,
     trace_step_causes(base, new, gate.ranks, gate.ranks, control_iterations, test_iterations) AS cause
WHERE outcome = 'fail' AND cause.diff_time <> 0
LIMIT 10;
SQL
) || cannot "no verdict, because of the error above"
printf '%s\n' "${said#*"$newline"}"
exit "${said%%"$newline"*}"
