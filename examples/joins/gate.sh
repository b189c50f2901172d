#!/bin/sh
# A gate for CI: fails if a step of TEST is slower than one of CONTROL, and prints why.
#
#   gate.sh CONTROL TEST [PERCENT [MS]]
#
# It fails if trace_summary says that a step is clearly slower, and its mean and its median are both longer by more than
# PERCENT (default 5) and by more than MS (default 0.1). It passes if neither is, clear or not. Else it is not known.
# Steps are those of trace_verdict: between the first and the last one, without outliers, of the job that the ranks are.
# Where no collective ties the clocks of some ranks, there is no path over them: then they are those of all ranks, which
# differ among each other, so only the limits count.
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
CREATE TABLE trace AS
SELECT 0 AS side, 'control' AS word, $(text "$1") AS path UNION ALL SELECT 1, 'test', $(text "$2");
CREATE TABLE about AS
SELECT trace.side, trace.word, (SELECT count(*) FROM trace_steps(trace.path)) AS steps,
       (SELECT group_concat(rank)
        FROM (SELECT DISTINCT rank FROM trace_files(trace.path) WHERE rank NOT NULL ORDER BY rank)) AS ranks,
       (SELECT max(world_size) FROM trace_files(trace.path)) AS world,
       (SELECT group_concat(device)
        FROM (SELECT DISTINCT device FROM trace_files(trace.path) WHERE rank NOT NULL ORDER BY 1)) AS device
FROM trace;
CREATE TABLE asked AS
SELECT CASE WHEN EXISTS (SELECT 1 FROM trace, trace_job_path(trace.path) AS p WHERE p.not_tied > 0)
            THEN 'all' END AS ranks;
CREATE TABLE compared AS
SELECT v.* FROM trace AS c, trace AS t, asked, trace_verdict(c.path, t.path, asked.ranks, asked.ranks) AS v
WHERE c.side = 0 AND t.side = 1;
CREATE TABLE summary AS
SELECT s.* FROM trace AS c, trace AS t, asked, trace_summary(c.path, t.path, asked.ranks, asked.ranks) AS s
WHERE c.side = 0 AND t.side = 1;
CREATE TABLE reason AS
SELECT word || ' has no steps: record it with profiler.step()' AS text FROM about WHERE steps = 0
UNION ALL
SELECT text
FROM (SELECT CASE
        WHEN c.ranks IS NOT t.ranks THEN 'other ranks: ' || c.ranks || ' in control, ' || t.ranks || ' in test'
        WHEN c.world <> t.world THEN 'other world sizes: ' || c.world || ' in control, ' || t.world || ' in test'
        WHEN (SELECT control_of_host <> test_of_host FROM compared) THEN 'only one of them has device work'
        WHEN c.device <> t.device THEN 'other devices: ' || c.device || ' in control, ' || t.device || ' in test'
        WHEN (SELECT coalesce(control_ms * test_ms, 0) = 0 FROM compared) THEN 'a side has no steps'
        END AS text
      FROM about AS c JOIN about AS t ON c.side = 0 AND t.side = 1 AND c.steps AND t.steps)
WHERE text NOT NULL;
CREATE TABLE decided AS
SELECT CASE WHEN NOT mean_above AND NOT median_above THEN 'pass'
            WHEN mean_above AND median_above AND is_slower THEN 'fail' ELSE 'not known' END AS outcome,
       CASE WHEN mean_above AND NOT median_above THEN ': only the mean is above'
            WHEN median_above AND NOT mean_above THEN ': only the median is above'
            WHEN mean_above AND NOT is_slower THEN ': the difference is not clear' ELSE '' END AS why,
       printf('%.3f -> %.3f ms a step, mean %+.1f %%, median %+.1f %% (limits: +$percent %% and +$ms ms)', control_ms,
              test_ms, mean, median) AS text
FROM (SELECT *, round(mean, 6) > $percent AND round(test_ms - control_ms, 9) > $ms AS mean_above,
             round(median, 6) > $percent AND round(test_median_ms - control_median_ms, 9) > $ms AS median_above
      FROM (SELECT *, 100 * (test_ms - control_ms) / control_ms AS mean,
                   100 * (test_median_ms - control_median_ms) / control_median_ms AS median,
                   ranks NOT NULL OR EXISTS (SELECT 1 FROM summary WHERE kind = 'verdict' AND code = 'slower')
                     AS is_slower
            FROM compared, asked));
CREATE TABLE verdict AS
SELECT CASE WHEN EXISTS (SELECT 1 FROM reason) THEN 'cannot compare' ELSE outcome END AS outcome, why, text
FROM decided;
SELECT CASE outcome WHEN 'pass' THEN 0 WHEN 'fail' THEN 1 ELSE 2 END FROM verdict;
SELECT 'cannot compare: ' || text FROM reason;
SELECT outcome || ': ' || text || why FROM verdict WHERE outcome <> 'cannot compare';
SELECT summary.text FROM verdict, summary
WHERE outcome IN ('fail', 'not known') OR (outcome = 'pass' AND kind = 'caution');
SELECT printf('  %+10.1f us  %-13s %s', cause.diff_time, coalesce(cause.class, cause.kind), cause.text)
FROM verdict, compared, asked, trace AS c, trace AS t,
     trace_step_causes(c.path, t.path, asked.ranks, asked.ranks, control_iterations, test_iterations) AS cause
WHERE c.side = 0 AND t.side = 1 AND outcome = 'fail' AND cause.diff_time <> 0
LIMIT 10;
SQL
) || cannot "no verdict, because of the error above"
printf '%s\n' "${said#*"$newline"}"
exit "${said%%"$newline"*}"
