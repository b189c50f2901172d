-- trace_brief: the answer of trace_summary as JSON for a program: each number with the query that gives it.
-- Family: the answer
-- Question: What can a program rely on, in a page of JSON?
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
--   :gains              0|1            0: causes without what a step gains if they are undone; default 1
--   :steps              steps          which events are steps: 'auto', 'profiler',
--                                      a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   json  TEXT  a document of at most 6,250 bytes, as sql/brief.schema.json describes it
-- Grain: one row.
-- Rules:
--   1. Lines, their numbers and their words are those of trace_summary. The first of `causes` is its caution that makes
--      most of the difference as a whole (L11), if it has one, with a key `covers`; the others are its causes if the
--      verdict is slower or faster. Else they are those that are clear by themselves: 5 % of the step or more, on sides
--      of four steps or more, in each step of one side longer than in all of the other by more than these differ; under
--      another load of the host, time of class host but for DataLoaders only beside what load makes of control (L7.5).
--   2. An object with numbers has a key `sql`: a query of one row, whose columns of the names of these keys have
--      exactly these values. What is not known, or has no query, is left out. Problems in args are counted once args
--      have been read (T6.5): of a trace that has some, a caution may come or go.
--   3. `rest` is what the causes leave: the diff_ms of those without `covers`, and its own, add up to the verdict's.
--      `noise_percent` is 100 / (1.96 * sqrt(2)) times the part that the difference is of the step of control: if steps
--      of several runs of one version vary by that, as a standard deviation, one pair in 20 differs so by chance.
--   4. `evidence` of a cause is of its operator, or of its kernel of communication, at the operator, shapes and kernel
--      whose device time differs most; of what the host does, how often it runs a step, if that changed.
--   5. Texts of traces are values of the keys that the schema marks as data: at most 100 characters, 50 if these take
--      more than 150 bytes, the last one '…' if there were more. Characters that do not show, or that turn the
--      direction of text, are U+FFFD. Queries quote names, and have none with such characters. Others are fixed texts.
--   6. An argument of more than 200 characters, of more than 20 if all have more than 250, and one with a character as
--      in rule 5, is in queries a parameter of its name, as :control: bind it.
--   7. A document has at most 6,250 bytes, which are about 2,000 tokens. What does not fit is left out, and left_out
--      counts it: first evidence, that of the last cause first; then causes, next, work and cannot_say, the last first.
--      If the steps that are compared are more than 50 characters of JSON, evidence is of all that were asked for.
-- Facts
--   hidden        pattern of a character that does not show, or turns the direction of text
--   given         the arguments of trace_summary, in SQL
--   given_short   those of trace_verdict
--   sides         the first two
--   test_side     the second
--   six           the first six
--   clock_sql     clock
--   steps_sql     steps
--   chosen        ranks and steps for functions that do not take 'job'; NULL: they are too long
--   c_ranks       the ranks of control in chosen
--   t_ranks       the same of test
--   c_iterations  the steps of control in chosen
--   t_iterations  the same of test
--   is_job        1 if jobs are compared
--   control_ms    this column and those that follow are those of trace_verdict
--   test_ms
--   diff_ms
--   control_low_ms
--   control_high_ms
--   test_low_ms
--   test_high_ms
--   control_steps
--   test_steps
--   control_of_host
--   test_of_host
--   strata
--   code          slower, faster, same or unknown
--   words         the verdict in words
--   is_clear      1 if it is slower or faster
--   is_pair       1 if both sides have events
--   works         lines of work
--   claimed       the lines that are causes (rule 1), each between commas
--   no_gain       causes without a gain
--   matter        rows of trace_comparability that matter
--   may_matter    those that may
--   shapes        1 if both sides have shapes
--   stacks        1 if both sides have modules, or Python's stacks
--   is_part       1 if not all ranks of a side are recorded
--   c_silent      ms a step of control in which nothing is recorded
--   t_silent      the same of test
WITH asked AS MATERIALIZED (
  SELECT *, CASE WHEN is_long THEN :control_iteration ELSE control_iterations END AS c_iterations,
         CASE WHEN is_long THEN :test_iteration ELSE test_iterations END AS t_iterations
  FROM (SELECT control_chosen AS c_rank, test_chosen AS t_rank, r.control_ranks AS c_ranks, r.test_ranks AS t_ranks,
               control_job AND test_job AS is_job, v.*,
               coalesce(max(length(control_iterations), length(test_iterations)) > 50, 0) AS is_long
        FROM trace_compared_ranks(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
                                  :steps) AS r
        CROSS JOIN trace_verdict(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
                                 :clock, :steps) AS v)
  LIMIT -1),
