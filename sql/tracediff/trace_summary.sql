-- trace_summary: why a step is slower or faster, in at most twelve lines of text.
-- Family: the answer
-- Question: Why is a step slower or faster, in a few lines?
--
-- Parameters
--   :control            trace required baseline trace
--   :test               trace required trace to compare with the baseline
--   :control_rank       ranks|job      integer, JSON array, 'all' or 'job', all ranks as one;
--                                      default 'job' if both have several ranks, else the lowest
--   :test_rank          ranks|job      the same for test
--   :control_iteration  iterations     integer, JSON array, 'all', 'steady' (without first and last),
--                                      'first' or a phase; default 'steady'
--   :test_iteration     iterations     the same for test
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
--   :control_untraced   REAL>=0        ms a step of control, measured without the profiler; default not known
--   :test_untraced      REAL>=0        the same for test
--   :gains              0|1            1: causes end with what a step gains if they are undone (rule 11), which takes
--                                      about half of the time; default 1
--   :steps              steps          which events are steps: 'auto', 'profiler',
--                                      a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   line        INTEGER  from 1
--   kind        TEXT     'verdict', 'coverage', 'mix', 'untraced', 'caution', 'work', 'cause' or 'rest'
--   text        TEXT     at most 100 characters
--   class       TEXT     of a cause, as trace_step_causes has it
--   name        TEXT     of a cause or work, in full
--   control_ms  REAL     ms a step in control
--   test_ms     REAL     ms a step in test
--   diff_ms     REAL     ms a step, test minus control: those of causes and rest sum to the verdict's; of the caution
--                        that makes most of it as a whole, what that is, which is in no sum
--   share       REAL     part of the difference
--   rank        INTEGER  of a cause, as trace_step_causes has it: the only rank of a job that differs so; of a caution
--                        of a job about a step, the clock or the load, the rank that it names
--   gain_ms     REAL     of a cause, with gains: ms a step that it would be shorter if only this were undone, as
--                        trace_undo has it
--   hidden_by   TEXT     of a cause, with gains: what a step would wait for instead, if that is less than nine tenths
--                        of diff_ms
--   code        TEXT     of the verdict: slower, faster, same or unknown; of a caution: its topic in
--                        trace_comparability, load, overhead, clock, ranks, outlier or long_step; of a cause its
--                        kind in trace_step_causes, 'like sizes' or 'mix'
--   words       TEXT     of the verdict, a caution, a cause and work: what the text says without numbers of other
--                        columns, in full
-- Grain: one row per line.
-- Rules:
--   1. The verdict is that of trace_verdict. Outliers that it leaves out are in no number here; a caution names them,
--      and what they have more of than other steps; so does that about a step that is long and kept. trace_verdict has
--      the iterations that give the same sums.
--   2. Cautions say what may be wrong with the verdict. At most three are said, one of a kind, the worst first: a side
--      has no steps or no device work, or the devices differ; what makes most of the difference as a whole (L11), with
--      how much that is; the profiler changes the difference (rule 6); the load of
--      the host (trace_host_factor, L7), of traces without device work; kernels are slower or faster by one factor
--      (trace_clock_factor) that explains half of the difference or more, on equal devices; other ranks are compared;
--      ranks are left out of a job (rule 7); steps are left out, with the one that is longest by far; then what else
--      matters ('yes') in trace_comparability, line by line; last, a step that is 5 % longer than the median, makes a
--      quarter of the difference, and is five times as far from the median as the shortest.
--   3. Causes are those of trace_step_causes of 1 % of the difference or more, as many as there is room for: five or
--      more. So many, with what is merged (L3), hold three quarters of all changes; else the rest says what it adds and
--      takes. The largest come first, but time in which the device waits, if it changed the other way than the step,
--      comes last: other work fills such time or uncovers it.
--   4. If the steps are of several strata (A13), 'mix' says what part of the difference steps of like sizes have,
--      and what comes from another mix of requests. The causes are then the parts of trace_step_diff, whose
--      diff_ms is diff_within, and the mix as a whole.
--   5. Numbers have as many decimals as the difference needs for three digits, at most 3; as the step
--      does if the difference is less than 0.5 % of it. Shares of an unclear difference are not said. From 1,000 % on
--      it is how many times.
--   6. A profiler makes steps longer, and not by the same time on both sides. With both untraced times, 'untraced' has
--      their difference beside the traced one. It is a caution if their signs differ, or if one is twice the other.
--   7. Without ranks, the answer is about the job of the ranks that both sides have and that can be compared (Q1.4); if
--      these are fewer than two, about the lowest rank. Cautions of a job are of all its ranks; of one factor of
--      kernels they say how many ranks have it, and which one for example.
--   8. 'work' is what trace_work_diff has: counts have no noise. Where a cause names the operator, they are in its
--      line, the largest one's; lines of work are what no cause names, and what is not among the operators that one
--      takes over from. Four lines at most are mix, untraced, cautions and work, in this order; of work at most three.
--   9. Under another load of the host, the verdict of traces without device work is about the rest: work that changed
--      ('test does other work') and waits, gaps and calls if they make half of the difference; so do, on one rank of a
--      job, operators of other counts, shapes or types beyond what load explains (L7.5). Else it is unclear.
--  10. A text that is too long ends in '...', where a word ends.
--  11. With gains, a cause says how much shorter or longer the step would be if only this cause were undone, as
--      trace_undo simulates it, if that differs from its own time by more than a tenth of it and by two units of the
--      last decimal; and what hides it (E9.9), if there is room. Of work that takes as long as in control and is
--      only hidden less, or more, it says that the gain is not known (E9.10). Nothing is said of what has nothing that
--      could be undone, of steps of several strata (rule 4), and with clock 'host' where there is device work. It is a
--      model, while all other numbers were recorded. If the simulation fails, the last caution says why.
-- Facts
--   compared          control; NULL: there is nothing to compare
--   rise              percent that test_ms is more than control_ms
--   untraced          ms, the difference without the profiler
-- With shared/verdict
more AS (
  SELECT *, CASE WHEN verdict <> 'nothing to compare' THEN :control END AS compared,
         100.0 * diff_ms / nullif(control_ms, 0) AS rise, :test_untraced - :control_untraced AS untraced
  FROM judged)
