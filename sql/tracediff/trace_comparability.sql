-- trace_comparability: what makes two traces comparable or not: devices, ranks, steps, shapes, versions, options.
-- Family: the answer
-- Question: Can these two traces be compared at all?
--
-- Parameters
--   :control            TEXT required  baseline trace
--   :test               TEXT required  trace to compare with the baseline
--   :control_rank       any            integer, JSON array or 'all'; default the lowest
--   :test_rank          any            the same for test
--   :control_iteration  any            integer, JSON array, 'all', 'steady' (without first and last), 'first' or a phase; default 'steady'
--   :test_iteration     any            the same for test
--   :clock              TEXT           whose steps: 'device' or 'host'; default 'device'
--   :shapes             INTEGER>=0     0: without the topics shapes and types, which read args; default 1
--   :steps              TEXT           which events are steps: 'auto', 'profiler', a LIKE pattern or a JSON array of these; default 'auto'
-- Columns
--   line           INTEGER  from 1
--   topic          TEXT     steps, device, ranks, shapes, types, files, profiler, options, modules, versions or time
--   item           TEXT     what is compared: a property, an operator, a key of trace_metadata
--   control_value  any      in control; NULL: not known, or the row is about test alone
--   test_value     any      in test; likewise
--   same           INTEGER  1 if both have the same value, 0 if not; NULL if a side has none
--   matters        TEXT     'yes', 'maybe' or 'no': whether it can make the comparison wrong
--   why            TEXT     a sentence that says so
-- Grain: one row per topic and item of which a side has a value, in the order in which trace_summary names them. A side
-- with a long step or bad files has a row of its own, with NULL for the other side; so has one with too few steps, unless both have.
-- Rules:
--   1. trace_summary quotes the rows that matter ('yes') as its cautions, and the report as its checks. 'maybe' is what
--      may be meant, such as another version, or cannot be known.
--   2. 'yes' is: a side has no events; one side has no steps, or no device work; the devices differ; the ranks or the world sizes differ; not
--      all ranks were recorded; fewer than three steps; a step of more than 1.15 times the median of its side and,
--      of five steps or more, five median absolute deviations beyond it, if the steps are of one stratum (A13); shapes of copies to the device that one side lacks; less than 90 % of the
--      time of operators of both sides at shapes of both sides; types that differ in half of the operators' time (L6),
--      else other types of floats in the operators that launched device work; problems of files (work without a launch
--      is none here); another profiler; with_stack or profile_memory on one side, which make the host slower; modules on
--      one side.
--   3. A value is that of the files of the chosen ranks; of several values the lowest and the highest. world_size,
--      recorded and problems are of all files.
--   4. Shapes and types of single operators are those of the five with the most device time that both sides have: of an
--      operator the shapes with the most time.
--   5. versions are the keys of trace_metadata with 'version' in their name, schema, and NCCL's version. PyTorch's
--      profiler does not write the version of PyTorch; profiler.add_metadata('torch_version', ...) does.
--   6. resolution is 'us' if all parts of the steps take whole us: then kernels do, too. Times of a trace count from its
--      own start, in UTC if it is known: time zones make no difference.
--   7. A side has modules if time of its steps has the name of one at level 'module' (A11.4). Without any, that level
--      gives what 'top_op' gives.
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
  GROUP BY rank, iteration),
middle AS MATERIALIZED (
  SELECT side, trace_quantile(ms, 0.5) AS median FROM step GROUP BY side LIMIT -1),
steps AS MATERIALIZED (
  SELECT side, count(iteration) AS steps, count(DISTINCT iteration) AS numbers,
         min(iteration) || replace('-' || max(iteration), '-' || min(iteration), '') AS chosen,
         round(max(ms) / median, 3) AS longest,
         max(ms) > 1.15 * median
           AND (count(DISTINCT iteration) < 5 OR max(ms) - median > 5 * trace_quantile(abs(ms - median), 0.5)) AS is_long,
         count(DISTINCT rank) AS ranks, min(rank) AS rank, max(rank) AS last_rank, max(of_host) AS of_host,
         max(of_modules) AS of_modules
  FROM middle CROSS JOIN step USING (side)
  GROUP BY side
  LIMIT -1),