-- the rows of evidence, before trace_comparability asks for some of their columns: then args are read once
first AS MATERIALIZED (
  SELECT count(d.control_counts) + count(d.test_counts) + count(d.control_kernels) + count(d.test_kernels)
         + count(d.control_tflops) + count(d.test_tflops) AS n
  FROM asked
  CROSS JOIN trace_diff_by(:control, :test, 'top_op,op,shapes,types,kernel', c_ranks, t_ranks, c_iterations,
                           t_iterations, 'GPU', 2, :steps) AS d
  LIMIT -1),
summary AS MATERIALIZED (
  SELECT s.line, s.kind, s.class, s.name, s.diff_ms, s.gain_ms, s.code, s.words
  FROM first
  CROSS JOIN trace_summary(CASE WHEN n >= 0 THEN :control END, :test, :control_rank, :test_rank, :control_iteration,
                           :test_iteration, :clock, :control_untraced, :test_untraced, :gains, :steps) AS s
  LIMIT -1),
told AS MATERIALIZED (
  SELECT *, code IN ('slower', 'faster') AS is_clear, words <> 'nothing to compare' AS is_pair
  FROM (SELECT max(code) FILTER (WHERE kind = 'verdict') AS code, max(words) FILTER (WHERE kind = 'verdict') AS words,
               count(*) FILTER (WHERE kind = 'work') AS works, count(*) FILTER (WHERE code = 'load') AS is_loaded
        FROM summary)
  LIMIT -1),
-- rule 1: ms of a part in the shortest and in the longest step of each side
own AS MATERIALIZED (
  SELECT class, name, coalesce(max(ms) FILTER (WHERE side = 0), 0) AS c_high,
         CASE count(*) FILTER (WHERE side = 0) WHEN max(number) FILTER (WHERE side = 0)
                THEN min(ms) FILTER (WHERE side = 0) ELSE 0 END AS c_low,
         coalesce(max(ms) FILTER (WHERE side = 1), 0) AS t_high,
         CASE count(*) FILTER (WHERE side = 1) WHEN max(number) FILTER (WHERE side = 1)
                THEN min(ms) FILTER (WHERE side = 1) ELSE 0 END AS t_low
  FROM (SELECT side, class, name, sum(time_ns) / 1e6 AS ms, max(number) OVER (PARTITION BY side) AS number
        FROM (SELECT *, dense_rank() OVER (PARTITION BY side ORDER BY iteration) AS number
              FROM (SELECT 0 AS side, t.iteration, t.class, t.name, t.time_ns
                    FROM asked
                    CROSS JOIN told
                    CROSS JOIN trace_step_time(CASE WHEN is_pair AND NOT is_clear AND strata = 1 THEN :control END,
                                               c_rank, c_iterations, 'top_op', :clock, NULL, :steps) AS t
                    UNION ALL
                    SELECT 1, t.iteration, t.class, t.name, t.time_ns
                    FROM asked
                    CROSS JOIN told
                    CROSS JOIN trace_step_time(CASE WHEN is_pair AND NOT is_clear AND strata = 1 THEN :test END,
                                               t_rank, t_iterations, 'top_op', :clock, NULL, :steps) AS t))
        GROUP BY side, iteration, class, name)
  GROUP BY class, name
  LIMIT -1),
-- what load makes of a time of the host (L7.5), as factors
load AS MATERIALIZED (
  SELECT coalesce(min(f.low, 1), 1) AS low, coalesce(max(f.high, 1), 1) AS high
  FROM asked
  CROSS JOIN told
  LEFT JOIN trace_host_factor(CASE WHEN is_loaded AND NOT is_clear THEN :control END, :test, c_ranks, t_ranks,
                              c_iterations, t_iterations, :steps) AS f ON f.kind = 'host'
  LIMIT -1),
