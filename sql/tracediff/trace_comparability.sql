-- trace_comparability: what makes two traces comparable or not: devices, ranks, steps, shapes, versions, options.
-- Family: the answer
-- Question: Can these two traces be compared at all?
--
-- Parameters
--   :control            trace required baseline trace
--   :test               trace required trace to compare with the baseline
--   :control_rank       ranks          integer, JSON array or 'all'; default the lowest
--   :test_rank          ranks          the same for test
--   :control_iteration  iterations     integer, JSON array, 'all', 'steady' (without first and last),
--                                      'first' or a phase; default 'steady'
--   :test_iteration     iterations     the same for test
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
--   :shapes             INTEGER>=0     0: without the topics shapes and types, which read args; default 1
--   :steps              steps          which events are steps: 'auto', 'profiler',
--                                      a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   line           INTEGER  from 1
--   topic          TEXT     steps, device, ranks, shapes, types, files, profiler, options, modules,
--                           versions or time
--   item           TEXT     what is compared: a property, an operator, a key of trace_metadata
--   control_value  any      in control; NULL: not known, or the row is about test alone
--   test_value     any      in test; likewise
--   same           INTEGER  1 if both have the same value, 0 if not; NULL if a side has none
--   matters        TEXT     'yes', 'maybe' or 'no': whether it can make the comparison wrong
--   why            TEXT     a sentence that says so
--   diff_time      REAL     us a step, test minus control: of operators whose types differ, what they take
-- Grain: one row per topic and item of which a side has a value, in the order in which trace_summary names them. A side
-- with a long step or bad files has a row of its own, with NULL for the other side; so has one with too few steps,
-- unless both have.
-- Rules:
--   1. trace_summary quotes the rows that matter ('yes') as its cautions, and the report as its checks. 'maybe' is what
--      may be meant, such as another version, or cannot be known.
--   2. 'yes' is: a side has no events; one side has no steps, or no device work; the devices differ; the ranks or the
--      world sizes differ; not all ranks were recorded; fewer than three steps; a step of more than 1.15 times the
--      median of its side and, of five steps or more, five median absolute deviations beyond it, if the steps are of
--      one stratum (A13); shapes of copies to the device that one side lacks; less than 90 % of the time of operators
--      of both sides at shapes of both sides; types that differ in half of the operators' time (L6), else other types
--      of floats in the operators that launched device work; problems of files (work without a launch is none here);
--      another profiler; with_stack or profile_memory on one side, which make the host slower; modules on one side.
--   3. A value is that of the files of the chosen ranks; of several values the lowest and the highest. world_size,
--      recorded and problems are of all files.
--   4. Shapes and types of single operators are those of the five with the most device time that both sides have: of an
--      operator the shapes with the most time.
--   5. versions are the keys of trace_metadata with 'version' in their name, schema, and NCCL's version. PyTorch's
--      profiler does not write the version of PyTorch; profiler.add_metadata('torch_version', ...) does.
--   6. resolution is 'us' if all parts of the steps take whole us: then kernels do, too. Times of a trace count from
--      its own start, in UTC if it is known: time zones make no difference.
--   7. A side has modules if time of its steps has the name of one at level 'module' (A11.4). Without any, that level
--      gives what 'top_op' gives.
-- Facts
--   c_steps          steps of control, of all ranks
--   t_steps          the same of test
--   c_numbers        numbers of steps
--   t_numbers        the same of test
--   c_chosen         the lowest and the highest of them
--   t_chosen         the same of test
--   c_longest        the longest step by the median
--   t_longest        the same of test
--   c_is_long        1 if the longest is long (rule 2)
--   t_is_long        the same of test
--   c_ranks          ranks that are chosen
--   t_ranks          the same of test
--   c_rank           the lowest of them
--   t_rank           the same of test
--   c_last_rank      the highest
--   t_last_rank      the same of test
--   c_listed         all of them, between commas
--   t_listed         the same of test
--   c_of_host        1 if it has no device work
--   t_of_host        the same of test
--   c_of_modules     1 if it has modules (rule 7)
--   t_of_modules     the same of test
--   c_fraction       ns by which times are not whole us, at most
--   t_fraction       the same of test
--   c_first_stratum  the first stratum of its steps, by name
--   t_first_stratum  the same of test
--   c_last_stratum   the last
--   t_last_stratum   the same of test
--   c_mix            its phases, with their shares of the steps
--   t_mix            the same of test
--   c_world          the world size
--   t_world          the same of test
--   c_recorded       ranks that are recorded
--   t_recorded       the same of test
--   c_bad            files with problems
--   t_bad            the same of test
--   c_what           the ranks in words
--   t_what           the same of test
--   is_pair          1 if both sides have events and ranks
WITH step AS MATERIALIZED (
  SELECT 0 AS side, rank, iteration, sum(time_ns) / 1e6 AS ms, max(time_ns % 1000) AS fraction,
         max(class IN ('call', 'host', 'unrecorded')) AS of_host, coalesce(max(stratum), '') AS stratum,
         total(name GLOB 'nn.Module: *') > 0 AS of_modules
  FROM trace_step_time(:control, :control_rank, :control_iteration, 'module', :clock, NULL, :steps)
  GROUP BY rank, iteration
  UNION ALL
  SELECT 1, rank, iteration, sum(time_ns) / 1e6, max(time_ns % 1000),
         max(class IN ('call', 'host', 'unrecorded')), coalesce(max(stratum), ''), total(name GLOB 'nn.Module: *') > 0
  FROM trace_step_time(:test, :test_rank, :test_iteration, 'module', :clock, NULL, :steps)
  GROUP BY rank, iteration
  LIMIT -1),
