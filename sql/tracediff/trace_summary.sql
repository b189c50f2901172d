-- trace_summary: why a step is slower or faster, in at most twelve lines of text.
--
-- Parameters
--   :control            TEXT required  baseline trace
--   :test               TEXT required  trace to compare with the baseline
--   :control_rank       any            integer, JSON array, 'all' or 'job' (Q1); default 'job' if both have several ranks, else the lowest
--   :test_rank          any            the same for test
--   :control_iteration  any            integer, JSON array, 'all', 'steady', 'first' or a phase (T23); default 'steady'
--   :test_iteration     any            the same for test
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
--   :control_untraced   REAL>=0        ms a step of control, measured without the profiler; default not known
--   :test_untraced      REAL>=0        the same for test
--   :steps              TEXT           which events are steps (T20); default 'auto'
-- Columns
--   line        INTEGER  from 1
--   kind        TEXT     'verdict', 'coverage', 'mix', 'untraced', 'caution', 'work', 'cause' or 'rest'
--   text        TEXT     at most 100 characters
--   class       TEXT     of a cause, as trace_step_causes has it
--   name        TEXT     of a cause, in full
--   control_ms  REAL     ms a step in control
--   test_ms     REAL     ms a step in test
--   diff_ms     REAL     ms a step, test minus control: those of causes and rest sum to the verdict's
--   share       REAL     part of the difference
--   rank        INTEGER  of a cause, as trace_step_causes has it: the only rank of a job that differs so
-- Grain: one row per line.
-- Rules:
--   1. The verdict is that of trace_verdict. Outliers that it leaves out are in no number here; a caution names them, and
--      what they have more of than other steps; so does that about a step that is long and kept. trace_verdict has the iterations that give the same sums.
--   2. Cautions are the first three of these: ranks that are left out of a job (rule 7); steps that are left out; kernels are slower or faster by one factor
--      (trace_clock_factor), which explains half of the difference or more, on equal devices;
--      the load of the host (trace_host_factor, L7), of traces without device work; then what matters ('yes') in
--      trace_comparability, line by line; last, a step that
--      is 5 % longer than the median, makes a quarter of the difference, and is five times as far from the median as the shortest.
--   3. Causes are those of trace_step_causes of 1 % of the difference or more, as many as there is room for: five or
--      more. So many, with what is merged (L3), hold three quarters of all changes; else the rest says what it adds and takes.
--      The largest come first, but time in which the device waits, if it changed the other way than the step, comes
--      last: other work fills such time or uncovers it.
--   4. If the steps are of several strata (A13), 'mix' says what part of the difference steps of like sizes have,
--      and what comes from another mix of requests. The causes are then the parts of trace_step_diff, whose
--      diff_ms is diff_within, and the mix as a whole.
--   5. Numbers have as many decimals as the difference needs for three digits, at most 3; as the step
--      does if the difference is less than 0.5 % of it. Shares of an unclear difference are not said. From 1,000 % on
--      it is how many times.
--   6. A profiler makes steps longer, and not by the same time on both sides. With both untraced times, 'untraced' has their difference
--      beside the traced one. It is a caution if their signs differ, or if one is twice the other.
--   7. Without ranks, the answer is about the job of the ranks that both sides have and that can be compared (Q1.4); if
--      these are fewer than two, about the lowest rank. Cautions of a job are of all its ranks; one factor of kernels is
--      said of each rank that has one.
--   8. 'work' is what trace_work_diff has: counts have no noise. Where a cause names the operator, they are in its line,
--      the largest one's; lines of work are what no cause names. Four lines at most are mix, untraced, cautions and
--      work, in this order; of work at most three.
--   9. Under another load of the host, the verdict of traces without device work is about the rest: work that changed
--      ('test does other work') and waits, gaps and calls if they make half of the difference; so do, on one rank of a
--      job, operators of other counts, shapes or types beyond what load explains (L7.5). Else it is unclear.
WITH asked AS MATERIALIZED (
  SELECT control_chosen AS c_rank, test_chosen AS t_rank, control_ranks AS c_ranks, test_ranks AS t_ranks,
         control_job AND test_job AS is_job, ranks, why AS ranks_out
  FROM trace_compared_ranks(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :steps)
  LIMIT -1),