cause AS MATERIALIZED (
  SELECT group_concat(',' || line || ',', '') AS claimed, count(*) FILTER (WHERE gain_ms IS NULL) AS no_gain
  FROM (SELECT s.line, s.class, s.gain_ms
        FROM summary AS s
        CROSS JOIN told
        CROSS JOIN asked
        LEFT JOIN (SELECT own.class, own.name, t_low, t_high, c_low * CASE is_load WHEN 1 THEN low ELSE 1 END AS c_low,
                          c_high * CASE is_load WHEN 1 THEN high ELSE 1 END AS c_high
                   FROM load
                   CROSS JOIN (SELECT *, class = 'host' AND name NOT LIKE 'enumerate(DataLoader)%' AS is_load FROM own)
                                AS own) AS o ON o.class = s.class AND o.name = s.name
        WHERE s.kind = 'cause'
          AND (is_clear
               OR (min(control_steps, test_steps) >= 4 AND abs(s.diff_ms) >= 0.05 * control_ms
                   AND (t_low > 2 * c_high - c_low OR c_low > 2 * t_high - t_low)))
        ORDER BY s.line)
  LIMIT -1),
-- what trace_comparability says, and of what both sides have something
checked AS MATERIALIZED (
  SELECT sum(matters = 'yes') AS matter, sum(matters = 'maybe') AS may_matter,
         max((topic = 'shapes' AND item <> 'copies to the device') OR (item = 'record_shapes' AND is_both)) AS shapes,
         max((item = 'with_stack' OR topic = 'modules') AND is_both) AS stacks,
         max(topic = 'ranks' AND item = 'recorded' AND (
               control_value <> CAST(control_value AS INTEGER) || ' of ' || CAST(control_value AS INTEGER)
               OR test_value <> CAST(test_value AS INTEGER) || ' of ' || CAST(test_value AS INTEGER))) AS is_part
  FROM (SELECT m.topic, m.item, m.control_value, m.test_value, m.matters,
               coalesce(m.control_value + 0 AND m.test_value + 0, 0) AS is_both
        FROM asked
        CROSS JOIN trace_comparability(:control, :test, c_ranks, t_ranks, c_iterations, t_iterations, :clock, 1,
                                       :steps) AS m)
  LIMIT -1),
silent AS MATERIALIZED (
  SELECT total(d.control_time) / 1000 AS c_silent, total(d.test_time) / 1000 AS t_silent
  FROM told
  CROSS JOIN trace_step_diff(CASE WHEN is_pair THEN :control END, :test, :control_rank, :test_rank, :control_iteration,
                             :test_iteration, 'annotation', :clock, NULL, NULL, :steps) AS d
  WHERE d.class LIKE '%unrecorded'
  LIMIT -1),
pattern AS MATERIALIZED (
  SELECT '*[' || char(1) || '-' || char(31, 127) || '-' || char(159, 173, 847, 1564, 4447, 4448, 6068, 6069, 6155)
         || '-' || char(6159, 8203) || '-' || char(8207, 8232) || '-' || char(8238, 8288) || '-'
         || char(8303, 12644, 65024) || '-' || char(65039, 65279, 65440, 65520) || '-' || char(65531, 917504) || '-'
         || char(921599) || ']*' AS hidden
  LIMIT -1),
-- the arguments of trace_summary, in its order; others take theirs in the same order
argument(place, name, value) AS (
  VALUES (1, 'control', :control), (2, 'test', :test), (3, 'control_rank', :control_rank), (4, 'test_rank', :test_rank),
         (5, 'control_iteration', :control_iteration), (6, 'test_iteration', :test_iteration), (7, 'clock', :clock),
         (8, 'control_untraced', :control_untraced), (9, 'test_untraced', :test_untraced),
         (10, 'gains', :gains), (11, 'steps', :steps)),
lists AS MATERIALIZED (
  SELECT group_concat(text, ', ') AS given,
         group_concat(text, ', ') FILTER (WHERE place NOT IN (8, 9, 10)) AS given_short,
         group_concat(text, ', ') FILTER (WHERE place <= 2) AS sides, max(text) FILTER (WHERE place = 2) AS test_side,
         group_concat(text, ', ') FILTER (WHERE place <= 6) AS six, max(text) FILTER (WHERE place = 5) AS c_iteration,
         max(text) FILTER (WHERE place = 6) AS t_iteration, max(text) FILTER (WHERE place = 7) AS clock_sql,
         max(text) FILTER (WHERE place = 11) AS steps_sql, hidden
  FROM (SELECT place, hidden,
               CASE WHEN typeof(value) = 'text' AND (
                           value GLOB hidden OR instr(value, char(0)) OR length(value) > 200
                           OR (length(value) > 20 AND total(length(value)) OVER () > 250))
                      THEN ':' || name
                    ELSE quote(value) END AS text
        FROM argument CROSS JOIN pattern
        ORDER BY place)
  LIMIT -1)