middle AS MATERIALIZED (
  SELECT side, trace_quantile(ms, 0.5) AS median FROM step GROUP BY side LIMIT -1),
phase AS MATERIALIZED (
  SELECT side, group_concat(name || printf(' %.0f %%', 100.0 * n / steps), ', ') AS mix
  FROM (SELECT side, name, count(*) AS n, sum(count(*)) OVER (PARTITION BY side) AS steps
        FROM (SELECT side, rtrim(rtrim(stratum, '0123456789')) AS name FROM step)
        GROUP BY side, name
        ORDER BY side, name)
  GROUP BY side
  HAVING max(name) <> ''
  LIMIT -1),
files AS MATERIALIZED (
  SELECT side, max(world_size) AS world, count(DISTINCT rank) AS recorded,
         sum(skipped > 0 OR length(problems) - length(replace(problems, '"what"', ''))
             > 6 * ((problems LIKE '%"device work launched before the recording"%')
                    + (problems LIKE '%"device work without a launch"%'))) AS bad
  FROM (SELECT 0 AS side, rank, world_size, problems, skipped FROM trace_files(:control)
        UNION ALL
        SELECT 1, rank, world_size, problems, skipped FROM trace_files(:test))
  WHERE rank IS NOT NULL
  GROUP BY side
  LIMIT -1),
each AS MATERIALIZED (
  SELECT *, CASE ranks WHEN 1 THEN 'rank ' || rank ELSE ranks || ' ranks (' || rank || '-' || last_rank || ')' END
            || coalesce(' of ' || world, '') AS what
  FROM (SELECT side, count(iteration) AS steps, count(DISTINCT iteration) AS numbers,
               min(iteration) || replace('-' || max(iteration), '-' || min(iteration), '') AS chosen,
               round(max(ms) / median, 3) AS longest,
               max(ms) > 1.15 * median
                 AND (count(DISTINCT iteration) < 5
                      OR max(ms) - median > 5 * trace_quantile(abs(ms - median), 0.5)) AS is_long,
               count(DISTINCT rank) AS ranks, min(rank) AS rank, max(rank) AS last_rank,
               ',' || group_concat(DISTINCT rank) || ',' AS listed, max(of_host) AS of_host,
               max(of_modules) AS of_modules, max(CASE WHEN iteration IS NOT NULL THEN fraction END) AS fraction,
               min(stratum) AS first_stratum, max(stratum) AS last_stratum
        FROM middle CROSS JOIN step USING (side)
        GROUP BY side)
  LEFT JOIN files USING (side)
  LEFT JOIN phase USING (side)
  LIMIT -1)