verdict AS MATERIALIZED (
  SELECT v.*, asked.*, diff_ms AS d, CASE WHEN max(control_ms, test_ms) >= 10000 THEN 's' ELSE 'ms' END AS unit,
         CASE WHEN max(control_ms, test_ms) >= 10000 THEN 1000.0 ELSE 1.0 END AS size, 100.0 * diff_ms / nullif(control_ms, 0) AS percent,
         CASE WHEN abs(diff_ms) < 0.005 * control_ms THEN control_ms ELSE abs(diff_ms) END
           / CASE WHEN max(control_ms, test_ms) >= 10000 THEN 1000 ELSE 1 END AS digits_of
  FROM asked CROSS JOIN trace_verdict(:control, :test, c_rank, t_rank, :control_iteration, :test_iteration, :clock, :steps) AS v
  LIMIT -1),
style AS MATERIALIZED (
  SELECT *, CASE WHEN digits_of >= 100 THEN 0 WHEN digits_of >= 10 THEN 1 WHEN digits_of >= 1 THEN 2 ELSE 3 END AS digits,
         CASE WHEN digits_of >= 100 THEN 0.5 WHEN digits_of >= 10 THEN 0.05 WHEN digits_of >= 1 THEN 0.005
              ELSE 0.0005 END * size AS least,
         CASE WHEN verdict NOT LIKE 'slower%' AND verdict NOT LIKE 'faster%' THEN 0
              WHEN load IS NULL OR works > 0 OR 2 * waits / diff_ms >= 1 THEN 1
              ELSE EXISTS (SELECT 1
                           FROM (SELECT NULL AS rank UNION ALL SELECT DISTINCT rank FROM trace_files(:control) WHERE rank IS NOT NULL) AS r
                           CROSS JOIN trace_host_factor(
                             CASE WHEN is_job = (r.rank IS NOT NULL)
                                       AND (NOT is_job OR c_ranks IN ('all', r.rank)
                                            OR instr(replace(replace(c_ranks, '[', ','), ']', ','), ',' || r.rank || ',')) THEN :control END,
                             :test, CASE WHEN is_job THEN r.rank ELSE c_ranks END, CASE WHEN is_job THEN r.rank ELSE t_ranks END,
                             control_iterations, test_iterations, :steps) AS f
                           WHERE f.kind = 'other' AND f.beyond_time / diff_ms >= 500) END AS is_clear,
         strata = 1 AND control_steps > 1 AND control_high_ms > 1.05 * control_median_ms AS control_long,
         strata = 1 AND test_steps > 1 AND test_high_ms > 1.05 * test_median_ms AS test_long
  FROM (SELECT *,
               -- of traces without device work: the load of the host, and what it does not change
               (SELECT text
                FROM trace_host_factor(CASE WHEN control_of_host AND test_of_host AND verdict <> 'no difference' THEN :control END,
                                       :test, c_ranks, t_ranks, control_iterations, test_iterations, :steps)
                WHERE kind = 'host') AS load,
               (SELECT count(*) FROM trace_work_diff(CASE WHEN control_of_host AND test_of_host THEN :control END, :test, c_ranks,
                                                     t_ranks, control_iterations, test_iterations, :steps)) AS works,
               (SELECT total(diff_time) / 1000
                FROM trace_step_causes(CASE WHEN control_of_host AND test_of_host THEN :control END, :test, c_rank, t_rank,
                                       control_iterations, test_iterations, :clock, NULL, :steps)
                WHERE kind = 'not recorded' OR class = 'call' OR name LIKE 'enumerate(DataLoader)%') AS waits
        FROM verdict)
  WHERE verdict <> 'nothing to compare'
  LIMIT -1),
-- like with like, if the steps are of several strata
alike AS MATERIALIZED (
  SELECT d.*
  FROM style
  CROSS JOIN trace_step_diff(CASE WHEN strata > 1 THEN :control END, :test, c_rank, t_rank,
                             :control_iteration, :test_iteration, 'op', :clock, NULL, NULL, :steps) AS d
  LIMIT -1),