SELECT * FROM more;

-- With shared/each_rank
asked AS (SELECT :c_ranks AS c_ranks, :t_ranks AS t_ranks, :is_job AS is_job),
-- is_long: the longest step is 5 % longer than the median; is_much: and that matters to the verdict (rule 2)
side AS MATERIALIZED (
  SELECT 0 AS side, 'control' AS word, :compared AS trace, :c_rank AS rank, :control_iteration AS iterations,
         :control_left_out AS left_out, :control_median_ms AS median, :control_high_ms AS high, :control_ranks AS ranks,
         :control_ms AS mean, 1.0 * :control_steps / :control_ranks AS steps, -1 AS sign,
         :strata = 1 AND :control_steps > 1 AND :control_high_ms > 1.05 * :control_median_ms AS is_long,
         4 * (:control_high_ms - :control_median_ms) >= :control_steps * abs(:diff_ms)
           AND :control_high_ms - :control_median_ms > 5 * (:control_median_ms - :control_low_ms) AS is_much
  UNION ALL
  SELECT 1, 'test', CASE WHEN :compared IS NOT NULL THEN :test END, :t_rank, :test_iteration,
         :test_left_out, :test_median_ms, :test_high_ms, :test_ranks, :test_ms, 1.0 * :test_steps / :test_ranks, 1,
         :strata = 1 AND :test_steps > 1 AND :test_high_ms > 1.05 * :test_median_ms,
         4 * (:test_high_ms - :test_median_ms) >= :test_steps * abs(:diff_ms)
           AND :test_high_ms - :test_median_ms > 5 * (:test_median_ms - :test_low_ms)
  LIMIT -1),
-- the steps that are left out, and the longest one that is kept, with what they have more of than the others
longer AS MATERIALIZED (
  SELECT side, iteration, is_out, total / 1e6 / ranks / median AS ratio,
         sign * (total / 1e6 / ranks - mean)
         / CASE WHEN is_out THEN kept + sum(is_out > 0) OVER (PARTITION BY side) ELSE kept - 1 END AS ms,
         is_much, rank, class, name
  FROM (SELECT *, row_number() OVER (PARTITION BY side, iteration
                                     ORDER BY time_ns * steps - whole DESC, rank, class, name) AS place
        FROM (SELECT *, sum(time_ns) OVER (PARTITION BY side, rank, class, name) AS whole,
                     max(number) OVER (PARTITION BY side) AS steps,
                     max(CASE WHEN NOT is_out THEN total END) OVER (PARTITION BY side) AS longest
              FROM (SELECT s.side, s.is_long, s.is_much, s.ranks, s.median, s.mean, s.steps AS kept, s.sign, t.rank,
                           t.iteration, t.class, t.name, t.time_ns,
                           dense_rank() OVER (PARTITION BY s.side ORDER BY t.iteration) AS number,
                           sum(t.time_ns) OVER (PARTITION BY s.side, t.iteration) AS total,
                           coalesce(instr(replace(replace(s.left_out, '[', ','), ']', ','), ',' || t.iteration || ','),
                                    0) AS is_out
                    FROM side AS s
                    CROSS JOIN trace_step_time(CASE WHEN s.left_out IS NOT NULL OR s.is_long THEN s.trace END, s.rank,
                                               s.iterations, 'top_op', :clock, NULL, :steps) AS t))
        WHERE is_out OR (is_long AND total = longest))
  WHERE place = 1
  LIMIT -1),
matter AS MATERIALIZED (
  SELECT m.line, m.topic, m.item, CASE WHEN m.control_value IS NULL THEN 1 ELSE 0 END AS side, m.why,
         m.diff_time / 1000 AS ms
  FROM trace_comparability(:compared, :test, :c_ranks, :t_ranks, :control_iterations, :test_iterations, :clock, 1,
                           :steps) AS m
  WHERE m.matters = 'yes'
  LIMIT -1),