SELECT c.steps AS c_steps, t.steps AS t_steps, c.numbers AS c_numbers, t.numbers AS t_numbers, c.chosen AS c_chosen,
       t.chosen AS t_chosen, c.longest AS c_longest, t.longest AS t_longest,
       c.is_long AS c_is_long,
       t.is_long AS t_is_long, c.ranks AS c_ranks, t.ranks AS t_ranks, c.rank AS c_rank, t.rank AS t_rank,
       c.last_rank AS c_last_rank, t.last_rank AS t_last_rank, c.listed AS c_listed, t.listed AS t_listed,
       c.of_host AS c_of_host, t.of_host AS t_of_host, c.of_modules AS c_of_modules, t.of_modules AS t_of_modules,
       c.fraction AS c_fraction, t.fraction AS t_fraction, c.first_stratum AS c_first_stratum,
       t.first_stratum AS t_first_stratum, c.last_stratum AS c_last_stratum, t.last_stratum AS t_last_stratum,
       c.mix AS c_mix, t.mix AS t_mix, c.world AS c_world, t.world AS t_world, c.recorded AS c_recorded,
       t.recorded AS t_recorded, c.bad AS c_bad, t.bad AS t_bad, c.what AS c_what, t.what AS t_what,
       c.recorded IS NOT NULL AND t.recorded IS NOT NULL AS is_pair
FROM (SELECT 1) LEFT JOIN each AS c ON c.side = 0 LEFT JOIN each AS t ON t.side = 1;

-- what the files of the chosen ranks say of themselves
WITH key AS MATERIALIZED (
  SELECT 0 AS side, rank, key, value FROM trace_metadata(:control)
  WHERE instr(:c_listed, ',' || rank || ',')
  UNION ALL
  SELECT 1, rank, key, value FROM trace_metadata(:test)
  WHERE instr(:t_listed, ',' || rank || ',')
  LIMIT -1),
told(side, place, topic, item, value) AS (
  SELECT side, column1, column2, column3, CASE column1 WHEN 3 THEN device ELSE backend END
  FROM (SELECT 0 AS side, device, backend FROM trace_files(:control) WHERE instr(:c_listed, ',' || rank || ',')
        UNION ALL
        SELECT 1, device, backend FROM trace_files(:test) WHERE instr(:t_listed, ',' || rank || ','))
  CROSS JOIN (VALUES (3, 'device', 'name'), (5.5, 'ranks', 'backend'))
  UNION ALL
  SELECT side, 12, 'profiler', 'name',
         CASE key WHEN 'producer' THEN value WHEN 'schemaVersion' THEN 'PyTorch (Kineto)' ELSE 'VizTracer' END
  FROM key
  WHERE key IN ('producer', 'schemaVersion', 'viztracer_metadata')
  UNION ALL
  SELECT side, 13, 'options', key, value
  FROM key
  WHERE key IN ('with_stack', 'profile_memory', 'record_shapes', 'with_modules', 'with_flops')
  UNION ALL
  SELECT side, 14, 'versions', key, value
  FROM key
  WHERE key LIKE '%version%' OR key = 'schema'
  UNION ALL
  SELECT side, 14, 'versions', 'nccl_version', value ->> '$.nccl_version'
  FROM key
  WHERE key = 'distributedInfo' AND json_valid(value)
  UNION ALL
  SELECT side, 3.1 + column1, 'device', column2,
         CASE column1 WHEN 0 THEN json_array_length(value) ELSE value ->> column3 END
  FROM key
  CROSS JOIN (VALUES (0, 'number', NULL), (0.1, 'multiprocessors', '$[0].numSms'),
              (0.2, 'memory', '$[0].totalGlobalMem'))
  WHERE key = 'deviceProperties' AND json_valid(value) AND json_array_length(value) > 0),