matter AS MATERIALIZED (
  SELECT m.line, m.item, CASE WHEN m.control_value IS NULL THEN 1 ELSE 0 END AS side, m.why
  FROM style
  CROSS JOIN trace_comparability(:control, :test, c_ranks, t_ranks, control_iterations, test_iterations, :clock, 1,
                                 :steps) AS m
  WHERE m.matters = 'yes'
  LIMIT -1),
-- what steps that are left out, and the longest of a side, have more of than the others
longer AS MATERIALIZED (
  SELECT side, is_out, CASE side WHEN 0 THEN 'control' ELSE 'test' END AS word,
         'step ' || iteration AS step, total / 1e6 / ranks / median AS ratio,
         printf('%.*f', digits, high / size) || ' ' || unit || ', median ' || printf('%.*f', digits, median / size) AS takes,
         CASE WHEN is_job THEN 'rank ' || rank || ' has ' ELSE '' END || CASE WHEN class LIKE '%unrecorded' THEN 'more time ' ELSE 'more of ' END
         || coalesce(trace_label(name), CASE WHEN class LIKE '%unrecorded' THEN 'in which nothing is recorded' ELSE class END) AS more,
         is_job OR ranks = 1 AS is_one, 4 * (high - median) >= sum AND high - median > 5 * (median - low) AS is_much
  FROM (SELECT *, row_number() OVER (PARTITION BY side, iteration ORDER BY time_ns * steps - whole DESC, rank, class, name) AS place
        FROM (SELECT *, sum(time_ns) OVER (PARTITION BY side, rank, class, name) AS whole, max(number) OVER (PARTITION BY side) AS steps,
                     max(total) FILTER (WHERE NOT is_out) OVER (PARTITION BY side) AS longest
              FROM (SELECT side, t.rank, t.iteration, t.class, t.name, t.time_ns, is_job, digits, size, unit,
                           dense_rank() OVER (PARTITION BY side ORDER BY t.iteration) AS number,
                           sum(t.time_ns) OVER (PARTITION BY side, t.iteration) AS total,
                           coalesce(instr(replace(replace(CASE side WHEN 0 THEN control_left_out ELSE test_left_out END, '[', ','), ']', ','),
                                          ',' || t.iteration || ','), 0) AS is_out,
                           CASE side WHEN 0 THEN control_long ELSE test_long END AS is_long,
                           CASE side WHEN 0 THEN control_high_ms ELSE test_high_ms END AS high,
                           CASE side WHEN 0 THEN control_median_ms ELSE test_median_ms END AS median,
                           CASE side WHEN 0 THEN control_ranks ELSE test_ranks END AS ranks,
                           CASE side WHEN 0 THEN control_low_ms ELSE test_low_ms END AS low,
                           CASE side WHEN 0 THEN control_steps ELSE test_steps END * abs(d) AS sum
                    FROM (SELECT 0 AS side UNION ALL SELECT 1) CROSS JOIN style
                    CROSS JOIN trace_step_time(
                      CASE side WHEN 0 THEN CASE WHEN control_left_out IS NOT NULL OR control_long THEN :control END
                                ELSE CASE WHEN test_left_out IS NOT NULL OR test_long THEN :test END END,
                      CASE side WHEN 0 THEN c_rank ELSE t_rank END,
                      CASE side WHEN 0 THEN :control_iteration ELSE :test_iteration END, 'top_op', :clock, NULL, :steps) AS t))
        WHERE is_out OR (is_long AND total = longest))
  WHERE place = 1
  LIMIT -1),