SELECT *, CASE WHEN coalesce(max(length(c_ranks), length(t_ranks)) <= 50, 1)
                 THEN quote(c_ranks) || ', ' || quote(t_ranks) || ', '
                      || CASE WHEN is_long THEN c_iteration || ', ' || t_iteration
                              ELSE quote(control_iterations) || ', ' || quote(test_iterations) END END AS chosen
FROM asked CROSS JOIN told CROSS JOIN cause CROSS JOIN checked CROSS JOIN silent CROSS JOIN lists;

WITH RECURSIVE
-- the lines of trace_summary that are said, with their name in SQL if it is short and shows
line AS MATERIALIZED ( -- nth: from 0, of its kind. Not the number of the line: a caution more would change that
  SELECT line, kind, CASE WHEN kind = 'caution' AND diff_ms IS NOT NULL THEN 'cause' ELSE kind END AS about, class,
         rank, name, control_ms, test_ms, diff_ms, share, gain_ms, hidden_by, code, words, nth,
         CASE WHEN kind = 'caution' THEN CASE code WHEN 'clock' THEN 'compute' WHEN 'outlier' THEN 'none' ELSE 'all' END
           END AS covers,
         CASE WHEN class IN ('compute', 'memory') THEN 'top_op' WHEN class = 'comm' THEN 'kernel' ELSE 'name' END
           AS key,
         CASE WHEN name NOT GLOB :hidden AND length(name) <= 100 AND NOT instr(name, char(0)) AND :strata = 1
                     AND :chosen IS NOT NULL THEN quote(name) END AS quoted
  FROM (SELECT *, row_number() OVER (PARTITION BY kind ORDER BY line) - 1 AS nth
        FROM trace_summary(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration, :clock,
                           :control_untraced, :test_untraced, :gains, :steps))
  WHERE kind <> 'cause' OR instr(:claimed, ',' || line || ',')
  LIMIT -1),
-- rows of trace_diff_by and trace_work_diff, in their order
sum AS MATERIALIZED (
  SELECT row_number() OVER () AS place, top_op, kernel, NULL AS name, shapes, control_counts AS c_counts,
         test_counts AS t_counts, control_kernels AS c_kernels, test_kernels AS t_kernels, control_tflops AS c_tflops,
         test_tflops AS t_tflops
  FROM trace_diff_by(CASE WHEN :is_pair THEN :control END, :test, 'top_op,op,shapes,types,kernel', :c_ranks, :t_ranks,
                     :c_iterations, :t_iterations, 'GPU', 2, :steps)
  UNION ALL
  SELECT row_number() OVER (), NULL, NULL, name, NULL, control_counts, test_counts, NULL, NULL, NULL, NULL
  FROM trace_work_diff(CASE WHEN :is_pair THEN :control END, :test, :c_ranks, :t_ranks, :c_iterations, :t_iterations,
                       :steps)
  LIMIT -1),
evidence AS MATERIALIZED ( -- the first row of each
  SELECT line, kind, l.key, l.quoted, min(place) AS place, shapes, c_counts, t_counts, c_kernels, t_kernels, c_tflops,
         t_tflops
  FROM line AS l
  CROSS JOIN sum AS s ON l.name = CASE l.key WHEN 'top_op' THEN s.top_op WHEN 'kernel' THEN s.kernel ELSE s.name END
  WHERE kind IN ('cause', 'work') AND l.quoted IS NOT NULL
  GROUP BY line
  LIMIT -1),