phase AS MATERIALIZED (
  SELECT side, group_concat(name || printf(' %.0f %%', 100.0 * n / steps), ', ') AS mix
  FROM (SELECT side, name, count(*) AS n, sum(count(*)) OVER (PARTITION BY side) AS steps
        FROM (SELECT side, rtrim(rtrim(stratum, '0123456789')) AS name FROM step)
        GROUP BY side, name
        ORDER BY side, name)
  GROUP BY side
  HAVING max(name) <> ''
  LIMIT -1),
file AS MATERIALIZED (
  SELECT 0 AS side, rank, world_size, backend, device, problems, skipped FROM trace_files(:control)
  WHERE rank IS NOT NULL
  UNION ALL
  SELECT 1, rank, world_size, backend, device, problems, skipped FROM trace_files(:test) WHERE rank IS NOT NULL
  LIMIT -1),
files AS MATERIALIZED (
  SELECT side, max(world_size) AS world, count(DISTINCT rank) AS recorded,
         sum(skipped > 0 OR length(problems) - length(replace(problems, '"what"', ''))
             > 6 * ((problems LIKE '%"device work launched before the recording"%')
                    + (problems LIKE '%"device work without a launch"%'))) AS bad
  FROM file
  GROUP BY side
  LIMIT -1),
-- each side with what the other one has, as o_; rows that are about both are those of side 0
sides AS MATERIALIZED (
  SELECT s.side, CASE s.side WHEN 0 THEN 'control' ELSE 'test' END AS word, s.steps, s.numbers, s.chosen, s.longest, s.is_long, s.ranks,
         s.rank, s.of_host, s.of_modules, f.world, f.recorded, f.bad, o.steps AS o_steps, o.numbers AS o_numbers, o.chosen AS o_chosen,
         o.ranks AS o_ranks, o.rank AS o_rank, o.of_host AS o_of_host, o.of_modules AS o_of_modules, g.world AS o_world, g.recorded AS o_recorded,
         g.bad AS o_bad,
         CASE s.ranks WHEN 1 THEN 'rank ' || s.rank ELSE s.ranks || ' ranks (' || s.rank || '-' || s.last_rank || ')' END
           || coalesce(' of ' || f.world, '') AS what,
         CASE o.ranks WHEN 1 THEN 'rank ' || o.rank ELSE o.ranks || ' ranks (' || o.rank || '-' || o.last_rank || ')' END
           || coalesce(' of ' || g.world, '') AS o_what, s.last_rank - s.rank <> o.last_rank - o.rank OR s.rank <> o.rank AS moved
  FROM steps AS s CROSS JOIN steps AS o CROSS JOIN files AS f CROSS JOIN files AS g
  WHERE o.side = 1 - s.side AND f.side = s.side AND g.side = o.side
  LIMIT -1),
-- what the files of the chosen ranks say of themselves
key AS (
  SELECT 0 AS side, rank, key, value FROM trace_metadata(:control)
  UNION ALL
  SELECT 1, rank, key, value FROM trace_metadata(:test)),
told(side, rank, place, topic, item, value) AS (
  SELECT side, rank, 3, 'device', 'name', device FROM file
  UNION ALL
  SELECT side, rank, 5.5, 'ranks', 'backend', backend FROM file
  UNION ALL
  SELECT side, rank, 12, 'profiler', 'name',
         CASE key WHEN 'producer' THEN value WHEN 'schemaVersion' THEN 'PyTorch (Kineto)' ELSE 'VizTracer' END
  FROM key
  WHERE key IN ('producer', 'schemaVersion', 'viztracer_metadata')
  UNION ALL
  SELECT side, rank, 13, 'options', key, value
  FROM key
  WHERE key IN ('with_stack', 'profile_memory', 'record_shapes', 'with_modules', 'with_flops')
  UNION ALL
  SELECT side, rank, 14, 'versions', key, value
  FROM key
  WHERE key LIKE '%version%' OR key = 'schema'
  UNION ALL
  SELECT side, rank, 14, 'versions', 'nccl_version', value ->> '$.nccl_version'
  FROM key
  WHERE key = 'distributedInfo' AND json_valid(value)
  UNION ALL
  SELECT side, rank, 3.1 + column1, 'device', column2,
         CASE column1 WHEN 0 THEN json_array_length(value) ELSE value ->> column3 END
  FROM key
  CROSS JOIN (VALUES (0, 'number', NULL), (0.1, 'multiprocessors', '$[0].numSms'), (0.2, 'memory', '$[0].totalGlobalMem'))
  WHERE key = 'deviceProperties' AND json_valid(value) AND json_array_length(value) > 0),