caution(number, text) AS (
  SELECT 0, ranks_out FROM style WHERE ranks_out IS NOT NULL
  UNION ALL
  SELECT CASE WHEN is_out THEN 1 + side ELSE 100 END,
         CASE WHEN is_out THEN step || ' of ' || word || ' is left out: '
                               || CASE WHEN ratio >= 10 THEN printf('%,d', round(ratio)) ELSE printf('%.1f', ratio) END
                               || ' times as long; ' || more
              ELSE CASE WHEN is_one THEN step ELSE 'a step' END || ' of ' || word || ' takes ' || takes
                   || CASE WHEN is_one THEN '; ' || more ELSE '' END END
  FROM longer
  WHERE is_out OR is_much
  UNION ALL
  SELECT 3, CASE WHEN count(*) < ranks AND is_job THEN 'rank ' || rank || ': ' ELSE '' END
            || CASE WHEN max(factor) > 1 THEN 'kernels are slower by one factor (' ELSE 'kernels are faster by one factor (' END
            || printf('x%.2f', avg(factor)) || '): look at the clock before the code'
  FROM (SELECT style.*, f.factor, r.rank, f.explained_time, f.diff_time, count(*) OVER () AS factors
        FROM style
        CROSS JOIN (SELECT NULL AS rank UNION ALL SELECT DISTINCT rank FROM trace_files(:control) WHERE rank IS NOT NULL) AS r
          ON c_ranks IN ('all', r.rank) OR NOT is_job OR instr(replace(replace(c_ranks, '[', ','), ']', ','), ',' || r.rank || ',')
        CROSS JOIN trace_clock_factor(
          CASE WHEN abs(percent) >= 0.5 AND coalesce(:clock, 'device') <> 'host' AND NOT control_of_host AND NOT test_of_host
                    AND is_job = (r.rank IS NOT NULL)
                    AND NOT EXISTS (SELECT 1 FROM matter WHERE why LIKE 'devices differ: %') THEN :control END,
          :test, CASE WHEN is_job THEN r.rank ELSE c_rank END, CASE WHEN is_job THEN r.rank ELSE t_rank END, control_iterations, test_iterations, :steps) AS f
        WHERE f.kind = 'step' AND f.outcome = 'one factor' AND (is_job OR 2 * f.explained_time / f.diff_time >= 1))
  GROUP BY CASE WHEN factors < ranks THEN rank END
  UNION ALL
  SELECT 3.5, load FROM style WHERE load IS NOT NULL
  UNION ALL
  SELECT 4, 'the profiler changes the difference: without it ' || printf('%+.*f', digits, untraced / size) || ' ' || unit
  FROM (SELECT style.*, :test_untraced - :control_untraced AS untraced FROM style)
  WHERE untraced * d <= 0 OR abs(untraced) >= 2 * abs(d) OR abs(d) >= 2 * abs(untraced)
  UNION ALL
  SELECT 4 + line, coalesce(CASE WHEN is_one THEN step ELSE 'a step' END || ' of ' || word || ' takes ' || takes
                            || CASE WHEN is_one THEN '; ' || more ELSE '' END, why)
  FROM matter LEFT JOIN longer ON item = 'longest' AND longer.side = matter.side AND NOT is_out),