rest AS MATERIALIZED ( -- for each cause that may be the last that there is room for, and for none
  SELECT line, but, (SELECT total(s.diff_ms)
                     FROM trace_summary(:control, :test, :control_rank, :test_rank, :control_iteration, :test_iteration,
                                        :clock, :control_untraced, :test_untraced, :gains, :steps) AS s
                     WHERE s.kind IN ('cause', 'rest')
                       AND NOT (l.line >= s.line AND instr(:claimed, ',' || s.line || ','))) AS diff_ms
  FROM (SELECT 0 AS line, '' AS but WHERE :is_pair
        UNION ALL
        SELECT line, coalesce(') WHERE n NOT IN (' || group_concat(CASE kind WHEN 'cause' THEN nth + 1 END, ', ')
                                                        OVER (ORDER BY line) || ')', '')
        FROM line
        WHERE about = 'cause') AS l
  LIMIT -1),

-- WHAT IS SAID. Keys of objects in order. number: the column of a number in the query of the object, NULL of a text;
-- source: from what that query reads
said(about, item, place, key, value, number, source) AS (
  SELECT column1, 1, column2, column3, column4, column5,
         CASE column1 WHEN 'unrecorded' THEN 'trace_step_diff' || '('
                          || rtrim(:six || ', ''annotation'', ' || :clock_sql || ', NULL, NULL, ' || :steps_sql,
                                   ', NUL')
                          || ') WHERE class LIKE ''%unrecorded'''
                      WHEN 'comparability' THEN 'trace_comparability' || '('
                          || rtrim(:sides || ', ' || :chosen || ', ' || :clock_sql || ', NULL, ' || :steps_sql, ', NUL')
                          || ')'
                      ELSE 'trace_verdict' || '(' || rtrim(:given_short, ', NUL') || ')' END
  FROM (VALUES
    ('verdict', 1, 'is', :code, NULL), ('verdict', 2, 'words', :words, NULL),
    ('verdict', 3, 'control_ms', :control_ms, 'control_ms'), ('verdict', 4, 'test_ms', :test_ms, 'test_ms'),
    ('verdict', 5, 'diff_ms', :diff_ms, 'diff_ms'),
    ('verdict', 6, 'percent', 100 * :diff_ms / :control_ms, '100 * diff_ms / control_ms AS percent'),
    ('certainty', 1, 'control_runs', 1, '1 AS control_runs'), ('certainty', 2, 'test_runs', 1, '1 AS test_runs'),
    ('certainty', 3, 'control_steps', :control_steps, 'control_steps'),
    ('certainty', 4, 'test_steps', :test_steps, 'test_steps'),
    ('certainty', 5, 'control_low_ms', :control_low_ms, 'control_low_ms'),
    ('certainty', 6, 'control_high_ms', :control_high_ms, 'control_high_ms'),
    ('certainty', 7, 'test_low_ms', :test_low_ms, 'test_low_ms'),
    ('certainty', 8, 'test_high_ms', :test_high_ms, 'test_high_ms'),
    ('certainty', 9, 'noise_percent', 100 * abs(:diff_ms) / :control_ms / 2.77,
     '100 * abs(diff_ms) / control_ms / 2.77 AS noise_percent'),
    ('unrecorded', 1, 'control_ms', :c_silent, 'total(control_time) / 1000 AS control_ms'),
    ('unrecorded', 2, 'test_ms', :t_silent, 'total(test_time) / 1000 AS test_ms'),
    ('comparability', 1, 'is',
     CASE WHEN NOT :is_pair THEN 'empty' WHEN :matter > 0 THEN 'doubtful' ELSE 'good' END, NULL),
    ('comparability', 2, 'matter', CASE WHEN :chosen IS NOT NULL THEN :matter END, 'sum(matters = ''yes'') AS matter'),
    ('comparability', 3, 'may_matter', CASE WHEN :chosen IS NOT NULL THEN :may_matter END,
     'sum(matters = ''maybe'') AS may_matter'))
  WHERE column1 <> 'unrecorded' OR :c_silent > 0.01 * :control_ms OR :t_silent > 0.01 * :test_ms
  UNION ALL
  SELECT about, line, column1, column2,
         CASE column1 WHEN 1 THEN code WHEN 2 THEN class WHEN 3 THEN rank WHEN 4 THEN name WHEN 5 THEN words
                      WHEN 6 THEN control_ms WHEN 7 THEN test_ms WHEN 8 THEN diff_ms WHEN 9 THEN share
                      WHEN 10 THEN gain_ms WHEN 11 THEN hidden_by ELSE covers END,
         CASE WHEN column1 IN (3, 6, 7, 8, 9, 10) THEN column2 END,
         'trace_summary' || '(' || rtrim(:given, ', NUL') || ') WHERE kind = ' || quote(kind) || ' LIMIT 1 OFFSET '
         || nth
  FROM line
  CROSS JOIN (VALUES (1, 'kind'), (1, 'code'), (2, 'class'), (3, 'rank'), (4, 'name'), (5, 'words'), (6, 'control_ms'),
                     (7, 'test_ms'), (8, 'diff_ms'), (9, 'share'), (10, 'gain_ms'), (11, 'hidden_by'),
                     (12, 'covers'))
  WHERE CASE about WHEN 'cause' THEN column2 NOT IN ('code', 'control_ms', 'test_ms')
                  WHEN 'caution' THEN column2 IN ('code', 'rank', 'words') WHEN 'work' THEN column2 IN ('name', 'words')
                  ELSE about = 'untraced' AND column1 BETWEEN 6 AND 8 END
  UNION ALL
  -- of a rest one for each cause that may be the last that there is room for
  SELECT 'rest', l.line, 1, 'diff_ms', l.diff_ms,
         'total(diff_ms) AS diff_ms',
         CASE WHEN but = '' THEN '' ELSE '(SELECT diff_ms, row_number() OVER (ORDER BY line) AS n FROM ' END
         || 'trace_summary' || '(' || rtrim(:given, ', NUL') || ') WHERE kind IN (''cause'', ''rest'')' || but
  FROM rest AS l
  UNION ALL
  SELECT CASE kind WHEN 'work' THEN kind ELSE 'evidence' END, line, 10 + column1, column2,
         CASE column1 WHEN 1 THEN shapes WHEN 2 THEN c_counts WHEN 3 THEN t_counts WHEN 4 THEN c_kernels
                      WHEN 5 THEN t_kernels WHEN 6 THEN c_tflops ELSE t_tflops END,
         column2,
         CASE key WHEN 'name' THEN 'trace_work_diff' || '('
                                   || rtrim(:sides || ', ' || :chosen || ', ' || :steps_sql, ', NUL')
                  ELSE 'trace_diff_by' || '(' || rtrim(:sides || ', ''top_op,op,shapes,types,kernel'', ' || :chosen
                                                       || ', ''GPU'', NULL, ' || :steps_sql, ', NUL') END
         || ') WHERE ' || key || ' = ' || quoted || ' LIMIT 1'
  FROM evidence
  CROSS JOIN (VALUES (1, 'shapes'), (2, 'control_counts'), (3, 'test_counts'), (4, 'control_kernels'),
                     (5, 'test_kernels'), (6, 'control_tflops'), (7, 'test_tflops'))
  UNION ALL
  SELECT 'next', column1, place, key,
         CASE place WHEN 1 THEN column2
                    ELSE 'SELECT ' || column3 || '(' || rtrim(column4, ', NUL') || ')' || column5 END,
         NULL, NULL
  FROM (VALUES
    (1, 'What may be wrong with the comparison?',
     'topic, item, control_value, test_value, why FROM ' || 'trace_comparability',
     :sides || ', ' || :chosen || ', ' || :clock_sql || ', NULL, ' || :steps_sql, ' WHERE matters = ''yes'''),
    (2, 'Where does the time of a step go, and what changed?',
     'class, name, control_time, test_time, diff_time FROM ' || 'trace_step_diff',
     :six || ', NULL, ' || :clock_sql || ', NULL, NULL, ' || :steps_sql, ' LIMIT 12'),
    (3, 'Which operators and kernels run more or less often?', 'text, size FROM ' || 'trace_work_diff',
     :sides || ', ' || :chosen || ', ' || :steps_sql, ' LIMIT 12'),
    (4, 'Which shapes take longer, by more executions or by longer ones?',
     'key, diff_device_time, diff_from_counts, diff_from_mean FROM ' || 'trace_diff_by',
     :sides || ', ''op,shapes'', ' || :chosen || ', ''GPU'', NULL, ' || :steps_sql, ' LIMIT 12'),
    (5, 'Which rank do the others wait for?',
     'rank, wait_caused, class, name, diff_time FROM ' || 'potential_stragglers', :test_side, ' LIMIT 12'),
    (6, 'How long is each step of test?', 'rank, iteration, dur FROM ' || 'trace_steps',
     :test_side || ', ' || :steps_sql, ' LIMIT 50'))
  CROSS JOIN (SELECT 1 AS place, 'question' AS key UNION ALL SELECT 2, 'sql')
  WHERE :is_pair AND column4 IS NOT NULL
    AND CASE column1 WHEN 1 THEN :matter > 0 WHEN 3 THEN :works = 3
                     WHEN 4 THEN :is_clear AND NOT :control_of_host AND NOT :test_of_host
                     WHEN 5 THEN :is_job AND NOT :test_of_host
                     WHEN 6 THEN NOT :is_clear AND :test_steps > 0 ELSE 1 END
  UNION ALL
  SELECT 'cannot_say', column1, place, key, CASE place WHEN 1 THEN column2 WHEN 2 THEN column3 ELSE column4 END, NULL,
         NULL
  FROM (VALUES
    (1, 'one_recording', 'whether another recording would show the same', 'several runs a side, in turns; trace_ab'),
    (2, 'unclear', 'whether a step is slower: steps vary more than they differ, or other work was done',
     'more steps, an idle machine, several runs a side'),
    (3, 'no_steps', 'how long a step takes: a side has none',
     'profiler.step(), or ranges that the argument steps names'),
    (4, 'few_steps', 'how much steps vary: a side has fewer than three', 'schedule(active=6) or more'),
    (5, 'no_device_work', 'what a device did: a side has no device work',
     'activities with ProfilerActivity.CUDA, if there is a device'),
    (6, 'missing_ranks', 'who waits for ranks that are not recorded', 'a file of each rank'),
    (7, 'no_shapes', 'shapes and TFLOP/s', 'record_shapes=True'),
    (8, 'no_stacks', 'which lines of Python ask for an operator', 'with_stack=True, in a recording of its own'),
    (9, 'unrecorded', 'what the host does where nothing is recorded', 'record_function() around what it may be'),
    (10, 'no_gain', 'what a fix of causes without gain_ms would bring', NULL),
    (11, 'untraced', 'how long steps take without the profiler', 'their ms, as control_untraced and test_untraced'),
    (12, 'no_memory', 'where memory goes', 'snapshots of the allocator; memory_summary'))
  CROSS JOIN (SELECT 1 AS place, 'code' AS key UNION ALL SELECT 2, 'words' UNION ALL SELECT 3, 'record')
  WHERE CASE column1 WHEN 1 THEN :is_pair AND :code <> 'same' WHEN 2 THEN :is_pair AND :code = 'unknown'
                     WHEN 3 THEN min(:control_steps, :test_steps) = 0
                     WHEN 4 THEN min(:control_steps, :test_steps) BETWEEN 1 AND 2
                     WHEN 5 THEN max(:control_of_host, :test_of_host) WHEN 6 THEN :is_part WHEN 7 THEN NOT :shapes
                     WHEN 8 THEN NOT :stacks WHEN 9 THEN max(:c_silent / :control_ms, :t_silent / :test_ms) > 0.1
                     WHEN 10 THEN :no_gain > 0 WHEN 11 THEN :control_untraced IS NULL OR :test_untraced IS NULL
                     ELSE 1 END),