-- of several values of a side the lowest and the highest
paired AS MATERIALIZED (
  SELECT place, topic, item, CASE WHEN c_low < c_high THEN c_low || ', ' || c_high ELSE c_low END AS control,
         CASE WHEN t_low < t_high THEN t_low || ', ' || t_high ELSE t_low END AS test
  FROM (SELECT place, topic, item, min(value) FILTER (WHERE side = 0) AS c_low,
               max(value) FILTER (WHERE side = 0) AS c_high, min(value) FILTER (WHERE side = 1) AS t_low,
               max(value) FILTER (WHERE side = 1) AS t_high
        FROM told
        WHERE value IS NOT NULL
        GROUP BY place, topic, item)
  UNION ALL
  SELECT 16, 'time', 'resolution', CASE WHEN :c_fraction > 0 THEN 'ns' WHEN :c_fraction = 0 THEN 'us' END,
         CASE WHEN :t_fraction > 0 THEN 'ns' WHEN :t_fraction = 0 THEN 'us' END
  UNION ALL
  SELECT 6.6, 'steps', 'phases', :c_mix, :t_mix
  LIMIT -1),
-- device work by its operators, their shapes and types, us a step; with the keys of trace_brief, so that args are read
-- once for both
own AS MATERIALIZED (
  SELECT op, shapes, types, kernel LIKE 'Memcpy HtoD%' AS is_input, control_kernels > 0 AS of_control,
         test_kernels > 0 AS of_test, control_device_time AS control, test_device_time AS test
  FROM trace_diff_by(CASE WHEN coalesce(:shapes, 1) THEN :control END, :test, 'top_op,op,shapes,types,kernel',
                     :control_rank, :test_rank, :control_iteration, :test_iteration, 'GPU', 2, :steps)
  LIMIT -1),
input AS (
  SELECT count(*) AS shapes, nullif(sum(of_control), 0) AS control, nullif(sum(of_test), 0) AS test,
         total(of_control AND of_test) AS common
  FROM (SELECT max(of_control) AS of_control, max(of_test) AS of_test
        FROM own
        WHERE is_input AND shapes IS NOT NULL
        GROUP BY shapes)),
-- operators of both sides; same: the time at shapes that both have
operator AS MATERIALIZED (
  SELECT op, sum(control + test) AS time, total(control + test) FILTER (WHERE of_control AND of_test) AS same,
         sum(control) AS control, sum(test) AS test, total(control) FILTER (WHERE of_test) AS same_control,
         total(test) FILTER (WHERE of_control) AS same_test
  FROM (SELECT op, max(of_control) AS of_control, max(of_test) AS of_test, sum(control) AS control, sum(test) AS test
        FROM own
        WHERE shapes IS NOT NULL
        GROUP BY op, shapes)
  GROUP BY op
  HAVING max(of_control) AND max(of_test)
  LIMIT -1),
common AS (
  SELECT sum(time) AS time, sum(same) AS same, sum(same_control) / sum(control) AS control,
         sum(same_test) / sum(test) AS test
  FROM operator),
sized AS MATERIALIZED (
  SELECT op, shapes, types, max(of_control) AS of_control, max(of_test) AS of_test, sum(control) AS control,
         sum(test) AS test
  FROM own
  WHERE shapes IS NOT NULL AND op IN (SELECT op FROM operator ORDER BY time DESC, op LIMIT 5)
  GROUP BY op, shapes, types
  LIMIT -1),