said AS (
  SELECT 1 AS place, 'verdict' AS kind, control_ms, test_ms, d AS diff_ms,
         CASE WHEN NOT is_clear AND verdict <> 'no difference' THEN 'no clear difference' WHEN load IS NOT NULL AND 2 * waits / d < 1
                THEN 'test does other work'
              ELSE CASE verdict WHEN 'slower in some steps' THEN 'test is slower here in ' || slow_steps || ' of ' || test_steps || ' steps'
                      WHEN 'slower here' THEN 'test is slower here' WHEN 'faster here' THEN 'test is faster here' ELSE verdict END END
         || CASE WHEN strata > 1 THEN ' over all sizes: ' ELSE ': ' END || printf('%.*f', digits, control_ms / size) || ' -> '
         || printf('%.*f', digits, test_ms / size) || ' ' || unit || ' '
         || CASE WHEN control_steps = 0 AND test_steps = 0 THEN 'a trace' ELSE 'a step' END || ', '
         || CASE WHEN abs(d) < least THEN '0 ' || unit
                 ELSE printf('%+.*f', digits, d / size) || ' ' || unit
                      || coalesce(' (' || CASE WHEN percent >= 999.5 THEN printf('x %,d', round(test_ms / control_ms))
                                               WHEN abs(percent) >= 9.95 THEN printf('%+.0f %%', percent)
                                               WHEN abs(percent) >= 0.995 THEN printf('%+.1f %%', percent)
                                               ELSE printf('%+.2f %%', percent) END || ')', '') END AS text
  FROM style
  UNION ALL
  SELECT 2, 'coverage', NULL, NULL, NULL,
         CASE WHEN length(text) <= 100 THEN text WHEN length(bare) <= 100 THEN bare
              WHEN length(replace(replace(bare, ': all ', ': '), 'steps of', 'steps')) <= 100
                THEN replace(replace(bare, ': all ', ': '), 'steps of', 'steps')
              WHEN length(shortest) <= 100 THEN shortest ELSE replace(shortest, 'one recording a side', 'one a side') END
  FROM (SELECT text, replace(text, ' ms', '') AS bare, replace(replace(replace(text, ' steps', ''), ' ms', ''), ': all ', ': ') AS shortest
        FROM (SELECT CASE WHEN control_steps = 1 THEN '1 step' WHEN control_steps > 0 THEN control_steps || ' steps'
                    WHEN test_steps > 0 THEN 'a whole trace' ELSE 'whole traces' END
               || ' of ' || printf('%.*f', digits, control_low_ms / size)
               || replace('-' || printf('%.*f', digits, control_high_ms / size), '-' || printf('%.*f', digits, control_low_ms / size), '')
               || ' ' || unit
               || coalesce(', ' || CASE WHEN test_steps > 0 THEN test_steps WHEN control_steps > 0 THEN 'a whole trace' END
                           || ' of ', ' and ')
               || printf('%.*f', digits, test_low_ms / size)
               || replace('-' || printf('%.*f', digits, test_high_ms / size), '-' || printf('%.*f', digits, test_low_ms / size), '')
               || CASE WHEN verdict = 'no difference' THEN ': all parts are equal' WHEN test_low_ms > control_high_ms THEN ': all longer'
                       WHEN control_low_ms > test_high_ms THEN ': all shorter' ELSE ': they overlap' END
               || '; ' || CASE WHEN is_job THEN 'job of ' || ranks || ' ranks'
                               WHEN control_ranks > 1 THEN control_ranks || ' ranks' || CASE test_ranks WHEN control_ranks THEN ''
                                                                                      ELSE ' and ' || test_ranks END
                               WHEN test_ranks > 1 THEN '1 rank and ' || test_ranks
                               WHEN control_lowest = test_lowest THEN 'rank ' || control_lowest
                               ELSE 'ranks ' || control_lowest || ', ' || test_lowest END
               || CASE verdict WHEN 'no difference' THEN '' ELSE '; one recording a side: see trace_ab' END AS text
              FROM style
              LIMIT -1))
  UNION ALL
  SELECT 3, 'mix', NULL, NULL, NULL,
         'at like sizes ' || printf('%+.*f', digits, within / 1000 / size) || ' ' || unit
         || coalesce(' (' || printf('%+.1f', within / 10 / nullif(control_ms, 0)) || ' %)', '')
         || '; from another mix of requests ' || printf('%+.*f', digits, mix / 1000 / size) || ' ' || unit
  FROM (SELECT sum(diff_within) AS within, sum(diff_mix) AS mix FROM alike) CROSS JOIN style
  WHERE within IS NOT NULL
  UNION ALL
  SELECT 4, 'untraced', NULL, NULL, NULL,
         'untraced: ' || printf('%.*f', digits, :control_untraced / size) || ' -> ' || printf('%.*f', digits, :test_untraced / size)
         || ' ' || unit || ' a step, ' || printf('%+.*f', digits, (:test_untraced - :control_untraced) / size) || ' ' || unit
         || '; traced ' || printf('%+.*f', digits, d / size) || ' ' || unit
  FROM style
  WHERE :control_untraced IS NOT NULL AND :test_untraced IS NOT NULL
  UNION ALL
  SELECT 5, 'caution', NULL, NULL, NULL, 'caution: ' || text
  FROM (SELECT text FROM caution GROUP BY text ORDER BY min(number), text LIMIT 3)
  LIMIT 6),