-- ranks whose kernels are slower or faster by one factor
clock AS MATERIALIZED (
  SELECT e.rank, f.factor, f.explained_time / 1000 AS ms
  FROM each_rank AS e
  CROSS JOIN trace_clock_factor(
    CASE WHEN abs(:diff_ms) >= 0.005 * :control_ms AND coalesce(:clock, 'device') <> 'host'
              AND NOT :control_of_host AND NOT :test_of_host
              AND NOT EXISTS (SELECT 1 FROM matter WHERE topic = 'device' AND item = 'name')
           THEN :compared END,
    :test, e.c_each, e.t_each, :control_iterations, :test_iterations, :steps) AS f
  WHERE f.kind = 'step' AND f.outcome = 'one factor' AND (:is_job OR 2 * f.explained_time / f.diff_time >= 1)
  LIMIT -1),
-- ms that the device waits for the host: more in test, and on the side with less; and those of the largest single cause
waiting AS MATERIALIZED (
  SELECT total(CASE WHEN is_wait THEN diff_time END) / 1000 AS late,
         min(total(CASE WHEN is_wait THEN control_time END),
             total(CASE WHEN is_wait THEN test_time END)) / 1000 AS least,
         max(diff_time * :diff_ms / abs(:diff_ms)) / 1000 AS largest
  FROM (SELECT *, kind IN ('host late', 'queued', 'not recorded') AS is_wait
        FROM trace_step_causes(CASE WHEN :strata = 1 AND abs(:diff_ms) >= 0.005 * :control_ms THEN :compared END, :test,
                               :c_rank, :t_rank, :control_iterations, :test_iterations, :clock, NULL, :steps))
  LIMIT -1),
-- ranks whose host is slower or faster by one factor, if that may be what the device waits for, or differ in a job
host AS MATERIALIZED (
  SELECT e.rank, f.factor, f.text,
         CASE WHEN NOT :test_of_host AND (f.factor > 1) = (late > 0)
                THEN min(abs(late), max(least * (max(f.factor, 1 / f.factor) - 1), abs(f.explained_time) / 1000))
                     * CASE WHEN f.factor > 1 THEN 1 ELSE -1 END END AS ms
  FROM waiting
  CROSS JOIN each_rank AS e
  CROSS JOIN trace_host_factor(
    CASE WHEN :strata = 1 AND abs(:diff_ms) >= 0.005 * :control_ms
              AND CASE WHEN :control_of_host AND :test_of_host THEN :is_job AND :load_ms IS NULL
                       ELSE 2 * late / :diff_ms >= 1 END THEN :compared END,
    :test, e.c_each, e.t_each, :control_iterations, :test_iterations, :steps) AS f
  WHERE f.kind = 'host' AND f.outcome = 'one factor'
  LIMIT -1),
-- ms of the path of a job in which each of these ranks computes: on the slower side the path goes over them
path AS MATERIALIZED (
  SELECT rank, total(time_ns) FILTER (WHERE side = 0) / 1e6 / :control_steps AS c_ms,
         total(time_ns) FILTER (WHERE side = 1) / 1e6 / :test_steps AS t_ms
  FROM (SELECT column1 AS side
        FROM (VALUES (0), (1))
        WHERE :is_job AND EXISTS (SELECT 1 FROM clock UNION ALL SELECT 1 FROM host))
  CROSS JOIN trace_step_time(CASE side WHEN 0 THEN :compared ELSE :test END,
                             CASE side WHEN 0 THEN :c_rank ELSE :t_rank END,
                             CASE side WHEN 0 THEN :control_iterations ELSE :test_iterations END, 'annotation', :clock,
                             NULL, :steps)
  WHERE class IN ('compute', 'host', 'call')
  GROUP BY rank
  LIMIT -1),
