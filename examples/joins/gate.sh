#!/bin/sh
# A gate for CI: fails if a step of TEST is slower than one of CONTROL, and prints why.
#
#   gate.sh CONTROL TEST [PERCENT [MS]]
#
# A step is slower if its mean and its median are both longer by more than PERCENT (default 5)
# and by more than MS (default 0.1): one slow step among many fails nothing. The steps are those
# between the first and the last one, of all ranks, so that a slow rank counts for which nobody waits. Why is said of the
# job that the ranks are.
#
# Exit status: 0 not slower; 1 slower; 2 cannot be compared: a trace cannot be read, has no
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
CREATE TABLE trace AS
SELECT 0 AS side, 'control' AS word, $(text "$1") AS path UNION ALL SELECT 1, 'test', $(text "$2");
CREATE TABLE step AS
SELECT trace.side, part.rank, part.iteration, sum(part.time_ns) / 1e6 AS ms,
       max(part.class IN ('host', 'call', 'unrecorded')) AS of_host
FROM trace, trace_step_time(trace.path, 'all', 'steady', 'annotation') AS part
GROUP BY trace.side, part.rank, part.iteration;
CREATE TABLE about AS
SELECT trace.side, trace.word,
       (SELECT count(iteration) FROM step WHERE step.side = trace.side) AS steps,
       (SELECT max(of_host) FROM step WHERE step.side = trace.side) AS of_host,
       (SELECT group_concat(rank) FROM (SELECT DISTINCT rank FROM step WHERE step.side = trace.side ORDER BY rank)) AS ranks,
       (SELECT max(world_size) FROM trace_files(trace.path)) AS world,
       (SELECT group_concat(device) FROM (SELECT DISTINCT device FROM trace_files(trace.path) WHERE rank NOT NULL ORDER BY 1)) AS device
FROM trace;
CREATE TABLE reason AS
SELECT word || ' has no steps: record it with profiler.step()' AS text FROM about WHERE steps = 0
UNION ALL
SELECT text
FROM (SELECT CASE
        WHEN c.ranks IS NOT t.ranks THEN 'other ranks: ' || c.ranks || ' in control, ' || t.ranks || ' in test'
        WHEN c.world <> t.world THEN 'other world sizes: ' || c.world || ' in control, ' || t.world || ' in test'
        WHEN c.of_host <> t.of_host THEN 'only one of them has device work'
        WHEN c.device <> t.device THEN 'other devices: ' || c.device || ' in control, ' || t.device || ' in test' END AS text
      FROM about AS c JOIN about AS t ON c.side = 0 AND t.side = 1 AND c.steps AND t.steps)
WHERE text NOT NULL;
CREATE TABLE length AS
SELECT c.mean AS control, t.mean AS test, min(t.mean - c.mean, t.median - c.median) AS longer,
       min(t.mean / c.mean, t.median / c.median) * 100 - 100 AS percent
FROM (SELECT side, avg(ms) AS mean, trace_quantile(ms, 0.5) AS median FROM step GROUP BY side) AS c
JOIN (SELECT side, avg(ms) AS mean, trace_quantile(ms, 0.5) AS median FROM step GROUP BY side) AS t
  ON c.side = 0 AND t.side = 1;
CREATE TABLE verdict AS
SELECT CASE WHEN EXISTS (SELECT 1 FROM reason) THEN 2
            ELSE (SELECT percent > $percent AND longer > $ms FROM length) END AS status;
SELECT status FROM verdict;
SELECT 'cannot compare: ' || text FROM reason;
SELECT CASE status WHEN 0 THEN 'not slower: ' ELSE 'slower: ' END
       || printf('%.3f -> %.3f ms a step, %+.1f %% (limits: +$percent %% and +$ms ms)', control, test, 100 * test / control - 100)
FROM verdict, length
WHERE status < 2;
SELECT summary.text
FROM verdict, trace AS c, trace AS t, trace_summary(c.path, t.path) AS summary
WHERE c.side = 0 AND t.side = 1 AND status < 2 AND (status = 1 OR summary.kind = 'caution');
SELECT printf('  %+10.1f us  %-13s %s', part.diff_time, part.class, coalesce(trace_short_name(part.name), 'not recorded'))
FROM verdict, trace AS c, trace AS t, trace_step_diff(c.path, t.path) AS part
WHERE c.side = 0 AND t.side = 1 AND status = 1 AND part.diff_time <> 0
LIMIT 10;
SQL
) || cannot "no verdict, because of the error above"
printf '%s\n' "${said#*"$newline"}"
exit "${said%%"$newline"*}"