-- with all work that changed, of which some is said in the lines of causes
head AS MATERIALIZED (
  SELECT 1 AS is_head, place, kind, text, NULL AS name, control_ms, test_ms, diff_ms FROM said
  UNION ALL
  SELECT 2, row_number() OVER (ORDER BY w.size DESC, w.name), 'work', w.text, w.name, NULL, NULL, NULL
  FROM style
  CROSS JOIN trace_work_diff(:control, :test, c_ranks, t_ranks, control_iterations, test_iterations, :steps) AS w
  WHERE strata = 1
  LIMIT -1),
cause AS (
  SELECT c.class, c.name, c.kind, c.text, c.control_time, c.test_time, c.diff_time, c.share, c.changes, c.rank
  FROM style
  CROSS JOIN trace_step_causes(CASE WHEN strata = 1 THEN :control END, :test, c_rank, t_rank,
                               control_iterations, test_iterations, :clock, (SELECT 11 - count(*) FILTER (WHERE is_head = 1)
                                                                                  - min(count(*) FILTER (WHERE is_head = 2), 3, 6 - count(*) FILTER (WHERE is_head = 1))
                                                                                FROM head), :steps) AS c
  UNION ALL
  SELECT class, name,
         CASE class WHEN 'idle_host' THEN 'host late' WHEN 'idle_call' THEN 'host late'
                    WHEN 'idle_launch' THEN 'host late' WHEN 'idle_wait' THEN 'queued'
                    WHEN 'idle_unrecorded' THEN 'not recorded' ELSE 'like sizes' END,
         coalesce(trace_label(name), 'without a name') || ', at like sizes', control_time, test_time,
         diff_within, NULL, abs(diff_within), NULL
  FROM alike
  WHERE diff_within <> 0 OR diff_time <> 0
  UNION ALL
  SELECT 'mix', NULL, 'mix', 'another mix of requests', NULL, NULL, mix, NULL, abs(mix), NULL
  FROM (SELECT sum(diff_mix) AS mix, max(abs(diff_mix)) AS largest FROM alike)
  WHERE largest > 0),
-- the lines of the head, the causes in the order of their differences, and work
ranked AS (
  SELECT *, heads + number <= 11 - min(3, 6 - heads, works) AND is_cause AS is_sure,
         max(CASE is_head WHEN 2 THEN text END) OVER (PARTITION BY name) AS counts,
         row_number() OVER (PARTITION BY is_head, name ORDER BY number) = 1 AS is_first, instr(text, trace_label(name)) AS at
  FROM (SELECT *, count(*) FILTER (WHERE is_head = 1) OVER () AS heads, count(*) FILTER (WHERE is_head = 2) OVER () AS works,
               row_number() OVER (PARTITION BY is_head ORDER BY place, abs(diff_time) DESC) AS number,
               is_head = 0 AND (100 * abs(diff_time) >= abs(d) OR strata > 1) AND abs(diff_time) >= least AS is_cause
        FROM (SELECT is_head, place, kind, text, NULL AS class, name, control_ms AS control_time, test_ms AS test_time,
                     diff_ms AS diff_time, NULL AS share, NULL AS changes, NULL AS digits, NULL AS size, NULL AS unit, NULL AS least,
                     NULL AS is_clear, NULL AS d, NULL AS strata, NULL AS rank
              FROM head
              UNION ALL
              SELECT 0, 0, kind, said, class, name, control_time / 1000, test_time / 1000, diff_time / 1000, share, changes / 1000,
                     digits, size, unit, least, is_clear, d, strata, rank
              FROM (SELECT *, CASE WHEN text LIKE 'copies: %' THEN substr(text, 9) ELSE text END AS said FROM cause)
              CROSS JOIN style
              WHERE verdict <> 'no difference'))),
placed AS (
  SELECT *, count(*) FILTER (WHERE is_head = 2 AND NOT is_named) OVER (ORDER BY is_head, number) AS work,
         min(3, 6 - heads, count(*) FILTER (WHERE is_head = 2 AND NOT is_named) OVER ()) AS works_shown
  FROM (SELECT *, name IS NOT NULL AND max(is_sure AND at > 0) OVER (PARTITION BY name) AS is_named FROM ranked)),