-- rule 2: what may be wrong with the verdict, the worst first. parts: steps or ranks, of which this is one; others:
-- steps of the other side
caution AS MATERIALIZED (
  SELECT CASE WHEN is_most THEN 1.5 ELSE severity END AS severity, line, what, side, parts, others, iteration, rank,
         class, name, ratio, why, CASE WHEN is_most THEN ms END AS ms
  FROM (SELECT *, is_half AND row_number() OVER (PARTITION BY is_half ORDER BY abs(ms) DESC, severity, line) = 1
                    AS is_most
        FROM (SELECT *, coalesce(2 * ms / whole >= 1
                                 AND (:judgement LIKE 'test is %' OR abs(ms) >= 0.05 * :control_ms), 0)
                          AND (what IN ('long_step', 'outlier') OR abs(ms) > coalesce(largest, 0))
                          AND NOT EXISTS (SELECT 1 FROM matter WHERE topic = 'device' OR item = 'number') AS is_half
              FROM (SELECT CASE WHEN topic = 'device' OR item = 'number' THEN 1 WHEN item = 'compared' THEN 3
                                ELSE 6 END AS severity,
                           m.line, CASE WHEN iteration IS NULL THEN topic ELSE 'long_step' END AS what, m.side,
                           NULL AS parts, NULL AS others, iteration, rank, class, name, NULL AS ratio, why,
                           coalesce(longer.ms, m.ms) AS ms, :diff_ms AS whole, 1 AS is_said
                    FROM matter AS m
                    LEFT JOIN longer ON item = 'longest' AND longer.side = m.side AND NOT is_out
                    UNION ALL
                    SELECT column1, 0, column2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                           CASE column1 WHEN 2.2 THEN :load WHEN 4 THEN :ranks_out END,
                           CASE column1 WHEN 2.2 THEN :load_ms END, :diff_ms, 1
                    FROM (VALUES (2.1, 'overhead'), (2.2, 'load'), (4, 'ranks'))
                    WHERE CASE column1 WHEN 2.2 THEN :load IS NOT NULL AND NOT EXISTS (SELECT 1 FROM host)
                                       WHEN 4 THEN :ranks_out IS NOT NULL AND :compared IS NOT NULL
                                       ELSE :untraced * :diff_ms <= 0 OR abs(:untraced) >= 2 * abs(:diff_ms)
                                            OR abs(:diff_ms) >= 2 * abs(:untraced) END
                    UNION ALL
                    SELECT 2.3, 0, 'clock', NULL, count(*), NULL, NULL, min(c.rank), NULL, NULL,
                           CASE WHEN count(*) < :ranks THEN factor ELSE avg(factor) END, NULL,
                           CASE WHEN :is_job THEN total(CASE WHEN factor > 1 THEN t_ms * (1 - 1 / factor)
                                                             ELSE c_ms * (factor - 1) END)
                                ELSE max(c.ms) END, :diff_ms, 1
                    FROM clock AS c LEFT JOIN path USING (rank)
                    GROUP BY factor > 1
                    UNION ALL
                    SELECT 2.2, 1, 'load', NULL, count(*), NULL, NULL, min(h.rank), NULL, NULL, NULL,
                           CASE WHEN NOT :is_job THEN ''
                                WHEN count(*) = 1 AND :ranks > 1 THEN 'rank ' || h.rank || ': '
                                WHEN count(*) < :ranks THEN count(*) || ' ranks, as rank ' || h.rank || ': ' ELSE '' END
                           || text,
                           CASE WHEN :test_of_host
                                  THEN total(CASE WHEN factor > 1 THEN t_ms * (1 - 1 / factor)
                                                  ELSE c_ms * (factor - 1) END)
                                ELSE avg(h.ms) END, :diff_ms, :load IS NOT NULL
                    FROM host AS h LEFT JOIN path USING (rank)
                    GROUP BY factor > 1
                    UNION ALL
                    SELECT CASE WHEN is_out THEN 5 ELSE 7 END, side,
                           CASE WHEN is_out THEN 'outlier' ELSE 'long_step' END, side, parts, others, iteration, rank,
                           class, name, ratio, NULL,
                           CASE WHEN NOT is_out THEN ms WHEN :judgement NOT LIKE 'test %' THEN all_ms END,
                           :diff_ms + CASE WHEN is_out THEN all_ms ELSE 0 END, 1
                    FROM (SELECT *, row_number() OVER (PARTITION BY is_out > 0 ORDER BY ratio DESC, side, iteration)
                                      AS place,
                                 count(*) OVER (PARTITION BY is_out > 0, side) AS parts,
                                 count(*) OVER (PARTITION BY is_out > 0)
                                 - count(*) OVER (PARTITION BY is_out > 0, side) AS others,
                                 sum(ms) OVER (PARTITION BY is_out > 0) AS all_ms
                          FROM longer)
                    WHERE CASE WHEN is_out THEN place = 1
                               ELSE is_much AND NOT EXISTS (SELECT 1 FROM matter
                                                            WHERE item = 'longest' AND matter.side = side) END)
              CROSS JOIN waiting))
  WHERE is_said OR is_most
  ORDER BY 1, line
  LIMIT 3),
alike AS MATERIALIZED ( -- like with like, if the steps are of several strata
  SELECT class, name, control_time / 1000 AS c_ms, test_time / 1000 AS t_ms, diff_within / 1000 AS within,
         diff_mix / 1000 AS mix
  FROM trace_step_diff(CASE WHEN :strata > 1 THEN :compared END, :test, :c_rank, :t_rank,
                       :control_iteration, :test_iteration, 'op', :clock, NULL, NULL, :steps)
  LIMIT -1),
work AS MATERIALIZED (
  SELECT name, text, size
  FROM trace_work_diff(CASE WHEN :strata = 1 THEN :compared END, :test, :c_ranks, :t_ranks, :control_iterations,
                       :test_iterations, :steps)
  LIMIT -1),
-- of twelve lines one is the rest. lines: for causes and work; of_work: of these, the most for work; sure: for causes
-- in any case
room AS MATERIALIZED (
  SELECT 11 - heads AS lines, min(3, 6 - heads) AS of_work,
         11 - heads - min(3, 6 - heads, (SELECT count(*) FROM work)) AS sure, heads
  FROM (SELECT min(6, 2 + (:strata > 1) + (:untraced IS NOT NULL) + count(*)) AS heads FROM caution)
  LIMIT -1),