-- HOW IT IS WRITTEN
-- rule 5: rest is what is still to be looked at, of texts in which a character is hidden one by one
plain(about, item, place, key, value, number, source, text, rest) AS (
  SELECT about, item, place, key, value, number, source, CASE WHEN short NOT GLOB :hidden THEN short ELSE '' END,
         CASE WHEN short GLOB :hidden THEN short ELSE '' END
  FROM (SELECT *, CASE WHEN key NOT IN ('name', 'words', 'shapes', 'hidden_by') THEN value
                       WHEN length(value) > most OR instr(value, char(0)) THEN substr(value, 1, most - 1) || '…'
                       ELSE value END AS short
        FROM (SELECT *, CASE WHEN length(CAST(json_quote(substr(value, 1, 100)) AS BLOB)) > 152 THEN 50 ELSE 100 END
                          AS most
              FROM said
              WHERE value IS NOT NULL))
  UNION ALL
  SELECT about, item, place, key, value, number, source,
         text || CASE WHEN rest NOT GLOB :hidden THEN rest
                      WHEN substr(rest, 1, 1) GLOB :hidden THEN char(65533) ELSE substr(rest, 1, 1) END,
         CASE WHEN rest GLOB :hidden THEN substr(rest, 2) ELSE '' END
  FROM plain
  WHERE rest <> ''),