value AS MATERIALIZED (
  SELECT side, place, topic, item,
         CASE WHEN min(value) = max(value) THEN min(value) ELSE min(value) || ', ' || max(value) END AS value
  FROM told
  WHERE (side, rank) IN (SELECT side, rank FROM step) AND value IS NOT NULL
  GROUP BY side, place, topic, item
  UNION ALL
  SELECT side, 16, 'time', 'resolution', CASE WHEN max(fraction) > 0 THEN 'ns' ELSE 'us' END
  FROM step
  WHERE iteration IS NOT NULL
  GROUP BY side
  UNION ALL
  SELECT side, 6.6, 'steps', 'phases', mix FROM phase
  LIMIT -1),
paired AS (
  SELECT place, topic, item, max(value) FILTER (WHERE side = 0) AS control, max(value) FILTER (WHERE side = 1) AS test
  FROM value
  GROUP BY place, topic, item),
-- the work of operators by their shapes and types
own AS MATERIALIZED (
  SELECT 0 AS side, op, shapes, types, name LIKE 'Memcpy HtoD%' AS is_input, sum(dur) AS time
  FROM trace_kernel_owners(CASE WHEN coalesce(:shapes, 1) THEN :control END, :control_rank, :control_iteration, NULL, :steps)
  GROUP BY op, shapes, types, is_input
  UNION ALL
  SELECT 1, op, shapes, types, name LIKE 'Memcpy HtoD%' AS is_input, sum(dur)
  FROM trace_kernel_owners(CASE WHEN coalesce(:shapes, 1) THEN :test END, :test_rank, :test_iteration, NULL, :steps)
  GROUP BY op, shapes, types, is_input),
input AS (
  SELECT count(*) AS shapes, nullif(sum(of_control), 0) AS control, nullif(sum(of_test), 0) AS test,
         total(of_control AND of_test) AS common
  FROM (SELECT max(side = 0) AS of_control, max(side = 1) AS of_test
        FROM own
        WHERE is_input AND shapes IS NOT NULL
        GROUP BY shapes)),
shaped AS MATERIALIZED (
  SELECT op, max(side = 0) AS of_control, max(side = 1) AS of_test, sum(time) AS time,
         total(time) FILTER (WHERE side = 0) AS control, total(time) FILTER (WHERE side = 1) AS test
  FROM own
  WHERE shapes IS NOT NULL
  GROUP BY op, shapes
  LIMIT -1),
operator AS MATERIALIZED (
  SELECT op, sum(time) AS time, total(time) FILTER (WHERE of_control AND of_test) AS same, sum(control) AS control,
         sum(test) AS test, total(control) FILTER (WHERE of_test) AS same_control,
         total(test) FILTER (WHERE of_control) AS same_test
  FROM shaped
  GROUP BY op
  HAVING max(of_control) AND max(of_test)
  LIMIT -1),
common AS (
  SELECT sum(time) AS time, sum(same) AS same, sum(same_control) / sum(control) AS control, sum(same_test) / sum(test) AS test
  FROM operator),
precision AS MATERIALIZED (
  SELECT side, substr(CASE WHEN max(types GLOB '*"double"*') THEN ', float64' ELSE '' END
                      || CASE WHEN max(types GLOB '*"float"*') THEN ', float32' ELSE '' END
                      || CASE WHEN max(types GLOB '*BFloat16"*') THEN ', bfloat16' ELSE '' END
                      || CASE WHEN max(types GLOB '*Half"*') THEN ', float16' ELSE '' END
                      || CASE WHEN max(types GLOB '*Float8*') THEN ', float8' ELSE '' END
                      || CASE WHEN max(types GLOB '*Float4*') THEN ', float4' ELSE '' END, 3) AS names
  FROM (SELECT DISTINCT side, types FROM own LIMIT -1)
  GROUP BY side),