undone AS MATERIALIZED ( -- rule 11
  SELECT u.kind, u.class, u.area, u.name, u.rank, u.gain_alone / 1000 AS gain, u.text, u.diff_time,
         CASE WHEN u.gain_alone IS NULL AND u.kind IN ('changed', 'replaced', 'communication')
                   AND u.class IN ('compute', 'comm', 'memory') THEN '' -- it is hidden less, or more (E9.10)
              ELSE trace_label(u.hidden_by)
                   || CASE WHEN u.rank <> u.hidden_rank THEN ' on rank ' || u.hidden_rank ELSE '' END END AS hidden_by
  FROM room
  CROSS JOIN trace_undo(CASE WHEN coalesce(:gains, 1) AND :strata = 1 AND :verdict <> 'no difference'
                                  AND (coalesce(:clock, 'device') <> 'host' OR (:control_of_host AND :test_of_host))
                             THEN :compared END,
                        :test, :c_rank, :t_rank, :control_iterations, :test_iterations, sure, lines, 1, :steps) AS u
  LIMIT -1),
space AS MATERIALIZED ( -- room, with the caution of a simulation that has failed
  SELECT lines - one AS lines, min(of_work, 6 - heads - one) AS of_work, sure - one AS sure
  FROM (SELECT *, heads < 6 AND EXISTS (SELECT 1 FROM undone WHERE kind = 'failed') AS one FROM room)
  LIMIT -1),
-- part: 1 the head, 2 causes, 3 work; place: the order in it
fact(part, place, kind, what, side, parts, others, iteration, rank, class, name, ratio, text, c_ms, t_ms, ms,
     share, changes, replaced, gain, hidden_by) AS (
  SELECT 1, column1, column2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
         CASE column1 WHEN 1 THEN :control_ms WHEN 4 THEN :control_untraced END,
         CASE column1 WHEN 1 THEN :test_ms WHEN 4 THEN :test_untraced END,
         CASE column1 WHEN 1 THEN :diff_ms WHEN 4 THEN :untraced END, NULL, NULL, NULL, NULL, NULL
  FROM (VALUES (1, 'verdict'), (2, 'coverage'), (3, 'mix'), (4, 'untraced'))
  WHERE CASE column1 WHEN 1 THEN 1 WHEN 2 THEN :compared IS NOT NULL WHEN 3 THEN :strata > 1
             ELSE :untraced IS NOT NULL END
  UNION ALL
  SELECT 1, 5 + severity + line / 1000.0, 'caution', what, side, parts, others, iteration, rank, class, name, ratio,
         why, NULL, NULL, ms, CASE WHEN what <> 'outlier' THEN ms / :diff_ms END, NULL, NULL, NULL, NULL
  FROM caution
  UNION ALL
  SELECT 1, 20, 'caution', 'gains', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'gains are not known: ' || text,
         NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM undone
  WHERE kind = 'failed'
  UNION ALL
  SELECT 2, -abs(c.diff_time), 'cause', c.kind, NULL, NULL, NULL, NULL, c.rank, c.class, c.name, NULL,
         substr(coalesce(replace(c.text, ', only on rank ' || c.rank, ''), c.text, 'without a name'),
                1 + 8 * coalesce(c.text LIKE 'copies: %', 0)),
         c.control_time / 1000, c.test_time / 1000, c.diff_time / 1000, c.share, c.changes / 1000, c.replaced,
         undone.gain, undone.hidden_by
  FROM room
  CROSS JOIN trace_step_causes(CASE WHEN :strata = 1 AND :verdict <> 'no difference' THEN :compared END, :test,
                               :c_rank, :t_rank, :control_iterations, :test_iterations, :clock, sure, :steps) AS c
  LEFT JOIN undone ON undone.kind = c.kind AND undone.class IS c.class AND undone.area IS c.area
    AND undone.name IS c.name AND undone.rank IS c.rank AND undone.text IS c.text AND undone.diff_time IS c.diff_time
  UNION ALL
  SELECT 2, -abs(within), 'cause',
         CASE class WHEN 'idle_host' THEN 'host late' WHEN 'idle_call' THEN 'host late'
                    WHEN 'idle_launch' THEN 'host late' WHEN 'idle_wait' THEN 'queued'
                    WHEN 'idle_unrecorded' THEN 'not recorded' ELSE 'like sizes' END,
         NULL, NULL, NULL, NULL, NULL, class, name, NULL,
         coalesce(trace_label(name), 'without a name') || ', at like sizes', c_ms, t_ms, within, NULL, abs(within),
         NULL, NULL, NULL
  FROM alike
  WHERE (within <> 0 OR mix <> 0) AND :verdict <> 'no difference'
  UNION ALL
  SELECT 2, -abs(sum(mix)), 'cause', 'mix', NULL, NULL, NULL, NULL, NULL, 'mix', NULL, NULL, 'another mix of requests',
         NULL, NULL, sum(mix), NULL, abs(sum(mix)), NULL, NULL, NULL
  FROM alike
  WHERE :verdict <> 'no difference'
  GROUP BY NULL
  HAVING max(abs(mix)) > 0
  UNION ALL
  SELECT 3, -size, 'work', NULL, NULL, NULL, NULL, NULL, NULL, NULL, name, NULL, text, NULL, NULL, NULL, NULL, NULL,
         NULL, NULL, NULL FROM work),

-- WHICH LINES. at: where the text of a cause has its name
numbered AS (
  SELECT fact.*, lines, of_work, sure, row_number() OVER (PARTITION BY part ORDER BY place, text, name) AS number,
         part = 2 AND abs(ms) >= :least AND (100 * abs(ms) >= abs(:diff_ms) OR :strata > 1) AS is_cause,
         instr(text, nullif(trace_label(name), '')) AS at
  FROM fact CROSS JOIN space),