-- of a number 15 digits, or 17 if these are another number
object AS (
  SELECT about, item, CASE about WHEN 'verdict' THEN 0 WHEN 'caution' THEN 0 WHEN 'cannot_say' THEN 1 WHEN 'work' THEN 2
                                 WHEN 'next' THEN 3 WHEN 'cause' THEN 4 WHEN 'evidence' THEN 5 ELSE 0 END AS priority,
         '{' || group_concat(json_quote(key) || ':' || written)
         || CASE WHEN max(number) IS NULL THEN ''
                 ELSE ',"sql":' || json_quote('SELECT ' || group_concat(number, ', ') || ' FROM '
                                              || max(CASE WHEN number IS NOT NULL THEN source END)) END || '}' AS json
  FROM (SELECT *, CASE typeof(value)
                    WHEN 'integer' THEN value
                    WHEN 'real' THEN CASE WHEN CAST(printf('%!.15g', value) AS REAL) = value
                                            THEN printf('%!.15g', value)
                                          ELSE printf('%!.17g', value) END
                    ELSE json_quote(text) END AS written
        FROM plain
        WHERE rest = ''
        ORDER BY about, item, place)
  GROUP BY about, item),
-- rule 7
measured AS (
  SELECT *, length(CAST(json AS BLOB)) + 13 AS bytes,
         max(CASE WHEN about = 'rest' THEN length(CAST(json AS BLOB)) ELSE 0 END) OVER () AS of_rest
  FROM object),