shown AS (
  SELECT *, CASE is_head WHEN 1 THEN number
                         WHEN 2 THEN CASE WHEN NOT is_named AND work <= works_shown THEN 300 + work END
              ELSE CASE WHEN is_cause AND number <= 11 - heads - works_shown
                          THEN 20 + number + 100 * (class IS 'mix')
                               + 40 * (kind IN ('host late', 'queued', 'synchronized', 'not recorded') AND diff_time * d < 0)
                        ELSE 200 END END AS line,
         CASE WHEN is_head = 2 THEN 'work: ' || text
              WHEN is_head = 0 AND counts IS NOT NULL AND at > 0 AND is_first AND kind <> 'replaced'
                THEN substr(text, 1, at - 1) || counts || substr(text, at + length(trace_label(name))) ELSE text END AS words
  FROM placed),
-- what is not shown is one line
joined AS (
  SELECT line, is_head > 0 AS is_head, kind, words AS text, class, CASE is_head WHEN 0 THEN name END AS name, digits, size, unit, least, is_clear, rank, count(*) AS parts,
         CASE WHEN is_head THEN control_time ELSE total(control_time) END AS control_ms,
         CASE WHEN is_head THEN test_time ELSE total(test_time) END AS test_ms,
         CASE WHEN is_head THEN diff_time ELSE total(diff_time) END AS ms, sum(share) AS share,
         total(diff_time) FILTER (WHERE diff_time > 0) AS more, total(diff_time) FILTER (WHERE diff_time < 0) AS less,
         total(sum(changes)) OVER () AS changes,
         total(CASE WHEN NOT is_head AND line < 200 THEN abs(sum(diff_time)) END) OVER () AS held
  FROM shown
  WHERE line IS NOT NULL
  GROUP BY line),
line AS (
  SELECT line, CASE WHEN is_head THEN kind WHEN line = 200 THEN 'rest' ELSE 'cause' END AS kind,
         CASE WHEN is_head THEN text ELSE
           printf('%8s %-2s %6s  %-13s  %s',
                  CASE WHEN abs(ms) < least THEN '0' ELSE printf('%+.*f', digits, ms / size) END, unit,
                  CASE WHEN is_clear AND abs(share) < 9.995 THEN coalesce(printf('%.0f %%', 100 * share), '') ELSE '' END,
                  CASE WHEN line = 200 THEN '' WHEN kind = 'synchronized' THEN 'host late' WHEN kind IN ('host late', 'queued', 'not recorded', 'mix', 'moved') THEN kind
                       WHEN class = 'comm' THEN 'communication' WHEN class = 'memory' THEN 'copies'
                       WHEN class = 'compute' THEN class ELSE 'host' END,
                  CASE WHEN line < 200 AND length(text) > 65 AND rank IS NOT NULL
                         THEN substr(text, 1, 47 - length(rank)) || '..., only on rank ' || rank
                       WHEN line < 200 THEN text
                       ELSE parts || CASE parts WHEN 1 THEN ' smaller part' ELSE ' smaller parts' END
                            || CASE WHEN parts > 1 AND 4 * held < 3 * changes
                                    THEN ': ' || printf('%+.*f', digits, more / size) || ' and ' || printf('%+.*f', digits, less / size)
                                         || ' ' || unit
                                    ELSE '' END END) END AS text,
         CASE WHEN line < 200 THEN class END AS class, CASE WHEN line < 200 THEN name END AS name, control_ms, test_ms,
         ms AS diff_ms, share, CASE WHEN line < 200 THEN rank END AS rank
  FROM joined
  UNION ALL
  SELECT 1, 'verdict', 'nothing to compare: no events in ' || CASE WHEN control_ms IS NULL AND test_ms IS NULL THEN 'control and in test'
                                                                   WHEN control_ms IS NULL THEN 'control' ELSE 'test' END,
         NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM verdict
  WHERE verdict = 'nothing to compare')
SELECT row_number() OVER (ORDER BY line) AS line, kind, substr(text, 1, 100) AS text, class, name,
       control_ms, test_ms, diff_ms, share, rank
FROM line
ORDER BY line.line;