-- counts: what work says of the operator of a cause; is_named: a cause that is sure to be shown names the operator
named AS (
  SELECT *, max(CASE part WHEN 3 THEN text END) OVER of_name AS counts,
         number = min(CASE part WHEN 2 THEN number END) OVER of_name AS is_first,
         max(is_cause AND number <= sure AND at > 0) OVER of_name AS is_named,
         group_concat(CASE WHEN is_cause AND number <= sure THEN replaced END) OVER () AS all_replaced
  FROM numbered
  WINDOW of_name AS (PARTITION BY name)),
-- is_left: work that no cause names; works: how much of it there is room for
left_over AS (
  SELECT *, row_number() OVER (PARTITION BY is_left ORDER BY number) AS nth, min(of_work, sum(is_left) OVER ()) AS works
  FROM (SELECT *, part = 3 AND NOT is_named AND NOT coalesce(instr(all_replaced, json_quote(name)), 0) AS is_left
        FROM named)),
-- rule 3
placed AS (
  SELECT *, CASE part WHEN 1 THEN number WHEN 3 THEN 300 + nth
                      ELSE CASE WHEN NOT is_cause OR number > lines - works THEN 200
                                ELSE 20 + number + 100 * (what = 'mix') + 40 * (ms * :diff_ms < 0 AND what IN (
                                  'host late', 'queued', 'synchronized', 'not recorded')) END END AS line
  FROM left_over
  WHERE CASE part WHEN 1 THEN number <= 6 WHEN 3 THEN is_left AND nth <= works ELSE 1 END),
joined AS MATERIALIZED (
  SELECT line, CASE line WHEN 200 THEN 'rest' ELSE kind END AS kind, what, side,
         coalesce(parts, count(*)) AS parts, others, iteration, rank, class, name, ratio, text, counts, is_first, at,
         sum(c_ms) AS c_ms, sum(t_ms) AS t_ms, sum(ms) AS ms, sum(share) AS share,
         total(CASE WHEN ms > 0 THEN ms END) AS more, total(CASE WHEN ms < 0 THEN ms END) AS less, gain, hidden_by,
         total(CASE WHEN line BETWEEN 20 AND 199 THEN abs(sum(ms)) END) OVER () AS held,
         total(sum(changes)) OVER () AS changes
  FROM placed
  GROUP BY line),

-- WORDS. What is said of a line is its prefix, its body and its tail; of one that is too long, the body is cut
told_alike AS MATERIALIZED (
  SELECT sum(within) AS alike_ms, sum(mix) AS mix_ms,
         coalesce(' (' || printf('%+.1f', 100 * sum(within) / nullif(:control_ms, 0)) || ' %)', '') AS alike_percent
  FROM alike
  LIMIT -1),
verdict_words AS (
  SELECT CASE WHEN :compared IS NULL
                THEN 'nothing to compare: no events in '
                     || CASE WHEN :control_ms IS NOT NULL THEN 'test' WHEN :test_ms IS NOT NULL THEN 'control'
                             ELSE 'control and in test' END
              WHEN :strata > 1 AND :judgement LIKE 'test is%'
                THEN :judgement || printf(': %+.*f %s', :digits, alike_ms / :size, :unit) || alike_percent
                     || printf('; over all sizes %.*f -> %.*f %s a step', :digits, :control_ms / :size, :digits,
                               :test_ms / :size, :unit)
              ELSE :judgement || CASE WHEN :strata > 1 THEN ' over all sizes' ELSE '' END
                   || printf(': %.*f -> %.*f %s a %s, ', :digits, :control_ms / :size, :digits, :test_ms / :size, :unit,
                             CASE WHEN :control_steps = 0 AND :test_steps = 0 THEN 'trace' ELSE 'step' END)
                   || CASE WHEN abs(:diff_ms) < :least THEN '0 ' || :unit
                           ELSE printf('%+.*f %s', :digits, :diff_ms / :size, :unit) || percent END END AS text
  FROM (SELECT CASE WHEN :rise >= 999.5 THEN printf(' (x %,d)', round(:test_ms / :control_ms))
                    WHEN :rise IS NULL THEN ''
                    ELSE printf(' (%+.*f %%)', (abs(:rise) < 9.95) + (abs(:rise) < 0.995), :rise) END AS percent)
  CROSS JOIN told_alike),