piece AS (
  SELECT *, priority = 0 OR of_rest + sum(CASE WHEN about <> 'rest' THEN bytes ELSE 0 END) OVER (
                                        ORDER BY priority, item ROWS UNBOUNDED PRECEDING) <= 6000 AS is_kept
  FROM measured),
kept AS (
  SELECT about, item, json, is_kept,
         max(CASE WHEN about = 'evidence' AND is_kept THEN json END) OVER (PARTITION BY priority IN (4, 5), item)
           AS evidence,
         max(CASE WHEN about = 'cause' AND is_kept THEN item ELSE 0 END) OVER () AS last
  FROM piece),
-- a key of the document, with what its objects are, or a list of them
member(place, key, json) AS (
  SELECT column1, column3, column4 || coalesce(group_concat(json), '') || column5
  FROM (VALUES (1, 'verdict', 'verdict', '', ''), (2, 'certainty', 'certainty', '', ''),
               (3, 'unrecorded', 'unrecorded', '', ''), (4, 'untraced', 'untraced', '', ''),
               (5, 'comparability', 'comparability', '', ''), (6, 'cause', 'causes', '[', ']'),
               (7, 'rest', 'rest', '', ''), (8, 'work', 'work', '[', ']'), (9, 'caution', 'cautions', '[', ']'),
               (10, 'cannot_say', 'cannot_say', '[', ']'), (11, 'next', 'next', '[', ']'),
               (12, 'left_out', 'left_out', '{', '}'))
  LEFT JOIN (SELECT CASE WHEN is_kept THEN about ELSE 'left_out' END AS about, min(item) AS item,
                    CASE WHEN NOT is_kept THEN json_quote(about) || ':' || count(*)
                         WHEN about = 'cause' AND evidence IS NOT NULL
                           THEN substr(json, 1, length(json) - 1) || ',"evidence":' || evidence || '}'
                         ELSE json END AS json
             FROM kept
             WHERE about <> 'rest' OR item = last
             GROUP BY is_kept, about, CASE WHEN is_kept THEN item END
             ORDER BY about, item LIMIT -1) AS k
    ON k.about = column2
  GROUP BY column1
  HAVING json IS NOT NULL OR column4 <> '')
SELECT '{"schema":"tracediff/brief/1"' || group_concat(',' || json_quote(key) || ':' || json, '') || '}' AS json
FROM (SELECT * FROM member ORDER BY place);