-- the time of operators by their types, as a part of the side's: of the device, else of the host
typed AS MATERIALIZED (
  SELECT op, shapes, types, total(time) FILTER (WHERE side = 0) / max(c_time) AS control,
         total(time) FILTER (WHERE side = 1) / max(t_time) AS test
  FROM (SELECT *, total(time) FILTER (WHERE side = 0) OVER () AS c_time, total(time) FILTER (WHERE side = 1) OVER () AS t_time
        FROM (SELECT side, op, shapes, types, time FROM own WHERE NOT (SELECT max(of_host) FROM steps)
              UNION ALL
              SELECT side, key_json ->> '$.name', key_json ->> '$.shapes', key_json ->> '$.types',
                     CASE side WHEN 0 THEN control_self_time ELSE test_self_time END
              FROM (SELECT max(of_host) AS of_host FROM steps)
              CROSS JOIN trace_diff_by(CASE WHEN of_host AND coalesce(:shapes, 1) THEN :control END, :test, 'name,cat,shapes,types',
                                       :control_rank, :test_rank, :control_iteration, :test_iteration, 'CPU', 2, :steps)
              CROSS JOIN (SELECT 0 AS side UNION ALL SELECT 1)
              WHERE key_json ->> '$.cat' IN ('cpu_op', 'Operator'))
        WHERE types LIKE '[%' AND json_valid(types))
  GROUP BY op, shapes, types
  LIMIT -1),
-- the types of an operator at equal shapes that one side lacks, and the largest of such types of each side
retyped AS MATERIALIZED (
  SELECT old, new, (sum(control) + sum(test)) / 2 AS share
  FROM (SELECT *, total(control) OVER alike > 0 AND total(test) OVER alike > 0 AS is_common,
               first_value(types) OVER (PARTITION BY op, shapes ORDER BY control > 0 AND test = 0 DESC, control DESC, types) AS old,
               first_value(types) OVER (PARTITION BY op, shapes ORDER BY test > 0 AND control = 0 DESC, test DESC, types) AS new
        FROM typed
        WINDOW alike AS (PARTITION BY op, shapes))
  WHERE is_common AND (control = 0) <> (test = 0)
  GROUP BY old, new
  LIMIT -1),
-- the change of a float with the most time
float(pattern) AS (VALUES ('float'), ('double'), ('*BFloat16'), ('*Half'), ('*Float8*'), ('*Float4*')),
retyping AS MATERIALIZED (
  SELECT control, test, sum(share) AS share
  FROM (SELECT control, test, share, row_number() OVER (PARTITION BY old, new ORDER BY number) AS place
        FROM (SELECT old, new, share, column1 AS number, old ->> ('$[' || column1 || ']') AS control,
                     new ->> ('$[' || column1 || ']') AS test
              FROM retyped
              CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15)))
        WHERE control <> test AND EXISTS (SELECT 1 FROM float WHERE control GLOB pattern)
          AND EXISTS (SELECT 1 FROM float WHERE test GLOB pattern))
  WHERE place = 1
  GROUP BY control, test
  ORDER BY share DESC, control, test
  LIMIT 1),
-- the shapes and the types with the most time, of the five largest operators
largest AS MATERIALIZED (
  SELECT op, side, shapes, types,
         row_number() OVER (PARTITION BY op, side ORDER BY sum(time) DESC, shapes, types) AS number
  FROM (SELECT row_number() OVER (ORDER BY time DESC, op) AS place, op FROM operator ORDER BY place LIMIT 5)
  CROSS JOIN own USING (op)
  WHERE shapes IS NOT NULL
  GROUP BY op, side, shapes, types
  LIMIT -1),