coverage AS MATERIALIZED (
  SELECT CASE WHEN :control_steps = 1 THEN '1 step' WHEN :control_steps > 0 THEN :control_steps || ' steps'
              WHEN :test_steps > 0 THEN 'a whole trace' ELSE 'whole traces' END
         || ' of ' || c_low || replace('-' || c_high, '-' || c_low, '') || ' ' || :unit
         || CASE WHEN :test_steps > 0 THEN ', ' || :test_steps || ' of '
                 WHEN :control_steps > 0 THEN ', a whole trace of '
                 ELSE ' and ' END
         || t_low || replace('-' || t_high, '-' || t_low, '')
         || CASE WHEN :verdict = 'no difference' THEN ': all parts are equal; '
                 WHEN :strata > 1 THEN ', of ' || :strata || ' sizes; '
                 WHEN :test_low_ms > :control_high_ms THEN ': all longer; '
                 WHEN :control_low_ms > :test_high_ms THEN ': all shorter; ' ELSE ': they overlap; ' END
         || CASE WHEN :is_job THEN 'job of ' || :ranks || ' ranks'
                 WHEN :control_ranks > 1
                   THEN :control_ranks || ' ranks'
                        || CASE :test_ranks WHEN :control_ranks THEN '' ELSE ' and ' || :test_ranks END
                 WHEN :test_ranks > 1 THEN '1 rank and ' || :test_ranks
                 WHEN :control_lowest = :test_lowest THEN 'rank ' || :control_lowest
                 ELSE 'ranks ' || :control_lowest || ', ' || :test_lowest END
         || CASE :verdict WHEN 'no difference' THEN '' ELSE '; one recording a side: see trace_ab' END AS text
  FROM (SELECT printf('%.*f', :digits, :control_low_ms / :size) AS c_low,
               printf('%.*f', :digits, :control_high_ms / :size) AS c_high,
               printf('%.*f', :digits, :test_low_ms / :size) AS t_low,
               printf('%.*f', :digits, :test_high_ms / :size) AS t_high)
  LIMIT -1),
-- the most of it that there is room for
coverage_words AS (
  SELECT text
  FROM (SELECT n, replace(replace(replace(replace(replace(
                    text, CASE WHEN n > 0 THEN ' ms' ELSE '' END, ''), CASE WHEN n > 1 THEN ': all ' ELSE '' END, ': '),
                    CASE WHEN n > 1 THEN 'steps of' ELSE '' END, 'steps'),
                                  CASE WHEN n > 2 THEN ' steps ' ELSE '' END, ' of '),
                    CASE WHEN n > 3 THEN 'one recording' ELSE '' END, 'one') AS text
        FROM coverage CROSS JOIN (SELECT 0 AS n UNION ALL VALUES (1), (2), (3), (4)))
  ORDER BY CASE WHEN length(text) <= 100 THEN n ELSE 9 - n END
  LIMIT 1),
-- of a step: its name, what it has more of, and how many times as long it is
told AS MATERIALIZED (
  SELECT j.*, word, high, median, 'step ' || iteration || ' of ' || word AS step, :is_job OR ranks = 1 AS is_one,
         CASE WHEN :is_job THEN 'rank ' || j.rank || ' has ' ELSE '' END
         || CASE WHEN class LIKE '%unrecorded' THEN 'more time ' ELSE 'more of ' END
         || coalesce(trace_label(name),
                     CASE WHEN class LIKE '%unrecorded' THEN 'in which nothing is recorded' ELSE class END)
           AS surplus,
         CASE WHEN ratio >= 9.95 THEN printf('%,d', round(ratio)) ELSE printf('%.1f', ratio) END AS times,
         CASE WHEN kind = 'cause' THEN coalesce(', only on rank ' || j.rank, '')
              WHEN kind = 'caution' AND ms IS NOT NULL
                THEN CASE what WHEN 'outlier' THEN '; would add ' ELSE '; makes ' END
                     || printf('%+.*f %s', :digits, ms / :size, :unit) ELSE '' END
         || CASE WHEN is_untold AND ms > 0 THEN '; undone: not known (less hidden)'
                 WHEN is_untold THEN '; undone: not known (more hidden)'
                 WHEN NOT is_other THEN ''
                 WHEN abs(gain) < :least THEN '; undone: no change'
                 ELSE printf('; undone: %+.*f %s', :digits, -gain / :size, :unit) END AS tail,
         CASE WHEN is_other AND instr(text, hidden_by) <> 1 THEN ', hidden by ' || hidden_by ELSE '' END AS behind
  FROM (SELECT *, kind = 'cause' AND coalesce(abs(gain - ms) > max(0.1 * abs(ms), 4 * :least), 0) AS is_other,
               kind = 'cause' AND hidden_by = '' AND abs(ms) >= 4 * :least AS is_untold
        FROM joined) AS j
  LEFT JOIN side USING (side)
  LIMIT -1),