-- of the five largest operators the shapes and the types with the most time
largest AS (
  SELECT topic, op, CASE topic WHEN 'shapes' THEN 9.5 ELSE 10.5 END AS place,
         (SELECT CASE topic WHEN 'shapes' THEN shapes ELSE types END
          FROM sized
          WHERE of_control AND sized.op = o.op
          ORDER BY control DESC, shapes, types
          LIMIT 1) AS control,
         (SELECT CASE topic WHEN 'shapes' THEN shapes ELSE types END
          FROM sized
          WHERE of_test AND sized.op = o.op
          ORDER BY test DESC, shapes, types
          LIMIT 1) AS test
  FROM (SELECT DISTINCT op FROM sized) AS o CROSS JOIN (SELECT 'shapes' AS topic UNION ALL SELECT 'types')),
float(number, name, pattern) AS (
  VALUES (1, 'float64', 'double'), (2, 'float32', 'float'), (3, 'bfloat16', '*BFloat16'), (4, 'float16', '*Half'),
         (5, 'float8', '*Float8*'), (6, 'float4', '*Float4*')),
-- the types of floats of each side
precision AS (
  SELECT coalesce(group_concat(CASE WHEN of_control THEN name END, ', '), '') AS control,
         coalesce(group_concat(CASE WHEN of_test THEN name END, ', '), '') AS test
  FROM (SELECT number, name, max(of_control AND types GLOB '*"' || pattern || '"*') AS of_control,
               max(of_test AND types GLOB '*"' || pattern || '"*') AS of_test,
               max(of_control) AND max(of_test) AS of_both
        FROM float
        CROSS JOIN (SELECT types, max(of_control) AS of_control, max(of_test) AS of_test FROM own GROUP BY types)
        GROUP BY number
        ORDER BY number)
  WHERE of_both),
-- the time of operators by their types: of the device, else of the host
typed AS MATERIALIZED (
  SELECT op, shapes, types, total(control) AS control, total(test) AS test
  FROM (SELECT op, shapes, types, control, test FROM own WHERE NOT max(:c_of_host, :t_of_host)
        UNION ALL
        SELECT name, shapes, types, control_self_time, test_self_time
        FROM trace_diff_by(CASE WHEN max(:c_of_host, :t_of_host) AND coalesce(:shapes, 1) THEN :control END, :test,
                           'name,cat,shapes,types', :control_rank, :test_rank, :control_iteration, :test_iteration,
                           'CPU', 2, :steps)
        WHERE cat IN ('cpu_op', 'Operator'))
  WHERE types LIKE '[%'
  GROUP BY op, shapes, types
  HAVING json_valid(types)
  LIMIT -1),
typed_all AS MATERIALIZED (SELECT sum(control) AS control, sum(test) AS test FROM typed LIMIT -1),
-- operators with types that one side lacks at equal shapes
changed AS MATERIALIZED (
  SELECT op, shapes
  FROM typed
  GROUP BY op, shapes
  HAVING sum(control) > 0 AND sum(test) > 0 AND max((control = 0) <> (test = 0))
  LIMIT -1),
-- these types, as a part of the time of all, and the largest of each side
retyped AS MATERIALIZED (
  SELECT old, new, sum(test) - sum(control) AS diff,
         (sum(control) / (SELECT control FROM typed_all) + sum(test) / (SELECT test FROM typed_all)) / 2 AS share
  FROM (SELECT t.control, t.test,
               first_value(types) OVER (PARTITION BY t.op, t.shapes
                                        ORDER BY control > 0 AND test = 0 DESC, control DESC, types) AS old,
               first_value(types) OVER (PARTITION BY t.op, t.shapes
                                        ORDER BY test > 0 AND control = 0 DESC, test DESC, types) AS new
        FROM changed AS c CROSS JOIN typed AS t ON t.op = c.op AND t.shapes IS c.shapes)
  WHERE (control = 0) <> (test = 0)
  GROUP BY old, new
  LIMIT -1),