-- same: 2 where the values tell it
found(place, topic, item, control, test, same, matters, why) AS (
  SELECT 1, 'steps', 'number', numbers, o_numbers, 2, CASE WHEN (steps = 0) <> (o_steps = 0) THEN 'yes' ELSE 'no' END,
         CASE WHEN steps = 0 AND o_steps = 0 THEN 'no steps are marked: whole traces are compared'
              WHEN steps = 0 THEN 'control has no steps: its whole trace is compared with a step'
              WHEN o_steps = 0 THEN 'test has no steps: its whole trace is compared with a step'
              ELSE 'times are means over the steps' END
  FROM sides
  WHERE side = 0
  UNION ALL
  SELECT 1, 'steps', 'number', control, test, 2, 'yes', 'nothing to compare: no events in ' || empty
  FROM (SELECT group_concat(column2, ' and in ') AS empty,
               coalesce((SELECT numbers FROM steps WHERE side = 0), 0) AS control,
               coalesce((SELECT numbers FROM steps WHERE side = 1), 0) AS test
        FROM (VALUES (0, 'control'), (1, 'test'))
        WHERE column1 NOT IN (SELECT side FROM steps))
  WHERE empty IS NOT NULL
  UNION ALL
  SELECT 2, 'device', 'work', 1 - of_host, 1 - o_of_host, 2, CASE WHEN of_host <> o_of_host THEN 'yes' ELSE 'no' END,
         CASE WHEN of_host > o_of_host THEN 'control has no device work: its host is compared with a device'
              WHEN of_host < o_of_host THEN 'test has no device work: its host is compared with a device'
              WHEN of_host THEN 'neither has device work: a step is what its host is in' ELSE 'both have device work' END
  FROM sides
  WHERE side = 0
  UNION ALL
  SELECT 4, 'ranks', 'compared', what, o_what,
         world IS o_world AND ranks = o_ranks AND NOT moved,
         CASE WHEN world <> o_world OR ranks <> o_ranks OR (ranks = 1 AND moved) THEN 'yes'
              WHEN world IS NOT o_world OR moved THEN 'maybe' ELSE 'no' END,
         CASE WHEN world IS o_world AND ranks = o_ranks AND NOT moved THEN 'the same ranks'
              ELSE what || CASE ranks WHEN 1 THEN ' is' ELSE ' are' END || ' compared with ' || o_what
                || CASE WHEN recorded = 1 AND o_recorded = 1 AND max(world, o_world) > 1
                        THEN '; no other rank is recorded' ELSE '' END END
  FROM sides
  WHERE side = 0
  UNION ALL
  SELECT 5, 'ranks', 'recorded', recorded || ' of ' || world, o_recorded || ' of ' || o_world, 2,
         CASE WHEN world = o_world AND min(recorded, o_recorded) < world
                   AND NOT (ranks = 1 AND o_ranks = 1 AND rank <> o_rank) THEN 'yes'
              WHEN recorded < world OR o_recorded < o_world THEN 'maybe' ELSE 'no' END,
         CASE WHEN world = o_world AND min(recorded, o_recorded) < world
              THEN CASE WHEN recorded = o_recorded THEN recorded ELSE recorded || ' and ' || o_recorded END
                   || ' of ' || world || ' ranks recorded: who waits for whom is not known'
              WHEN recorded < world OR o_recorded < o_world THEN 'not all ranks recorded: who waits for whom is not known'
              ELSE 'all ranks are recorded' END
  FROM sides
  WHERE side = 0
  UNION ALL
  SELECT 6, 'steps', 'few', CASE WHEN side = 0 THEN numbers END,
         CASE WHEN side = 1 THEN numbers WHEN o_numbers IN (1, 2) THEN o_numbers END, 2, 'yes',
         CASE WHEN numbers = o_numbers THEN '' ELSE word || ' has ' END || CASE numbers WHEN 1 THEN '1 step' ELSE '2 steps' END
         || CASE WHEN numbers = o_numbers THEN ' a side' WHEN o_numbers IN (1, 2) THEN ', test ' || o_numbers ELSE '' END
         || ': too few to tell how much steps vary'
  FROM sides
  WHERE numbers IN (1, 2) AND (side = 0 OR o_numbers NOT IN (1, 2))
  UNION ALL
  SELECT 6.5, 'steps', 'chosen', chosen, o_chosen, 2, 'no', 'numbers of steps count from the start of a run'
  FROM sides
  WHERE side = 0
  UNION ALL
  SELECT 7, 'steps', 'longest', CASE side WHEN 0 THEN longest END, CASE side WHEN 1 THEN longest END, 2, 'yes',
         printf('a step of %s takes %.2f times the median', word, longest)
  FROM sides
  WHERE is_long AND steps > 2 AND (SELECT count(DISTINCT stratum) FROM step) = 1
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
  SELECT 9.5, 'shapes', op, max(shapes) FILTER (WHERE side = 0), max(shapes) FILTER (WHERE side = 1), 2,
         CASE WHEN max(shapes) <> min(shapes) THEN 'maybe' ELSE 'no' END,
         CASE WHEN max(shapes) <> min(shapes) THEN 'other shapes have the most time of the operator: same work?'
              ELSE 'the shapes with the most time of the operator' END
  FROM largest
  WHERE number = 1
  GROUP BY op
  UNION ALL
  SELECT 10, 'types', 'floats', nullif(c.names, ''), nullif(t.names, ''), 2,
         CASE WHEN c.names = t.names THEN 'no'
              WHEN min(c.names, t.names) <> '' AND coalesce((SELECT share FROM retyping), 0) < 0.5 THEN 'yes' ELSE 'maybe' END,
         CASE WHEN c.names = t.names THEN 'the same types of floats' WHEN min(c.names, t.names) <> ''
              THEN 'types of operators differ: ' || c.names || ' / ' || t.names ELSE 'a side has no types of floats' END
  FROM precision AS c CROSS JOIN precision AS t
  WHERE c.side = 0 AND t.side = 1
  UNION ALL
  SELECT 10.2, 'types', 'operators', control, test, 2, CASE WHEN share >= 0.5 THEN 'yes' ELSE 'maybe' END,
         'types differ: ' || control || ' -> ' || test || printf(' in %.0f', 100 * share) || ' % of operators'' time'
  FROM retyping
  WHERE share >= 0.005
  UNION ALL
  SELECT 10.5, 'types', op, max(types) FILTER (WHERE side = 0), max(types) FILTER (WHERE side = 1), 2,
         CASE WHEN max(types) <> min(types) THEN 'maybe' ELSE 'no' END,
         CASE WHEN max(types) <> min(types) THEN 'other types have the most time of the operator: same work?'
              ELSE 'the types with the most time of the operator' END
  FROM largest
  WHERE number = 1
  GROUP BY op
  UNION ALL
  SELECT 11, 'files', 'problems', CASE WHEN side = 0 OR bad = 0 THEN bad END, CASE WHEN side = 1 OR bad = 0 THEN bad END, 2,
         CASE WHEN bad > 0 THEN 'yes' ELSE 'no' END,
         CASE WHEN bad > 0 THEN word || ': ' || bad || CASE bad WHEN 1 THEN ' file has' ELSE ' files have' END
              || ' problems (trace_files)' ELSE 'no file is cut short, no event is skipped' END
  FROM sides
  WHERE bad > 0 OR (side = 0 AND o_bad = 0)
  UNION ALL
  SELECT 13.5, 'modules', 'recorded', of_modules, o_of_modules, 2, CASE WHEN of_modules = o_of_modules THEN 'no' ELSE 'yes' END,
         CASE WHEN of_modules > o_of_modules THEN 'only control has modules: of test, level ''module'' gives operators'
              WHEN of_modules < o_of_modules THEN 'only test has modules: of control, level ''module'' gives operators'
              WHEN of_modules THEN 'both have modules' ELSE 'neither has modules: level ''module'' gives operators' END
  FROM sides
  WHERE side = 0
  UNION ALL
  SELECT place, topic, item, control, test, 2,
         CASE WHEN control = test THEN 'no'
              WHEN control <> test AND (item IN ('with_stack', 'profile_memory') OR topic = 'profiler' OR place = 3) THEN 'yes'
              WHEN topic = 'device' AND item = 'number' THEN 'no' ELSE 'maybe' END,
         CASE WHEN control IS NULL OR test IS NULL THEN 'only ' || CASE WHEN test IS NULL THEN 'control' ELSE 'test' END || ' has it'
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
       test AS test_value, CASE same WHEN 2 THEN control = test ELSE same END AS same, matters, why
FROM found
WHERE control IS NOT NULL OR test IS NOT NULL
ORDER BY line;