worded AS MATERIALIZED (
  SELECT told.*,
         CASE WHEN kind = 'caution' THEN 'caution: '
              WHEN kind = 'work' THEN 'work: '
              WHEN kind NOT IN ('cause', 'rest') THEN ''
              ELSE printf('%8s %-2s %6s  %-13s  ',
                          CASE WHEN abs(ms) < :least THEN '0' ELSE printf('%+.*f', :digits, ms / :size) END,
                          :unit,
                          CASE WHEN :judgement LIKE 'test %' AND abs(share) < 9.995 THEN printf('%.0f %%', 100 * share)
                               ELSE '' END,
                          CASE WHEN kind = 'rest' THEN '' WHEN what = 'synchronized' THEN 'host late'
                               WHEN what IN ('host late', 'queued', 'not recorded', 'mix', 'moved') THEN what
                               WHEN class = 'comm' THEN 'communication' WHEN class = 'memory' THEN 'copies'
                               WHEN class = 'compute' THEN class ELSE 'host' END) END AS prefix,
         CASE kind
           WHEN 'verdict' THEN (SELECT text FROM verdict_words)
           WHEN 'coverage' THEN (SELECT text FROM coverage_words)
           WHEN 'mix' THEN (SELECT printf('at like sizes %+.*f %s', :digits, alike_ms / :size, :unit) || alike_percent
                                   || printf('; from another mix of requests %+.*f %s', :digits, mix_ms / :size, :unit)
                            FROM told_alike)
           WHEN 'untraced' THEN printf('untraced: %.*f -> %.*f %s a step, %+.*f %s; traced %+.*f %s', :digits,
                                       :control_untraced / :size, :digits, :test_untraced / :size, :unit, :digits,
                                       :untraced / :size, :unit, :digits, :diff_ms / :size, :unit)
           WHEN 'caution' THEN CASE what
             WHEN 'overhead' THEN printf('the profiler changes the difference: without it %+.*f %s',
                                         :digits, :untraced / :size, :unit)
             WHEN 'clock' THEN
               CASE WHEN :is_job AND parts = 1 AND :ranks > 1 THEN 'rank ' || rank || ': ' ELSE '' END
               || 'kernels are ' || CASE WHEN ratio > 1 THEN 'slower' ELSE 'faster' END || ' by one factor '
               || CASE WHEN parts BETWEEN 2 AND :ranks - 1
                       THEN printf('on %d ranks, as rank %d (x%.2f): look at the clock first', parts, rank, ratio)
                       ELSE printf('(x%.2f): look at the clock first', ratio) END
             WHEN 'outlier' THEN
               CASE WHEN parts + others = 1 THEN step || ' is left out: ' || times || ' times as long; '
                    ELSE parts || CASE parts WHEN 1 THEN ' step of ' ELSE ' steps of ' END || word
                         || CASE WHEN others = 0 THEN '' WHEN side = 0 THEN ' and ' || others || ' of test'
                                 ELSE ' and ' || others || ' of control' END
                         || ' are left out, as step ' || iteration || ' (x ' || times || '): ' END || surplus
             WHEN 'long_step' THEN
               CASE WHEN is_one THEN step ELSE 'a step of ' || word END
               || printf(' takes %.*f %s, median %.*f', :digits, high / :size, :unit, :digits, median / :size)
               || CASE WHEN is_one THEN '; ' || surplus ELSE '' END
             ELSE text END
           WHEN 'cause' THEN
             CASE WHEN counts IS NOT NULL AND is_first AND at > 0 AND what <> 'replaced'
                    THEN substr(text, 1, at - 1) || counts || substr(text, at + length(trace_label(name)))
                  ELSE text END
           WHEN 'rest' THEN
             parts || CASE parts WHEN 1 THEN ' smaller part' ELSE ' smaller parts' END
             || CASE WHEN parts > 1 AND 4 * held < 3 * changes
                       THEN printf(': %+.*f and %+.*f %s', :digits, more / :size, :digits, less / :size, :unit)
                       ELSE '' END
           ELSE text END AS body
  FROM told
  LIMIT -1),
cut AS (
  SELECT *, CASE WHEN length(body) <= most THEN body
                 WHEN length(words) > most - 30 THEN rtrim(words, ' .,;:(<_#-') || '...'
                 ELSE substr(body, 1, most - 3) || '...' END AS kept
  FROM (SELECT *, substr(rtrim(substr(body, 1, most - 2),
                               '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'), 1, most - 3) AS words
        FROM (SELECT *, 100 - length(prefix) - length(tail) AS most
              FROM (SELECT line, kind, what, parts, prefix, body, class, name, c_ms, t_ms, ms, share, rank, gain,
                           hidden_by,
                           tail || CASE WHEN length(prefix || body || tail || behind) <= 100 THEN behind ELSE '' END
                           AS tail
                    FROM worded))))
SELECT row_number() OVER (ORDER BY line) AS line, kind, prefix || kept || tail AS text,
       CASE kind WHEN 'cause' THEN class END AS class, CASE WHEN kind IN ('cause', 'work') THEN name END AS name,
       c_ms AS control_ms, t_ms AS test_ms, ms AS diff_ms,
       CASE WHEN kind IN ('caution', 'cause', 'rest') THEN share END AS share,
       CASE WHEN kind = 'cause' OR (kind = 'caution' AND :is_job AND :ranks > 1
                                    AND (what IN ('outlier', 'long_step') OR (what IN ('clock', 'load') AND parts = 1)))
              THEN rank END AS rank, CASE kind WHEN 'cause' THEN gain END AS gain_ms,
       CASE kind WHEN 'cause' THEN nullif(hidden_by, '') END AS hidden_by,
       CASE WHEN kind IN ('caution', 'cause') THEN what
            WHEN kind <> 'verdict' THEN NULL
            WHEN :judgement = 'no difference' THEN 'same'
            WHEN :judgement LIKE 'test is slower%' THEN 'slower'
            WHEN :judgement LIKE 'test is faster%' THEN 'faster' ELSE 'unknown' END AS code,
       CASE WHEN kind = 'verdict' THEN :judgement WHEN kind IN ('caution', 'cause', 'work') THEN body END AS words
FROM cut
ORDER BY cut.line;