-- the change of a float with the most time
retyping AS MATERIALIZED (
  SELECT control, test, sum(share) AS share, sum(diff) AS diff
  FROM (SELECT control, test, share, diff, row_number() OVER (PARTITION BY old, new ORDER BY number) AS place
        FROM (SELECT old, new, share, diff, column1 AS number, old ->> ('$[' || column1 || ']') AS control,
                     new ->> ('$[' || column1 || ']') AS test
              FROM retyped
              CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15)))
        WHERE control <> test AND EXISTS (SELECT 1 FROM float WHERE control GLOB pattern)
          AND EXISTS (SELECT 1 FROM float WHERE test GLOB pattern))
  WHERE place = 1
  GROUP BY control, test
  ORDER BY share DESC, control, test
  LIMIT 1),
side AS ( -- with what the other one has, as o_
  SELECT 0 AS side, 'control' AS word, :c_steps AS steps, :c_numbers AS numbers, :t_numbers AS o_numbers,
         :c_longest AS longest, :c_is_long AS is_long, :c_bad AS bad, :t_bad AS o_bad
  UNION ALL
  SELECT 1, 'test', :t_steps, :t_numbers, :c_numbers, :t_longest, :t_is_long, :t_bad, :c_bad),
-- same: 2 where the values tell it. Without a pair, only the first row says so
found(place, topic, item, control, test, same, matters, why) AS (
  SELECT 1, 'steps', 'number', coalesce(:c_numbers, 0), coalesce(:t_numbers, 0), 2,
         CASE WHEN :c_steps IS NULL OR :t_steps IS NULL OR (:c_steps = 0) <> (:t_steps = 0) THEN 'yes' ELSE 'no' END,
         CASE WHEN :t_steps IS NULL AND :c_steps IS NULL THEN 'nothing to compare: no events in control and in test'
              WHEN :c_steps IS NULL THEN 'nothing to compare: no events in control'
              WHEN :t_steps IS NULL THEN 'nothing to compare: no events in test'
              WHEN :c_steps = 0 AND :t_steps = 0 THEN 'no steps are marked: whole traces are compared'
              WHEN :c_steps = 0 THEN 'control has no steps: its whole trace is compared with a step'
              WHEN :t_steps = 0 THEN 'test has no steps: its whole trace is compared with a step'
              ELSE 'times are means over the steps' END
  WHERE :is_pair OR :c_steps IS NULL OR :t_steps IS NULL
  UNION ALL
  SELECT 2, 'device', 'work', 1 - :c_of_host, 1 - :t_of_host, 2,
         CASE WHEN :c_of_host <> :t_of_host THEN 'yes' ELSE 'no' END,
         CASE WHEN :c_of_host > :t_of_host THEN 'control has no device work: its host is compared with a device'
              WHEN :c_of_host < :t_of_host THEN 'test has no device work: its host is compared with a device'
              WHEN :c_of_host THEN 'neither has device work: a step is what its host is in'
              ELSE 'both have device work' END
  WHERE :is_pair
  UNION ALL
  SELECT 4, 'ranks', 'compared', :c_what, :t_what, :c_world IS :t_world AND :c_ranks = :t_ranks AND NOT moved,
         CASE WHEN :c_world <> :t_world OR :c_ranks <> :t_ranks OR (:c_ranks = 1 AND moved) THEN 'yes'
              WHEN :c_world IS NOT :t_world OR moved THEN 'maybe' ELSE 'no' END,
         CASE WHEN :c_world IS :t_world AND :c_ranks = :t_ranks AND NOT moved THEN 'the same ranks'
              ELSE :c_what || CASE :c_ranks WHEN 1 THEN ' is' ELSE ' are' END || ' compared with ' || :t_what
                || CASE WHEN :c_recorded = 1 AND :t_recorded = 1 AND max(:c_world, :t_world) > 1
                        THEN '; no other rank is recorded' ELSE '' END END
  FROM (SELECT :c_last_rank - :c_rank <> :t_last_rank - :t_rank OR :c_rank <> :t_rank AS moved)
  WHERE :is_pair
  UNION ALL
  SELECT 5, 'ranks', 'recorded', :c_recorded || ' of ' || :c_world, :t_recorded || ' of ' || :t_world, 2,
         CASE WHEN is_partly AND NOT (:c_ranks = 1 AND :t_ranks = 1 AND :c_rank <> :t_rank) THEN 'yes'
              WHEN :c_recorded < :c_world OR :t_recorded < :t_world THEN 'maybe' ELSE 'no' END,
         CASE WHEN is_partly THEN CASE :c_recorded WHEN :t_recorded THEN :c_recorded
                                                   ELSE :c_recorded || ' and ' || :t_recorded END
                                  || ' of ' || :c_world || ' ranks recorded: who waits for whom is not known'
              WHEN :c_recorded < :c_world OR :t_recorded < :t_world
                   THEN 'not all ranks recorded: who waits for whom is not known'
              ELSE 'all ranks are recorded' END
  FROM (SELECT :c_world = :t_world AND min(:c_recorded, :t_recorded) < :c_world AS is_partly)
  WHERE :is_pair
  UNION ALL
  SELECT 6, 'steps', 'few', CASE WHEN side = 0 THEN numbers END,
         CASE WHEN side = 1 THEN numbers WHEN o_numbers IN (1, 2) THEN o_numbers END, 2, 'yes',
         CASE WHEN numbers = o_numbers THEN '' ELSE word || ' has ' END
           || CASE numbers WHEN 1 THEN '1 step' ELSE '2 steps' END
         || CASE WHEN numbers = o_numbers THEN ' a side'
                 WHEN o_numbers IN (1, 2) THEN ', test ' || o_numbers ELSE '' END
         || ': too few to tell how much steps vary'
  FROM side
  WHERE :is_pair AND numbers IN (1, 2) AND (side = 0 OR o_numbers NOT IN (1, 2))
  UNION ALL
  SELECT 6.5, 'steps', 'chosen', :c_chosen, :t_chosen, 2, 'no', 'numbers of steps count from the start of a run'
  WHERE :is_pair
  UNION ALL
  SELECT 7, 'steps', 'longest', CASE side WHEN 0 THEN longest END, CASE side WHEN 1 THEN longest END, 2, 'yes',
         printf('a step of %s takes %.2f times the median', word, longest)
  FROM side
  WHERE :is_pair AND is_long AND steps > 2
    AND min(:c_first_stratum, :t_first_stratum) = max(:c_last_stratum, :t_last_stratum)
  UNION ALL
  SELECT 8, 'shapes', 'copies to the device', control, test, CASE WHEN control + test > 0 THEN common = shapes END,
         CASE WHEN control IS NULL OR test IS NULL THEN 'maybe' WHEN common < shapes THEN 'yes' ELSE 'no' END,
         CASE WHEN control IS NULL OR test IS NULL THEN 'a side has no shapes of copies to the device'
              ELSE printf('%d of %d shapes of copies to the device are common', common, shapes)
                   || CASE WHEN common < shapes THEN ': same input?' ELSE '' END END
  FROM input
  UNION ALL
  SELECT 9, 'shapes', 'operators', control, test, same = time, CASE WHEN same < 0.9 * time THEN 'yes' ELSE 'no' END,
         printf('%.0f', 100 * same / time) || ' % of common operators'' time is at common shapes'
         || CASE WHEN same < 0.9 * time THEN ': same model?' ELSE '' END
  FROM common
  UNION ALL
  SELECT place, topic, op, control, test, 2, CASE WHEN control <> test THEN 'maybe' ELSE 'no' END,
         CASE WHEN control <> test THEN 'other ' || topic || ' have the most time of the operator: same work?'
              ELSE 'the ' || topic || ' with the most time of the operator' END
  FROM largest
  UNION ALL
  SELECT 10, 'types', 'floats', nullif(control, ''), nullif(test, ''), 2,
         CASE WHEN control = test THEN 'no'
              WHEN min(control, test) <> '' AND coalesce((SELECT share FROM retyping), 0) < 0.5 THEN 'yes'
              ELSE 'maybe' END,
         CASE WHEN control = test THEN 'the same types of floats'
              WHEN min(control, test) <> '' THEN 'types of operators differ: ' || control || ' / ' || test
              ELSE 'a side has no types of floats' END
  FROM precision
  UNION ALL
  SELECT 10.2, 'types', 'operators', control, test, 2, CASE WHEN share >= 0.5 THEN 'yes' ELSE 'maybe' END,
         'types differ: ' || control || ' -> ' || test || printf(' in %.0f', 100 * share) || ' % of operators'' time'
  FROM retyping
  WHERE share >= 0.005
  UNION ALL
  SELECT 11, 'files', 'problems', CASE WHEN side = 0 OR bad = 0 THEN bad END,
         CASE WHEN side = 1 OR bad = 0 THEN bad END, 2,
         CASE WHEN bad > 0 THEN 'yes' ELSE 'no' END,
         CASE WHEN bad > 0 THEN word || ': ' || bad || CASE bad WHEN 1 THEN ' file has' ELSE ' files have' END
              || ' problems (trace_files)' ELSE 'no file is cut short, no event is skipped' END
  FROM side
  WHERE :is_pair AND (bad > 0 OR (side = 0 AND o_bad = 0))
  UNION ALL
  SELECT 13.5, 'modules', 'recorded', :c_of_modules, :t_of_modules, 2,
         CASE WHEN :c_of_modules = :t_of_modules THEN 'no' ELSE 'yes' END,
         CASE WHEN :c_of_modules > :t_of_modules
                   THEN 'only control has modules: of test, level ''module'' gives operators'
              WHEN :c_of_modules < :t_of_modules
                   THEN 'only test has modules: of control, level ''module'' gives operators'
              WHEN :c_of_modules THEN 'both have modules'
              ELSE 'neither has modules: level ''module'' gives operators' END
  WHERE :is_pair
  UNION ALL
  SELECT place, topic, item, control, test, 2,
         CASE WHEN control = test THEN 'no'
              WHEN control <> test AND (item IN ('with_stack', 'profile_memory') OR topic = 'profiler' OR place = 3)
                   THEN 'yes'
              WHEN topic = 'device' AND item = 'number' THEN 'no' ELSE 'maybe' END,
         CASE WHEN control IS NULL OR test IS NULL
                   THEN 'only ' || CASE WHEN test IS NULL THEN 'control' ELSE 'test' END || ' has it'
              WHEN control = test THEN 'the same'
              ELSE CASE WHEN place = 3 THEN 'devices differ: ' WHEN topic = 'profiler' THEN 'profilers differ: '
                        WHEN topic = 'options' THEN 'the profiler''s ' || item || ' differs: '
                        ELSE item || CASE WHEN item LIKE '%s' THEN ' differ: ' ELSE ' differs: ' END END
                   || control || ' / ' || test
                   || CASE WHEN item IN ('with_stack', 'profile_memory') THEN ', which makes the host slower'
                           WHEN item = 'resolution' THEN ': short kernels are rounded'
                           WHEN item = 'phases' THEN ': diff_within compares like with like' ELSE '' END END
  FROM paired)
SELECT row_number() OVER (ORDER BY place, item, control IS NULL) AS line, topic, item, control AS control_value,
       test AS test_value, CASE same WHEN 2 THEN control = test ELSE same END AS same, matters, why,
       CASE place WHEN 10.2 THEN (SELECT diff FROM retyping) END AS diff_time
FROM found
WHERE control IS NOT NULL OR test IS NOT NULL
ORDER BY line;
